"""A table in, named results out: chooses the right statistic and says why."""
