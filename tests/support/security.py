"""What several tests of security share."""

from __future__ import annotations

POSTS = [
    "turns/next",
    "turns/1/record",
    "turns/1/undo",
    "turns/1/void",
    "release",
    "checks",
    "amend",
    "unblind",
    "override",
]
