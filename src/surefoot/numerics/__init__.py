"""Arrays in, arrays out: the fast kernels under every statistic."""
