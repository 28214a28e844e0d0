"""Sequential designs: boundaries, walks that stop at them, and what an ending leaves possible."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
