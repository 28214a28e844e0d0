"""Files and frames in, one table out; never a statistic."""
