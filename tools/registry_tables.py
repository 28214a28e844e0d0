"""Writes the docs' tables of rules, rate methods and a plan's fields: `python tools/registry_tables.py`.

A test fails when one of them in docs/tables lags behind its registry.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from surefoot import stats
from surefoot.sequential import registry
from surefoot.stats import rate_methods
from surefoot.study import plan_files

PLACE = Path(__file__).parents[1] / "docs" / "tables"
ROLLOUTS = 20
RATES = np.linspace(0.005, 0.995, 199)


def rules() -> str:
    """Every sequential rule: its class, the word in plan files, and what it is for."""
    rows = []
    for kind in registry.kinds():
        least, most = kind.policies
        size = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
        rows.append((f"`{kind.__name__}`", f"`{kind.name}`", size, ", ".join(kind.measures), kind.summary))
    return _table(("rule", "in a plan", "policies", "takes", "what it is for"), rows)


def methods() -> str:
    """Every interval for one rate, with its least coverage over a grid of rates."""
    rows = []
    for name, one in rate_methods.methods().items():
        covered = "exactly 95%"
        if not one.drawn:
            least = min(stats.coverage(one.using, trials=ROLLOUTS, rate=float(rate)) for rate in RATES)
            covered = f"{100 * least:.1f}%"
        rows.append((f"`{one.using.__name__}`", f"`--using {name}`", one.summary, covered))
    return _table(
        ("interval", "command line", "what it is", f"least coverage at 95%, n = {ROLLOUTS}, rates of 0.5 to 99.5%"),
        rows,
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


TABLES = {"rules.inc": rules, "rate_methods.inc": methods, "plan_fields.inc": plan_files.documented}


if __name__ == "__main__":
    for name, made in TABLES.items():
        (PLACE / name).write_text(made(), encoding="utf-8")
        sys.stdout.write(f"Wrote {PLACE / name}\n")
