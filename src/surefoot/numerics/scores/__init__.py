"""Means of bounded scores: tails of weighted sums, groups, tasks, clusters and resamples."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
