"""Compute the exact designs that are shipped with the package: `make designs`, or `python tools/build_designs.py`.

Some twenty-five minutes of CPU, on two processes (`--jobs 2`). With `--resume` designs already in the files are kept,
so that an interrupted build goes on where it was.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import get_args

from surefoot.sequential import designs


def timed(declared: designs.Declared) -> tuple[designs.ExactDesign, float]:
    """The design and the CPU seconds it took."""
    began = time.process_time()
    made = designs.compute(declared)
    return made, time.process_time() - began


def build(family: designs.Family, *, jobs: int, resume: bool) -> None:
    """Write the file of one family anew after every design, the longest horizons begun first."""
    path, wanted = designs.SHIPPED / f"{family}.zip", designs.shipped(family)
    made: dict[designs.Declared, designs.ExactDesign] = {}
    if resume and path.exists():
        made = {declared: kept for declared in wanted if (kept := designs.read(path, declared)) is not None}
    missing = sorted((one for one in wanted if one not in made), key=lambda one: -one.horizon)
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed(pool.submit(timed, declared) for declared in missing):
            design, spent = done.result()
            made[design.declared] = design
            designs.keep(path, [made[declared] for declared in wanted if declared in made])
            print(f"{design.declared.name}: error proved <= {design.proved:.7f} ({spent:.1f} s)", flush=True)
    print(f"{path}: {len(made)} designs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compute the exact designs that are shipped with the package.")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    chosen = parser.parse_args()
    for name in get_args(designs.Family):
        build(name, jobs=chosen.jobs, resume=chosen.resume)
