"""Arrays in, arrays out: the fast kernels under every statistic."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
