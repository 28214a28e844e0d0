"""The files people have, read into one table; never a statistic."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
