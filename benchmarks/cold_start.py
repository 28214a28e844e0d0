"""What does a short answer cost above Python itself, from a cold shell?"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from benchmarks.common import Row, command_cpu, seconds, section, times

REPEATS = 20
ASKED = {"rate 38/50": 0.12, "compare 17/20 14/20": 0.3, "--version": None, "--help": None, "rate 38/50 --json": None}
"""The most CPU seconds above `python -c pass`, where there is a claim."""


def main() -> int:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    nothing, numpy = (least([sys.executable, "-c", code]) for code in ("pass", "import numpy"))
    rows = []
    for words, most in ASKED.items():
        ours = least([sys.executable, "-m", "surefoot", *words.split()])
        rows.append(
            Row(
                f"`surefoot {words}` beside `python -c pass` and `import numpy`",
                f"{seconds(ours)}, {seconds(ours - nothing)} above",
                f"{seconds(nothing)}, {seconds(numpy)}",
                f"{times(ours / nothing)}, {times(ours / numpy)}",
                "" if most is None else f"at most {seconds(most)} above",
                most is None or ours - nothing <= most,
            )
        )
    return 0 if section("cold_start", "A short answer beside Python itself", rows, peers=["typer"]) else 1


def least(command: Sequence[str]) -> float:
    command_cpu(command, repeats=1)  # compiles what is not compiled yet
    return command_cpu(command, repeats=REPEATS)


if __name__ == "__main__":
    sys.exit(main())
