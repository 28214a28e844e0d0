"""Exact sequential tests of successes: of two independent streams, and of pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np

from surefoot import _check
from surefoot.core.interval import Interval
from surefoot.core.tally import PairTally, Tally
from surefoot.sequential import after_stop, designs, finite_horizon_mixture
from surefoot.sequential.exact_rules import Counts, ExactRule, ExactState
from surefoot.sequential.registry import Lists, registered
from surefoot.sequential.rules import Chances

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Ints
    from surefoot.numerics.designs import stopped_walks


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
        return ExactBinaryState.undecided(
            self, companion=finite_horizon_mixture.companion_begun(self), first=0, second=0
        )


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


@registered
@dataclass(frozen=True, slots=True)
class ExactPairedBinary(ExactRule["ExactPairedBinaryState"]):
    """Decides on success and failure in shared environments, met in random order, with few pairs.

    Only pairs that differ count. The error is kept for every number of pairs that differ among the horizon's
    environments in random order, so that a fixed list of environments, shuffled, is enough; independent pairs are
    covered too. Where the order was not randomised use `FiniteHorizonMixture`.

    Example:
        >>> from surefoot.sequential import ExactPairedBinary, run
        >>> rule = ExactPairedBinary(horizon=50)
        >>> print(run(rule, [(1, 0)] * 50)[-1])
        Decided after 6 pairs, p = 0.0168: the first policy is better.
        >>> rule.certificate.high <= 0.05
        True

    Reference:
        The design and its proof are surefoot's own (see docs/exact-designs.md); McNemar (1947) for the idea that only
        pairs that differ count.
    """

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "exact paired binary design"
    label: ClassVar[str] = "Exact paired"
    summary: ClassVar[str] = "Few pairs, on successes in shared environments met in random order; proved."
    place: ClassVar[int] = 20
    family: ClassVar[designs.Family] = "paired"
    outcomes: ClassVar[int] = 2
    lists: ClassVar[Lists] = "whole"

    def start(self) -> ExactPairedBinaryState:
        """The state before the first pair."""
        return ExactPairedBinaryState.undecided(
            self, companion=finite_horizon_mixture.companion_begun(self), both=0, first_only=0, second_only=0
        )

    def tied(self, first: float, second: float, both: float, *, curtailed: bool = True) -> Chances:
        """As `operating`, when both policies succeed in the share `both` of the environments.

        Args:
            first: The first policy's success rate.
            second: The second policy's success rate.
            both: The chance that both succeed; the product of the rates when the outcomes are independent.
            curtailed: Whether a run that is given up stops there.
        """
        first, second, both = _check.rate(first, "first"), _check.rate(second, "second"), _check.rate(both, "both")
        if not max(0.0, first + second - 1.0) - 1e-12 <= both <= min(first, second) + 1e-12:
            must = f"be between {max(0.0, first + second - 1.0):g} and {min(first, second):g} at these rates"
            raise _check.refused("both", must, both)
        return self._operating((max(0.0, first - both), max(0.0, second - both)), curtailed=curtailed)

    def over_list(
        self, first_only: int, second_only: int, *, population: int | None = None, curtailed: bool = True
    ) -> Chances:
        """As `operating`, over all orders of a list with so many items won by each policy alone: exact.

        On a list as long as the horizon this is what a random order gives. With as many items won by each, the
        verdicts are errors.

        Args:
            first_only: Items on which only the first policy succeeds.
            second_only: Items on which only the second policy succeeds.
            population: Items on the list; left out, as many as the horizon.
            curtailed: Whether a run that is given up stops there.

        Example:
            >>> from surefoot.sequential import ExactPairedBinary
            >>> stopping, chances = ExactPairedBinary(horizon=100, claim="either").over_list(24, 8)
            >>> round(sum(n * chance for n, chance in enumerate(stopping, 1)), 1), round(chances["better"], 3)
            (68.4, 1.0)
        """
        from surefoot.numerics.designs import operating

        items = self.horizon if population is None else _check.whole(population, "population", least=1)
        if items < self.horizon:
            raise _check.refused("population", f"be at least the horizon, {self.horizon:,}", items)
        first, second = _check.whole(first_only, "first_only"), _check.whole(second_only, "second_only")
        if first + second > items:
            must = f"add up to at most {items:,}, the items on the list"
            raise _check.wrong(
                ("first_only", "second_only"), f"{must}; got {first} and {second}.", (first_only, second_only)
            )
        design = self.design
        quits = designs.quits(design.declared, self.futility) if curtailed else None
        walk = cast("stopped_walks.PairedWalk", design.walk())
        return self.told(operating.over_list(walk, design.limits, first, second, items, quits=quits))

    def _chances(self, first: float, second: float) -> tuple[float, float]:
        """The chances that only the first, and only the second, policy succeeds, when they are independent."""
        return first * (1.0 - second), second * (1.0 - first)

    def tallies(self, first: Flags, second: Flags) -> tuple[Ints, Ints]:
        """The running counts of pairs won by each policy alone, one run per row."""
        return np.cumsum(first & ~second, axis=1), np.cumsum(second & ~first, axis=1)


@dataclass(frozen=True, slots=True)
class ExactPairedBinaryState(ExactState[ExactPairedBinary]):
    """What `ExactPairedBinary` knows after some pairs.

    Attributes:
        both: Pairs in which both succeeded.
        first_only: Pairs in which only the first policy succeeded.
        second_only: Pairs in which only the second policy succeeded.
    """

    both: int
    first_only: int
    second_only: int

    def counted(self, first: bool, second: bool) -> Self:
        """With one more pair counted, not yet judged."""
        return replace(
            self,
            pairs=self.pairs + 1,
            both=self.both + (first and second),
            first_only=self.first_only + (first and not second),
            second_only=self.second_only + (second and not first),
        )

    @property
    def counts(self) -> Counts:
        """What the table is read by."""
        return Counts(self.first_only, self.second_only)

    @property
    def tally(self) -> PairTally:
        """The pairs by who succeeded; there must be a pair."""
        neither = self.pairs - self.both - self.first_only - self.second_only
        return PairTally(self.both, self.first_only, self.second_only, neither)

    def list_interval(self) -> Interval:
        """Where the gain lies on the list of environments itself, now that the rule has stopped as declared.

        For a fixed list as long as the horizon, run in random order. `interval` is about environments like them; this
        one is about these, and shorter. Once all of them have been run the gain is known, and both ends are it. Takes
        up to a second for 200 environments, a minute or more for 500.

        Raises:
            ValueError: The rule has not stopped as declared, or its horizon is above 500.
        """
        self._must_have_stopped()
        return after_stop.of_list(self.rule, self.rule.design.declared, (self.pairs, *self.counts), self.estimate)
