"""Maxima of polynomials on an interval, proved."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
