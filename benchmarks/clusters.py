"""Rollouts in clusters: how often does a comparison of two equal policies name a better one?

The promise is one in twenty. Beside it stand the test that takes every rollout for a new scene, and the cluster-robust
regression that is usual elsewhere, both from statsmodels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import cpu, dated, kept, seconds, write
from surefoot import Scores
from surefoot.stats import cluster_gain, two_sample_cluster_gain

Floats = NDArray[np.float64]

SEED, DRAWS, ERROR = 20, 1_000, 0.05


class Setting(NamedTuple):
    """Scenes of each policy, their sizes, and how alike the rollouts of a scene are."""

    name: str
    sizes: tuple[int, ...]
    rate: float
    alike: float
    paired: bool = False


SETTINGS = (
    Setting("10 scenes of 10, rate .5, correlation .3", (10,) * 10, 0.5, 0.3),
    Setting("30 scenes of 10, rate .8, correlation .2", (10,) * 30, 0.8, 0.2),
    Setting("8 scenes of 2 to 40, rate .7, correlation .2", (2, 4, 6, 8, 10, 20, 30, 40), 0.7, 0.2),
    Setting("12 scenes of 5, both policies in each, correlation .4", (5,) * 12, 0.6, 0.4, paired=True),
    Setting("200 scenes of 1 (no clusters at all)", (1,) * 200, 0.7, 0.0),
)


def drawn(setting: Setting, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Successes of both policies and the scene of each rollout: every scene has a rate of its own, by a beta law."""
    scenes = np.repeat(np.arange(len(setting.sizes)), setting.sizes)

    def rates() -> Floats:
        if not setting.alike:
            return np.full(len(setting.sizes), setting.rate)
        total = 1.0 / setting.alike - 1.0
        return rng.beta(setting.rate * total, (1.0 - setting.rate) * total, len(setting.sizes))

    first = rates()
    second = first if setting.paired else rates()
    return *((rng.random(len(scenes)) < one[scenes]).astype(float) for one in (first, second)), scenes


def ours(first: Floats, second: Floats, scenes: NDArray[np.int64], paired: bool) -> float:
    a, b, which = Scores(first.tolist()), Scores(second.tolist()), scenes.tolist()
    if paired:
        return cluster_gain(a, b, which).p_value
    return two_sample_cluster_gain(a, b, (which, which)).p_value


def plain(first: Floats, second: Floats, _: NDArray[np.int64], __: bool) -> float:
    """Every rollout for itself: the score test of two proportions."""
    from statsmodels.stats.proportion import proportions_ztest

    if first.sum() + second.sum() in (0.0, len(first) + len(second)):
        return 1.0
    return float(proportions_ztest([first.sum(), second.sum()], [len(first), len(second)])[1])


def robust(first: Floats, second: Floats, scenes: NDArray[np.int64], paired: bool) -> float:
    """Least squares with cluster-robust errors and a t law, as regressions are reported."""
    from statsmodels.api import OLS

    shift = 0 if paired else len(np.unique(scenes))
    groups = np.concatenate([scenes, scenes + shift])
    policy = np.repeat([1.0, 0.0], len(first))
    model = OLS(np.concatenate([first, second]), np.column_stack([np.ones_like(policy), policy]))
    found = float(model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True).pvalues[1])
    return 1.0 if np.isnan(found) else found


TESTS: dict[str, Callable[..., float]] = {"surefoot": ours, "every rollout alone": plain, "cluster-robust OLS": robust}


def main() -> int:
    warnings.simplefilter("ignore")
    lines = [
        "## Rollouts in clusters: false verdicts",
        "",
        f"{dated(['surefoot', 'numpy', 'scipy', 'statsmodels'])}. Two policies with the same rate, {DRAWS:,} draws, "
        f"seed {SEED}: the share in which a better one is named, where one in twenty is promised. Command: "
        "`python -m benchmarks.clusters`.",
        "",
        "| setting | " + " | ".join(TESTS) + " | asked | met |",
        "|---" * (len(TESTS) + 3) + "|",
    ]
    met = True
    for place, setting in enumerate(SETTINGS):
        rng = np.random.default_rng([SEED, place])
        draws = [drawn(setting, rng) for _ in range(DRAWS)]
        wrong = {name: sum(test(*one, setting.paired) <= ERROR for one in draws) for name, test in TESTS.items()}
        fine = kept(wrong["surefoot"], DRAWS, error=ERROR)
        met &= fine
        shares = " | ".join(f"{count / DRAWS:.3f}" for count in wrong.values())
        lines.append(f"| {setting.name} | {shares} | 0.05, within its binomial limit | {'yes' if fine else '**no**'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    spent = [cpu(lambda test=test: [test(*one, False) for one in draws[:50]]) / 50 for test in TESTS.values()]
    times = " | ".join(map(seconds, spent))
    lines.append(f"| CPU of one comparison, 200 v 200 rollouts | {times} | none | yes |")
    print("\n".join(lines))
    write("clusters", lines)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
