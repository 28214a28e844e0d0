"""Plan, turns, append-only log, fold, verdict: a live study."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
