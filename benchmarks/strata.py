"""Several tasks: does a comparison within tasks keep its promise where the pooled counts do not, and what does it cost?

Beside it stand the pooled counts, and the Cochran-Mantel-Haenszel test, both from statsmodels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.common import cpu, dated, kept, seconds, write
from surefoot import Tally, Verdict
from surefoot.reference import stratified_gain

SEED, DRAWS, ERROR = 21, 600, 0.05
Counts = list[tuple[int, int, int, int]]
"""For each task: successes and rollouts of the first, successes and rollouts of the second."""


class Setting(NamedTuple):
    """Rates and rollouts of both policies on every task."""

    name: str
    first: tuple[tuple[float, int], ...]
    second: tuple[tuple[float, int], ...]

    @property
    def equal(self) -> bool:
        return [rate for rate, _ in self.first] == [rate for rate, _ in self.second]


SETTINGS = (
    Setting("equal, an easy and a hard task in unequal shares", ((0.9, 80), (0.3, 20)), ((0.9, 20), (0.3, 80))),
    Setting("equal, five tasks, 20 v 20 each", *(((0.95, 20), (0.8, 20), (0.6, 20), (0.4, 20), (0.1, 20)),) * 2),
    Setting("equal, five tasks, 4 v 4 each", *(((0.95, 4), (0.8, 4), (0.6, 4), (0.4, 4), (0.1, 4)),) * 2),
    Setting("equal, 10 v 30 and 30 v 10", ((0.7, 10), (0.4, 30)), ((0.7, 30), (0.4, 10))),
    Setting(
        "+15 points on each of four tasks, 25 v 25",
        ((0.98, 25), (0.65, 25), (0.35, 25), (0.2, 25)),
        ((0.83, 25), (0.5, 25), (0.2, 25), (0.05, 25)),
    ),
    Setting("+20 points, hidden by unequal shares", ((0.95, 20), (0.4, 80)), ((0.75, 80), (0.2, 20))),
)


def drawn(setting: Setting, rng: np.random.Generator) -> Counts:
    return [
        (int(rng.binomial(n, p)), n, int(rng.binomial(m, q)), m)
        for (p, n), (q, m) in zip(setting.first, setting.second, strict=True)
    ]


def ours(counts: Counts) -> int:
    """1 where the first is named better, -1 where it is named worse, 0 otherwise."""
    found = stratified_gain({str(task): (Tally(a, n), Tally(b, m)) for task, (a, n, b, m) in enumerate(counts)})
    return {Verdict.BETTER: 1, Verdict.WORSE: -1}.get(found.verdict, 0)


def pooled(counts: Counts) -> int:
    from statsmodels.stats.proportion import proportions_ztest

    a, n, b, m = (sum(part) for part in zip(*counts, strict=True))
    if a + b in (0, n + m) or proportions_ztest([a, b], [n, m])[1] > ERROR:
        return 0
    return 1 if a / n > b / m else -1


def cmh(counts: Counts) -> int:
    from statsmodels.stats.contingency_tables import StratifiedTable

    table = StratifiedTable([np.array([[a, n - a], [b, m - b]], float) for a, n, b, m in counts])
    with np.errstate(all="ignore"):
        if not table.test_null_odds().pvalue <= ERROR:
            return 0
        return 1 if table.logodds_pooled > 0 else -1


TESTS: dict[str, Callable[[Counts], int]] = {"surefoot": ours, "pooled counts": pooled, "CMH": cmh}


def main() -> int:
    warnings.simplefilter("ignore")
    lines = [
        "## Several tasks: within them, or pooled",
        "",
        f"{dated(['surefoot', 'numpy', 'scipy', 'statsmodels'])}. {DRAWS:,} draws, seed {SEED}. Equal policies: the "
        "share with a false verdict, where one in twenty is promised. Otherwise: the share in which the first is named "
        "better / worse. CMH tests a common odds ratio, another question. Command: `python -m benchmarks.strata`.",
        "",
        "| setting | " + " | ".join(TESTS) + " | asked of surefoot | met |",
        "|---" * (len(TESTS) + 3) + "|",
    ]
    met = True
    for place, setting in enumerate(SETTINGS):
        rng = np.random.default_rng([SEED, place])
        draws = [drawn(setting, rng) for _ in range(DRAWS)]
        found = {name: [test(one) for one in draws] for name, test in TESTS.items()}
        if setting.equal:
            wrong = {name: sum(map(bool, said)) for name, said in found.items()}
            shown, asked = [f"{count / DRAWS:.3f}" for count in wrong.values()], "0.05, within its binomial limit"
            fine = kept(wrong["surefoot"], DRAWS, error=ERROR)
        else:
            each = {name: (said.count(1) / DRAWS, said.count(-1) / DRAWS) for name, said in found.items()}
            shown, asked = [f"{better:.3f} / {worse:.3f}" for better, worse in each.values()], "worse at most 0.025"
            fine = kept(2 * found["surefoot"].count(-1), DRAWS, error=ERROR)
        met &= fine
        lines.append(f"| {setting.name} | {' | '.join(shown)} | {asked} | {'yes' if fine else '**no**'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    rng = np.random.default_rng(SEED)  # draws that nothing has met: answers are kept for tallies that come again
    fresh = [drawn(SETTINGS[1], rng) for _ in range(50)]
    times = " | ".join(seconds(cpu(lambda test=test: [test(one) for one in fresh]) / 50) for test in TESTS.values())
    lines.append(f"| CPU of one comparison, five tasks | {times} | none | yes |")
    print("\n".join(lines))
    write("strata", lines)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
