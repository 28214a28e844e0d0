"""Recompute what the seed documents print: `python -m reproductions`, or `python -m reproductions web-page`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from reproductions import pages

NAMES = [
    "wilson-blog",
    "binomial-bounds",
    "sequential-comparison",
    "sequential-rollouts",
    "web-page",
    "glossary-entry",
]
"""The pages, in the order of the index; each is made by the script of its name."""


def main() -> int:
    """Write the pages asked for, then the index."""
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="page", help=f"which pages: {', '.join(NAMES)}; all when left out")
    parser.add_argument(
        "--shared-data", type=Path, default=pages.DATA, help="folder of real rollouts, never part of the project"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no page {', '.join(unknown)}; there are {', '.join(NAMES)}")
    began = time.process_time()
    for name in [name for name in NAMES if name in (options.names or NAMES)]:
        print(f"{name} ...", flush=True)
        before = time.process_time()
        page = importlib.import_module(f"reproductions.{name.replace('-', '_')}").page(options.shared_data)
        if page is None:
            continue
        target = pages.write(page)
        spent = time.process_time() - before
        print(f"  {len(page.checks)} checks, {spent:.1f} s of CPU: {target.relative_to(pages.ROOT)}", flush=True)
    print(f"{pages.write_index(NAMES).relative_to(pages.ROOT)} ({time.process_time() - began:.0f} s of CPU in all)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
