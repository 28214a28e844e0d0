"""Where do the authors' own packages stop on the real rollouts of Table II, beside what is printed and what we get?

Needs the published rollouts beside the project; without them the section stays as it is. The packages are called by
their public names only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from reproductions.pages import DATA
from reproductions.printed_tables import TABLE_TWO
from reproductions.sequential_rollouts import MOST, _list, successes_of, table_two

from benchmarks.common import dated, write
from benchmarks.exact_designs import step_made

UNDECIDED = "FailToDecide"


def packages(horizon: int) -> Iterator[tuple[str, str, Any]]:
    """(printed column, how it was called, the authors' rule at 5%), each for "the second has the higher mean"."""
    from nscore.nsm import BernoulliNsmTest, PartialCreditNsmTest
    from nscore.savi import SaviTest
    from nscore.wsr import WsrComparisonTest
    from sequentialized_barnard_tests import Hypothesis, MirroredStepTest
    from statistical_comparison_core.base import TwoSampleMeanHypothesis

    claim, ends = TwoSampleMeanHypothesis.P0LessThanP1, np.array([0.0, 1.0])
    yield "STEP", "", MirroredStepTest(alternative=Hypothesis.P0LessThanP1, n_max=horizon, alpha=0.05)
    yield "N-SCORE", "Bernoulli", BernoulliNsmTest(alternative=claim, alpha=0.05, c=ends)
    yield "N-SCORE", "partial credit, two levels", PartialCreditNsmTest(alternative=claim, alpha=0.05, c=ends)
    yield "theta-SAVI", "", SaviTest(alternative=claim, alpha=0.05)
    yield "WSR", "", WsrComparisonTest(alternative=claim, alpha=0.05)


def stop(rule: Any, first: np.ndarray, second: np.ndarray) -> int | None:
    """After how many pairs the rule finds the first policy better; none if it does not."""
    rule.reset()
    for seen, (one, other) in enumerate(zip(first, second, strict=False), 1):
        decision = rule.step(int(other), int(one)).decision.name
        if decision != UNDECIDED:
            return seen if decision == "AcceptAlternative" else None
    return None


def main() -> int:
    if not (DATA / "lbm1").is_dir():
        print(f"Skipped: no rollouts at {DATA}; the section stays as it is.")
        return 0
    ours, lines = table_two(DATA), []
    for half, tasks in successes_of(DATA).items():
        step_made(MOST[half])
        for name, how, rule in packages(MOST[half]):
            theirs = _list([stop(rule, *pair) for pair in tasks])
            printed = _list(TABLE_TWO[half][f"success, {name}"].stops)
            own = _list(ours[half].get(name) or ours[half]["exact design"])
            lines.append(f"| {half}, {name}{f' ({how})' if how else ''} | {printed} | {theirs} | {own} |")
    lines = [
        "## Where the authors' packages stop on their rollouts",
        "",
        f"{dated(['surefoot', 'nscore', 'sequentialized_barnard_tests'])}. Rollouts of each policy until 5%, "
        "task by task, in recorded order; a dash is undecided. Beside STEP stands our exact design. Command: "
        "`python -m benchmarks.real_rollouts`.",
        "",
        "| half of Table II, rule | printed | the package | surefoot |",
        "|---|---|---|---|",
        *lines,
    ]
    print("\n".join(lines))
    write("real_rollouts", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
