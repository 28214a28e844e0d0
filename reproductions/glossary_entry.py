"""What does the glossary entry on eval confidence intervals print, and is it so?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproductions.pages import SEED, Check, Page, claim, number
from surefoot import Tally, plan_comparison, stats

SOURCE = (
    "*Eval confidence interval*, an entry of a web glossary on agent reliability. It builds the interval from a "
    "binomial term for the tasks and a second term for the seeds; for one run of each task the first already holds "
    "both."
)
TASKS, RUNS = 100, 200_000


def exact() -> list[Check]:
    """The checks that need no draw."""
    normal = stats.wald(Tally(80, 100))
    wilson = stats.wilson(Tally(80, 100))
    gain = stats.exact_gain(Tally(82, 100), Tally(79, 100))
    needed = plan_comparison(0.82, 0.79).rollouts
    return [
        number(
            "0.80 over 100 tasks, normal approximation: half-width", 0.078, (normal.high - normal.low) / 2, to=0.001
        ),
        claim(
            "“boundary-respecting interval (Wilson or exact) is the safer default”",
            "no number",
            f"Wilson for 80/100: ({wilson.low:.3f}, {wilson.high:.3f})",
            True,
        ),
        claim(
            "“82% and 79% on a single run each are statistically tied”",
            "tied",
            f"82/100 v 79/100: gain {100 * gain.interval.low:+.1f} to {100 * gain.interval.high:+.1f} points",
            0 in gain.interval,
            note=f"it takes {needed:,} tasks each to tell them apart four times in five",
        ),
        claim(
            "“run the suite once and you get a point estimate with no width”",
            "no width",
            f"one run of 80/100 has the width {wilson.high - wilson.low:.3f}",
            False,
            erratum="one run of many tasks has a width, and the entry prints it itself: ± 0.078",
        ),
    ]


def coverages() -> tuple[float, float]:
    """How often Wilson's interval and the one widened by the seeds' spread hold the truth, over fresh tasks."""
    rng = np.random.default_rng(SEED)
    tasks = rng.beta(1.6, 0.4, (RUNS // 1000, 1000, TASKS))
    once, again = ((rng.random(tasks.shape) < tasks).mean(axis=-1) for _ in range(2))
    binomial = 0.8 * 0.2 / TASKS  # at the truth, as in Wilson's interval
    spread = (once - again) ** 2 / 2  # of two seeds on the same tasks, unbiased
    held = [np.abs(once - 0.8) <= 1.96 * np.sqrt(variance) for variance in (binomial, binomial + spread)]
    return float(held[0].mean()), float(held[1].mean())


def page(data: Path) -> Page:  # noqa: ARG001
    """The page."""
    alone, both = coverages()
    checks = exact()
    checks.append(
        claim(
            "the binomial interval is “widened by the run-to-run spread”",
            "both terms added",
            f"coverage of a 95% Wilson interval {alone:.3f}, widened {both:.3f}",
            abs(both - 0.95) < abs(alone - 0.95),
            erratum="counts the run's chance twice: a task drawn afresh and run once already carries it",
        )
    )
    body = [
        f"The last line is simulated: {TASKS} tasks drawn afresh, each with a success rate of its own (Beta(1.6, "
        f"0.4), mean 0.8), run once; the second run on the same tasks gives the spread between seeds. {RUNS:,} suites.",
        "A task that is run once has succeeded with chance 0.8 over tasks and seeds together, whatever the share of "
        "each,",
        "so the count is binomial. To lower the seeds' part, run every task several times and average by task:",
        "`reference.mean_over_tasks` ([structure](../clusters.md)).",
    ]
    return Page("glossary-entry", "A glossary entry on eval intervals", SOURCE, body, checks, seed=SEED)
