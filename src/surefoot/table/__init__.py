"""Rollouts as one table: its columns and cells, what is paired, clustered and stratified; never a statistic."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
