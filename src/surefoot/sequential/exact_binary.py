"""Exact sequential test of two independent streams of successes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from surefoot.core.tally import Tally
from surefoot.sequential import betting_intervals
from surefoot.sequential.exact_rules import Counts, ExactRule, ExactState
from surefoot.sequential.registry import registered


@registered
@dataclass(frozen=True, slots=True)
class ExactBinary(ExactRule["ExactBinaryState"]):
    """Decides on successes of two independent streams with nearly the fewest pairs that any rule can.

    The table is the answer of a dynamic programme: it minimises expected pairs over a wide range of rates while its
    error is proved to be kept at every rate. The rule also stops, undecided, when no verdict can be reached any more.
    Only for independent rollouts: pairs that share an environment call for `ExactPairedBinary`.

    Example:
        >>> from surefoot.sequential import ExactBinary, run
        >>> rule = ExactBinary(horizon=50)
        >>> print(run(rule, [(1, 0)] * 50)[-1])
        Decided after 5 pairs, p = 0.000977: the first policy is better.
        >>> rule.certificate.high <= 0.05
        True

    Reference:
        Snyder et al. (2025), "Is your imitation learning policy better than mine? Policy comparison with near-optimal
        stopping", for the problem; the design and its proof are surefoot's own (see docs/exact-designs.md).
    """

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "exact binary design"
    label: ClassVar[str] = "Exact"
    summary: ClassVar[str] = "Nearly the fewest pairs that any rule can need, on independent successes; proved."
    place: ClassVar[int] = 10
    environments: ClassVar[tuple[str, ...]] = ("one", "independent")

    def start(self) -> ExactBinaryState:
        """The state before the first pair."""
        return ExactBinaryState.undecided(self, companion=betting_intervals.begun(self), first=0, second=0)


@dataclass(frozen=True, slots=True)
class ExactBinaryState(ExactState[ExactBinary]):
    """What `ExactBinary` knows after some pairs.

    Attributes:
        first: Successes of the first policy.
        second: Successes of the second policy.
    """

    first: int
    second: int

    def counted(self, first: bool, second: bool) -> Self:
        """With one more pair counted, not yet judged."""
        return replace(self, pairs=self.pairs + 1, first=self.first + first, second=self.second + second)

    @property
    def counts(self) -> Counts:
        """What the table is read by."""
        return Counts(self.first, self.second)

    @property
    def tallies(self) -> tuple[Tally, Tally]:
        """The tallies of the first and the second policy; there must be a pair."""
        return Tally(self.first, self.pairs), Tally(self.second, self.pairs)
