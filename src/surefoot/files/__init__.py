"""The files people have, read into one table; never a statistic."""
