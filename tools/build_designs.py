"""Compute the exact designs that are shipped with the package: `make designs`, or `python tools/build_designs.py`.

With `--resume` designs already in the files are kept, so that an interrupted build goes on where it was.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import get_args

from surefoot.sequential import designs


def build(*, resume: bool, into: Path = designs.SHIPPED) -> None:
    """Write one file for each family, after every design."""
    for family in get_args(designs.Family):
        path = into / f"{family}.zip"
        made = []
        for declared in designs.shipped(family):
            kept = designs.read(path, declared) if resume and path.exists() else None
            if kept is not None:
                made.append(kept)
        have = {one.declared for one in made}
        for declared in designs.shipped(family):
            if declared in have:
                continue
            began = time.process_time()
            made.append(designs.compute(declared))
            designs.keep(path, made)
            spent = time.process_time() - began
            print(f"{declared.name}: error proved <= {made[-1].proved:.7f} ({spent:.1f} s)", flush=True)
        print(f"{path}: {len(made)} designs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    build(resume="--resume" in sys.argv[1:])
