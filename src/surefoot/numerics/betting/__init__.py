"""Wealth of gamblers against hypotheses about bounded means: test martingales and their stakes."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
