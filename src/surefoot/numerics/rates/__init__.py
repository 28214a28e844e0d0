"""Proportions: distributions of counts, ends of intervals, and exact tests of one rate or of two."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
