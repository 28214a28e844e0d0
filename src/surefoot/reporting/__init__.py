"""Results in, pages and pictures out: formats, never computes."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
