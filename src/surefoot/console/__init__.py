"""A study in a browser, over JSON, and from a script on another machine."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
