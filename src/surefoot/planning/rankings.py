"""Expected sample size and completeness of a sequential ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core.record import Record
from surefoot.numerics import arrays
from surefoot.planning.assumptions import Law, drawn, law_of
from surefoot.sequential.round_rules import RoundRule
from surefoot.sequential.simulation import block_studies

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


_SCORES = 1 << 22  # scores held at once


@dataclass(frozen=True, slots=True)
class RankingPlan(Record):
    """What a ranking will do if the assumed policies are true.

    Attributes:
        rule: The rule.
        means: The mean score assumed for each policy.
        expected_rollouts: Mean rollouts of a study, of all policies together.
        standard_error: Of that mean, from the number of studies simulated.
        each: Mean rollouts of each policy.
        half: The rollouts that half of the studies stay within.
        most_often: The rollouts that nine studies in ten stay within.
        complete: The chance that all that is asked is decided.
        found: The share of the true differences between two policies that is found, on average.
        runs: Studies simulated.
        seed: The seed they came from; none when drawn from a generator.
        correlation: How strongly the scores of a round were tied.
    """

    rule: Any
    means: tuple[float, ...]
    expected_rollouts: float
    standard_error: float
    each: tuple[float, ...]
    half: int
    most_often: int
    complete: float
    found: float
    runs: int
    seed: int | None = None
    correlation: float = 0.0

    @property
    def most(self) -> int:
        """The most rollouts there can be."""
        return int(self.rule.most)

    @property
    def saving(self) -> float:
        """The share of the rollouts that is not run, on average."""
        return 1.0 - self.expected_rollouts / self.most

    def __str__(self) -> str:
        assumed = ", ".join(f"{mean:g}" for mean in self.means)
        seeded = "" if self.seed is None else f", seed {self.seed}"
        studies = "one simulated study" if self.runs == 1 else f"{self.runs:,} simulated studies"
        within = f"half of the studies stay within {self.half:,}, nine in ten within {self.most_often:,}"
        return (
            f"{self.expected_rollouts:,.0f} rollouts on average ({within}, at most {self.most:,}); "
            "all is decided with "
            f"chance {self.complete:.1%}, and {self.found:.1%} of the differences are found, if the means are "
            f"{assumed} ({studies}{seeded})."
        )


def plan_ranking(
    rule: RoundRule[Any],
    policies: Sequence[Law],
    *,
    rng: np.random.Generator | int,
    runs: int = 1_000,
    correlation: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> RankingPlan:
    """Expected sample size of a sequential ranking, and the chance that it is complete.

    Simulated; on many cores where joblib is told to.

    Args:
        rule: The rule to be declared, such as `ClosedRanking`.
        policies: Each policy in the order of the rule's names: a success rate, a chance for each score, or pilot
            scores to draw from.
        rng: A seed or a generator; kept in the result.
        runs: Studies to simulate.
        correlation: How strongly the scores of a round are tied by their shared conditions (a Gaussian copula).
        progress: Called with studies done and studies in all, for a progress bar.

    Example:
        >>> from surefoot import plan_ranking
        >>> from surefoot.sequential import ClosedRanking
        >>> rule = ClosedRanking(("new", "old", "none"), 100, binary=True)
        >>> plan = plan_ranking(rule, [0.9, 0.6, 0.1], rng=7, runs=200)
        >>> plan.complete > 0.95, plan.expected_rollouts < 150
        (True, True)

    Reference:
        Simulation of the rule itself.
    """
    if not isinstance(rule, RoundRule):
        raise _check.mistyped("rule", "be a rule that ranks, such as ClosedRanking", rule)
    generator, seed = _check.generator(rng)
    runs = _check.whole(runs, "runs", least=1)
    tied = _check.real(correlation, "correlation")
    if not 0.0 <= tied < 1.0:
        raise _check.refused("correlation", "be from 0 to below 1", correlation)
    if len(policies) != len(rule.names):
        raise _check.wrong("policies", f"hold one for each of {len(rule.names)} names; got {len(policies)}.", policies)
    laws = [law_of(law, f"policies[{place}]", rule.low, rule.high) for place, law in enumerate(policies)]
    means = np.array([float(values @ chances) for values, chances in laws])
    size = max(1, min(block_studies(rule), _SCORES // (rule.horizon * len(laws))))
    parts = arrays.seeded(runs, size, generator)
    ended, done = [], 0
    for start in range(0, len(parts), 8):  # a few blocks at a time, so that progress can be told
        some = parts[start : start + 8]
        ended += arrays.spread(_simulated, [(rule, laws, tied, *part) for part in some])
        done += sum(count for count, _ in some)
        if progress is not None:
            progress(done, runs)
    rollouts, better, complete = (np.concatenate(part) for part in zip(*ended, strict=True))
    used = rollouts.sum(axis=1)
    true = means[:, None] > means
    return RankingPlan(
        rule=rule,
        means=tuple(means.tolist()),
        expected_rollouts=float(used.mean()),
        standard_error=float(used.std() / len(used) ** 0.5),
        each=tuple(rollouts.mean(axis=0).tolist()),
        half=int(np.quantile(used, 0.5, method="inverted_cdf")),
        most_often=int(np.quantile(used, 0.9, method="inverted_cdf")),
        complete=float(complete.mean()),
        found=float(better[:, true].mean()) if true.any() else 1.0,
        runs=runs,
        seed=seed,
        correlation=tied,
    )


def _simulated(
    rule: RoundRule[Any],
    laws: list[tuple[Floats, Floats]],
    correlation: float,
    runs: int,
    rng: np.random.Generator,
) -> tuple[Ints, Flags, Flags]:
    shape = (runs, rule.horizon, len(laws))
    if correlation:
        from scipy.special import ndtr

        common = rng.standard_normal((*shape[:2], 1))
        uniform = ndtr(correlation**0.5 * common + (1.0 - correlation) ** 0.5 * rng.standard_normal(shape))
    else:
        uniform = rng.random(shape)
    scores = np.stack([drawn(*law, uniform[..., place]) for place, law in enumerate(laws)], axis=-1)
    return rule.played(scores)
