"""What can a table of rollouts not support? Findings, and the checks that make them."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
