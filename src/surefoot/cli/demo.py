"""`surefoot demo`: what does surefoot show, on bundled data?"""

from __future__ import annotations


def demo() -> None:
    """Show the main job on bundled data."""
