"""Who carries out a turn: a Python function, a command, or a Gymnasium environment."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
