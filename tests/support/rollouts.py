"""What several tests of rollouts share."""

from __future__ import annotations

ROWS = {
    "policy": ["new", "old", "new", "old", "new", "old"],
    "task": ["cut", "cut", "cut", "cut", "pour", "pour"],
    "seed": [1, 1, 2, 2, 1, 1],
    "success": [1, 0, 1, 1, 0, 0],
    "score": [1.0, 0.5, 1.0, 1.0, 0.25, 0.0],
}
