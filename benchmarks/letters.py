"""Do letters stay fast for many policies, and give up in good time where they would explode?"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import combinations

from benchmarks.common import Row, cpu, seconds, section
from surefoot.stats import compact_letters


def shown(count: int, apart: Callable[[int, int], bool]) -> Callable[[], int]:
    names = [f"policy {i}" for i in range(count)]
    separated = [(names[i], names[j]) for i, j in combinations(range(count), 2) if apart(i, j)]
    return lambda: len(compact_letters(names, separated).groups)


def main() -> int:
    chance = random.Random(2026)
    rows = []
    for what, work, most in (
        ("30 policies, told apart when 4 or more places apart", shown(30, lambda i, j: j - i > 3), 0.1),
        ("50 policies, told apart when 4 or more places apart", shown(50, lambda i, j: j - i > 3), 0.1),
        ("30 policies, half of all pairs told apart at random", shown(30, lambda *_: chance.random() < 0.5), 1.0),
        ("50 policies, half of all pairs told apart at random", shown(50, lambda *_: chance.random() < 0.5), 1.0),
        ("60 policies, the worst case: 3^20 letters, refused", shown(60, lambda i, j: i // 3 == j // 3), 1.0),
    ):
        spent, letters = cpu(work, repeats=5), work()
        said = f"{letters:,} letters" if letters else "too many: rank intervals instead"
        rows.append(Row(f"{what} ({said})", seconds(spent), "none", "", f"under {most:g} s", spent < most))
    note = "The published letters for robot policies took 10.5 s at 16 policies and had not finished 20 in 9 min."
    return 0 if section("letters", "Compact letters", rows, peers=[], note=note) else 1


if __name__ == "__main__":
    sys.exit(main())
