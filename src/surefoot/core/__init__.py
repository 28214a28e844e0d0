"""The core types: what data and answers look like everywhere in surefoot."""

from surefoot import _lazy

__getattr__ = _lazy.elsewhere(__name__)
