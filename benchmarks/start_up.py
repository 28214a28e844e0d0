"""Does `surefoot rate 38/50` take at most a quarter of the CPU of `fieldtrial ci 38/50`, from a cold shell?"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.common import Row, command_cpu, seconds, section, times

BIN = Path(sys.executable).parent


def main() -> int:
    ours = command_cpu([str(BIN / "surefoot"), "rate", "38/50"])
    theirs = command_cpu([str(BIN / "fieldtrial"), "ci", "38/50"])
    rows = [
        Row(
            "`surefoot rate 38/50` beside `fieldtrial ci 38/50`",
            seconds(ours),
            seconds(theirs),
            times(ours / theirs),
            "at most 0.25x",
            ours / theirs <= 0.25,
        )
    ]
    met = section("start_up", "A command from a cold shell", rows, peers=["fieldtrial"])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
