"""What is a policy called when its file does not say?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

GENERIC = re.compile(
    r"(eval_info|eval_log|evaluations?|evals?([_-]\d.*)?|results?([_-]\d.*)?|samples?([_-].*)?|(\d+\.)?monitor|metadata|rollouts?|"
    r"episodes?|metrics|summary|data|test|log|output|outputs|videos|logs|experiments|\d[\d._-]*)",
    re.IGNORECASE,
)
"""Names that say what a file is, not whose it is."""

TIMED = re.compile(r"^\d{2}-\d{2}-\d{2}_")
LIBERO = re.compile(r"^EVAL-(?P<suite>.+?)-(?P<family>[^-]+)-(?P<time>\d{4}.*?)(?:--(?P<note>.+))?$")


def from_paths(paths: Sequence[Path]) -> tuple[str, ...]:
    """A name for each file: its own when that says something, else its folder's; longer where two would be the same."""
    parts = [tuple(_parts(path)) for path in paths]
    unlike = list(dict.fromkeys(parts))  # files of one folder whose own names say nothing are one policy's
    names = [part[0] for part in unlike]
    for depth in range(2, max(map(len, unlike)) + 1):
        times = Counter(names)
        if len(times) == len(names):
            break
        names = [
            "/".join(reversed(part[:depth])) if times[name] > 1 and len(part) >= depth else name
            for name, part in zip(names, unlike, strict=True)
        ]
    known = dict(zip(unlike, names, strict=True))
    return tuple(known[part] for part in parts)


def _parts(path: Path) -> list[str]:
    stem = path.name.split(".", 1)[0] if path.name.endswith(".monitor.csv") else path.stem
    libero = LIBERO.match(stem)
    if libero:
        stem = "-".join(filter(None, (libero["family"], libero["note"])))
    folders = [TIMED.sub("", part) for part in reversed(path.absolute().parent.parts[1:])]
    telling = [part for part in (stem, *folders) if not GENERIC.fullmatch(part)]
    return telling or [stem]
