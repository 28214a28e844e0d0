"""Likelihood-ratio test of two independent streams of successes (SAVI)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from surefoot.core.interval import Interval
from surefoot.core.verdict import Verdict
from surefoot.sequential import finite_horizon_mixture
from surefoot.sequential.betting import BettingState
from surefoot.sequential.registry import registered
from surefoot.sequential.rules import CODES, Rule, State, log_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Floats, Ints


@registered
@dataclass(frozen=True, slots=True)
class Savi(Rule["SaviState"]):
    """Decides on successes of two independent streams by a safe likelihood ratio: theta-SAVI, a published baseline.

    A pair's factor is its likelihood under the two rates estimated from earlier pairs, over its likelihood under one
    common rate, and 1 unless the estimates favour the claim. Only for independent streams: pairs that share an
    environment break it.

    Example:
        >>> from surefoot.sequential import Savi, run
        >>> print(run(Savi(horizon=50), [(1, 0)] * 50)[-1])
        Decided after 4 pairs, p = 0.0352: the first policy is better.

    Reference:
        Turner and Grünwald (2023), "Safe sequential testing and effect estimation in stratified count data", with
        Beta(2, 1) and Beta(1, 2) starts.
    """

    name: ClassVar[str] = "savi"
    title: ClassVar[str] = "theta-SAVI"
    label: ClassVar[str] = "theta-SAVI"
    summary: ClassVar[str] = "A likelihood ratio for any moment, on independent successes; published, for comparison."
    place: ClassVar[int] = 60
    measures: ClassVar[tuple[str, ...]] = ("success",)
    binary_only: ClassVar[bool] = True
    environments: ClassVar[tuple[str, ...]] = ("one", "independent")

    @property
    def threshold(self) -> float:
        """The evidence at which a direction is decided."""
        return 1.0 / self.error

    def start(self) -> SaviState:
        """The state before the first pair."""
        sides = 2 if self.claim == "either" else 1
        return SaviState.undecided(
            self,
            first=0,
            second=0,
            log_wealths=(0.0,) * sides,
            log_best=0.0,
            companion=finite_horizon_mixture.companion_begun(self),
        )

    def advance(self, state: SaviState, first: float, second: float) -> SaviState:
        """The state after a checked pair."""
        one, other = first == self.high, second == self.high
        past = (np.array([float(state.first)]), np.array([float(state.second)]), np.array([float(state.pairs)]))
        now = (np.array([float(one)]), np.array([float(other)]))
        logs = tuple(
            log + float(log_factors(*turned(past[0], past[1], i), past[2], *turned(*now, i))[0])
            for i, log in enumerate(state.log_wealths)
        )
        best = max(state.log_best, *logs)
        verdict = Verdict.UNDECIDED
        if best >= log_target(self):
            verdict = Verdict.BETTER if logs[0] == best else Verdict.WORSE
        p_value = min(1.0, len(logs) * math.exp(-best))
        return SaviState(
            rule=self,
            pairs=state.pairs + 1,
            p_value=min(p_value, 1.0 - self.confidence) if verdict is not Verdict.UNDECIDED else p_value,
            verdict=verdict,
            first=state.first + one,
            second=state.second + other,
            log_wealths=logs,
            log_best=best,
            companion=finite_horizon_mixture.companion_after(state.companion, first, second),
        )

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes of many sequences, one per row."""
        pairs = min(first.shape[1], self.horizon)
        one = (first[:, :pairs] == self.high).astype(float)
        other = (second[:, :pairs] == self.high).astype(float)
        before = (np.cumsum(one, axis=1) - one, np.cumsum(other, axis=1) - other)
        times, codes = np.full(len(one), pairs, np.int64), np.zeros(len(one), np.int8)
        for i, verdict in enumerate((Verdict.BETTER, Verdict.WORSE)[: 2 if self.claim == "either" else 1]):
            factors = log_factors(*turned(*before, i), np.arange(float(pairs)), *turned(one, other, i))
            hit = np.cumsum(factors, axis=1) >= log_target(self)
            when = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, pairs + 1)
            sooner = (when < times) | ((when == times) & (codes == 0) & (when <= pairs))
            times[sooner], codes[sooner] = when[sooner], CODES.index(verdict)
        return times, codes


def turned(first: Floats, second: Floats, direction: int) -> tuple[Floats, Floats]:
    """(ours, theirs): the first policy's claim, or the second's."""
    return (first, second) if direction == 0 else (second, first)


def log_factors(ours: Floats, theirs: Floats, pairs: Floats, one: Floats, other: Floats) -> Floats:
    """Log of the factor of a pair (one, other) after successes `ours` and `theirs` in earlier `pairs`."""
    high, low = (2.0 + ours) / (3.0 + pairs), (1.0 + theirs) / (3.0 + pairs)
    middle = (high + low) / 2.0
    factors = (
        np.log(np.where(one > 0.0, high, 1.0 - high))
        + np.log(np.where(other > 0.0, low, 1.0 - low))
        - np.log(np.where(one > 0.0, middle, 1.0 - middle))
        - np.log(np.where(other > 0.0, middle, 1.0 - middle))
    )
    return np.where(high > low, factors, 0.0)


@dataclass(frozen=True, slots=True)
class SaviState(State[Savi]):
    """What theta-SAVI knows after some pairs.

    Attributes:
        first: Successes of the first policy.
        second: Successes of the second policy.
        log_wealths: Log-evidence of each direction.
        log_best: The largest log-evidence so far.
        companion: The betting state that gives the interval.
    """

    first: int
    second: int
    log_wealths: tuple[float, ...]
    log_best: float
    companion: BettingState

    @property
    def evidence(self) -> float:
        """The likelihood ratio for the claim; decided at `rule.threshold`."""
        return math.exp(max(self.log_wealths))

    @property
    def interval(self) -> Interval:
        """Where the gain lies, valid at any moment: a betting interval, a statement apart that may still hold 0."""
        gain = self.rule.width * (self.first - self.second) / max(1, self.pairs)
        return finite_horizon_mixture.companion_interval(self.companion, gain, self.pairs)
