"""How long do the order-free intervals of scores take? CPU seconds, beside bets in recorded order where these exist."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import Row, interleaved, seconds, section, times
from surefoot import Scores, reference, stats
from surefoot.stats.score_gains import surely_undecided

SEED = 20260


def main() -> int:
    rng = np.random.default_rng(SEED)

    def beta(size: int, shape: float = 5.0) -> Scores:
        return Scores(rng.beta(shape, 1.0, size).tolist())

    def rubric(size: int) -> Scores:
        return Scores(rng.choice(5, size) / 4)

    some, pair, many = beta(200), (beta(200), beta(200, 4.0)), beta(1_000_000)
    graded, uneven = (rubric(40), rubric(40)), (rubric(200), rubric(50))
    tasks = {str(task): (rubric(10), rubric(10)) for task in range(10)}

    def rounded(size: int, shape: float = 5.0) -> Scores:
        return Scores(rng.beta(shape, 2.0, size).round(3).tolist())

    thousands, millions = (rounded(5_000), rounded(5_000, 4.8)), (many, beta(1_000_000, 4.9))
    policies = [rounded(500, 4.0 + place / 10) for place in range(10)]
    large = {str(task): (beta(1_000), beta(1_000)) for task in range(100)}
    bets: Callable[..., Any] = reference.betting_gain
    work: list[tuple[str, Callable[[], Any], Callable[[], Any], float | None, int]] = [
        ("mean of 200 scores", lambda: stats.score_mean(some), lambda: reference.betting_mean(some), 0.03, 5),
        (
            "mean of 1,000,000 scores",
            lambda: stats.score_mean(many),
            lambda: reference.empirical_bernstein(many),
            0.5,
            3,
        ),
        ("p-value, 200 v 200 scores", lambda: reference.score_test(*pair), lambda: bets(*pair), 0.06, 5),
        ("p-value, rubric 40 v 40", lambda: reference.score_test(*graded), lambda: bets(*graded), 0.06, 5),
        ("interval, rubric 40 v 40", lambda: stats.score_gain(*graded), lambda: bets(*graded), 0.25, 3),
        ("interval, rubric 200 v 50", lambda: stats.score_gain(*uneven), lambda: bets(*uneven), 0.25, 3),
        ("interval, 200 v 200 scores", lambda: stats.score_gain(*pair), lambda: bets(*pair), None, 3),
        ("interval, 5,000 v 5,000, 3 decimals", lambda: stats.score_gain(*thousands), lambda: bets(*pair), 0.4, 3),
        ("interval, a million v a million", lambda: stats.score_gain(*millions), lambda: bets(*pair), 1.5, 1),
        (
            "45 intervals, ten of 500, 3 decimals",
            lambda: [stats.score_gain(*two) for two in itertools.combinations(policies, 2)],
            lambda: bets(*pair),
            6.0,
            1,
        ),
        ("one null point, 200 v 200", lambda: surely_undecided(*pair), lambda: bets(*pair), None, 5),
        ("10 tasks of 10 v 10, interval", lambda: stats.stratified_score_gain(tasks), lambda: bets(*pair), 0.1, 3),
        ("100 tasks of 1,000 v 1,000", lambda: stats.stratified_score_gain(large), lambda: bets(*pair), 0.5, 1),
    ]
    rows = []
    for what, ours, theirs, most, repeats in work:
        ours()  # imports are not part of the claim
        mine, other = interleaved(ours, theirs, repeats=repeats)
        asked = f"at most {seconds(most)}" if most is not None else "none"
        rows.append(Row(what, seconds(mine), seconds(other), times(mine / other), asked, most is None or mine <= most))
    note = (
        f"Seed {SEED}. Beside them: bets in recorded order, empirical Bernstein for a million scores, and bets on "
        "200 v 200 for larger samples and for the tasks; their answers depend on the order of the rows, or are wider."
    )
    met = section("order_free", "Order-free intervals of scores", rows, peers=[], note=note)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
