"""A table in, named results out: chooses the right statistic and says why."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
