"""Every claim, one process each: `python -m benchmarks`, or `python -m benchmarks tightness intervals`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def scripts() -> list[str]:
    """Every file here that measures something: those with a `main`."""
    return sorted(file.stem for file in HERE.glob("[a-z]*.py") if "\ndef main(" in file.read_text(encoding="utf-8"))


def main() -> int:
    chosen = sys.argv[1:] or scripts()
    failed = [
        name
        for name in chosen
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False, cwd=HERE.parent).returncode
    ]
    if failed:
        print(f"Not met or not run: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
