"""Adjustment of p-values and e-values for many questions, and the step-down over both sides of many gains.

What is adjusted comes back in the same order: what is at most one minus the confidence stands. Whatever method made the
p-values, a verdict whose direction is read off the data is a statement on one of two sides, "above" and "below": a
family of gains holds two hypotheses per pair.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import _check
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict


def bonferroni(p_values: Sequence[float]) -> tuple[float, ...]:
    """Bonferroni's adjustment of p-values: no false rejection, under any dependence.

    Assumptions:
        Valid p-values, whatever their dependence. Controls the chance of any false answer.

    Example:
        >>> from surefoot.reference import bonferroni
        >>> bonferroni([0.01, 0.04, 0.03, 0.2])
        (0.04, 0.16, 0.12, 0.8)

    Reference:
        Dunn (1961), "Multiple comparisons among means".
    """
    kept = _p_values(p_values)
    return tuple(min(1.0, len(kept) * p) for p in kept)


def sidak(p_values: Sequence[float]) -> tuple[float, ...]:
    """Šidák's adjustment of p-values: no false rejection, under independence.

    Assumptions:
        Valid p-values, independent or positively dependent in Šidák's sense.

    Example:
        >>> from surefoot.reference import sidak
        >>> [round(p, 6) for p in sidak([0.01, 0.04])]
        [0.0199, 0.0784]

    Reference:
        Šidák (1967), "Rectangular confidence regions for the means of multivariate normal distributions".
    """
    kept = _p_values(p_values)
    return tuple(1.0 if p == 1.0 else -math.expm1(len(kept) * math.log1p(-p)) for p in kept)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Which answers stand with no false one among them? Never fewer than Bonferroni's.

    Assumptions:
        Valid p-values, whatever their dependence. Controls the chance of any false answer.

    Example:
        >>> from surefoot.stats import holm
        >>> holm([0.01, 0.04, 0.03, 0.2])
        (0.04, 0.09, 0.09, 0.2)

    Reference:
        Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    kept = _p_values(p_values)
    adjusted = [0.0] * len(kept)
    worst = 0.0
    for rank, place in enumerate(sorted(range(len(kept)), key=kept.__getitem__)):
        worst = max(worst, min(1.0, (len(kept) - rank) * kept[place]))
        adjusted[place] = worst
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Which answers stand with few false ones among them? For many metrics or tasks.

    Assumptions:
        Valid p-values, independent or positively regression dependent. Controls the expected share of false
        answers among those that stand, not the chance of any.

    Example:
        >>> from surefoot.reference import benjamini_hochberg
        >>> [round(p, 4) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.2])]
        [0.04, 0.0533, 0.0533, 0.2]

    Reference:
        Benjamini and Hochberg (1995), "Controlling the false discovery rate".
    """
    return _stepped_up(_p_values(p_values))


def e_benjamini_hochberg(evidence: Sequence[float]) -> tuple[float, ...]:
    """Benjamini-Hochberg procedure for e-values: few false rejections, under any dependence.

    Gives adjusted p-values: an answer stands when its own is at most the share of false answers allowed.

    Assumptions:
        Valid e-values (evidence), whatever their dependence, at any stopping time.

    Example:
        >>> from surefoot.reference import e_benjamini_hochberg
        >>> e_benjamini_hochberg([100.0, 50.0, 1.0])
        (0.03, 0.03, 1.0)

    Reference:
        Wang and Ramdas (2022), "False discovery rate control with e-values".
    """
    kept = []
    for place, value in enumerate(_listed(evidence, "evidence")):
        number = value if value == math.inf else _check.real(value, f"evidence[{place}]")
        if number < 0.0:
            raise _check.refused(f"evidence[{place}]", "be 0 or more", value)
        kept.append(1.0 / number if number > 0.0 else math.inf)
    return _stepped_up(kept)


def _stepped_up(kept: list[float]) -> tuple[float, ...]:
    """The smallest share of false answers at which each stands, among itself and all that are smaller."""
    adjusted = [0.0] * len(kept)
    best = 1.0
    order = sorted(range(len(kept)), key=kept.__getitem__)
    for rank in range(len(kept), 0, -1):
        place = order[rank - 1]
        best = min(best, len(kept) * kept[place] / rank)
        adjusted[place] = best
    return tuple(adjusted)


def _p_values(values: Iterable[Any]) -> list[float]:
    return [_check.rate(value, f"p_values[{place}]") for place, value in enumerate(_listed(values, "p_values"))]


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    kept = list(values.tolist() if hasattr(values, "tolist") else values)
    _check.filled(kept, name, "hold at least one value")
    return kept


@dataclass(frozen=True, slots=True)
class Sides(Record):
    """The one-sided p-values of one comparison; each small when the statement it is named after may be made.

    Attributes:
        better: Of "the gain is at most the margin".
        worse: Of "the gain is at least minus the margin".
        not_worse: Of "the gain is at most minus the margin"; without a margin the same as `better`.
        not_better: Of "the gain is at least the margin"; without a margin the same as `worse`.
    """

    better: float
    worse: float
    not_worse: float
    not_better: float

    def __post_init__(self) -> None:
        for name in ("better", "worse", "not_worse", "not_better"):
            _check.rate(getattr(self, name), name)

    @classmethod
    def of(cls, p_value: float, estimate: float) -> Sides:
        """Without a margin, from the two-sided p-value of a method with half of its error on each side.

        So are all intervals made of two one-sided bounds. `exact_gain` and `exact_paired_gain` are not: their error
        lies as the data happen to fall, and `central_gain` and `central_paired_gain` take their place.

        Args:
            p_value: The two-sided p-value against no gain.
            estimate: The observed gain, of which only the sign counts.
        """
        near = _check.rate(p_value, "p_value") / 2.0
        above, below = (near, 1.0) if estimate > 0.0 else (1.0, near) if estimate < 0.0 else (1.0, 1.0)
        return cls(above, below, above, below)

    @property
    def mirrored(self) -> Sides:
        """The same with the policies swapped."""
        return Sides(self.worse, self.better, self.not_better, self.not_worse)


@dataclass(frozen=True, slots=True)
class Stepped(Record):
    """What the step-down says of one comparison.

    Attributes:
        verdict: About the first policy.
        p_value: The smallest error at which the pair gets the verdict "better" or "worse", all pairs together.
        not_worse: Whether the first was shown not to be worse by as much as the margin.
        same_p_value: The smallest error at which the two are the same within the margin; 1 without a margin.
    """

    verdict: Verdict
    p_value: float
    not_worse: bool
    same_p_value: float = 1.0

    @property
    def mirrored(self) -> Stepped:
        """The same about the second policy, of which only a verdict tells whether it is not worse."""
        turned = self.verdict.mirrored
        shown = turned in (Verdict.BETTER, Verdict.SAME)
        return Stepped(turned, self.p_value, shown, self.same_p_value)


def step_down(sides: Sequence[Sides], *, confidence: float = 0.95) -> tuple[Stepped, ...]:
    """Which gains stand, with no false verdict among them? Holm's step-down over both sides of every pair.

    K pairs are 2K hypotheses: a side is rejected when its p-value is at most the error over the number of sides still
    open, and every rejection leaves more for the others. With Bonferroni each would be tested at the error over 2K for
    good, so the step-down never decides fewer. "Not worse" and "the same" are read off at the last level: on one side
    they follow from "better" or say less, so that a side never makes two false statements where it is charged for one.

    Args:
        sides: The one-sided p-values of every comparison.
        confidence: The chance that no verdict is false.

    Assumptions:
        Every p-value is valid (or nearly, where its method says so); nothing about how they depend on one another. The
        chance of a verdict that is false or points the wrong way is at most 1 - confidence, whatever the gains.

    Example:
        >>> from surefoot.stats.multiplicity import Sides, step_down
        >>> pairs = [Sides.of(0.004, +0.3), Sides.of(0.019, +0.2), Sides.of(0.4, -0.1)]
        >>> [str(one.verdict) for one in step_down(pairs)]
        ['better', 'better', 'undecided']
        >>> [round(one.p_value, 4) for one in step_down(pairs)]
        [0.012, 0.0475, 0.8]

    Reference:
        Holm (1979), "A simple sequentially rejective multiple test procedure"; Goeman and Solari (2010), "The
        sequential rejection principle of familywise error control".
    """
    error = 1.0 - _check.confidence(confidence)
    _check.filled(sides, "sides", "hold at least one comparison")
    count = 2 * len(sides)
    above, below = [one.better for one in sides], [one.worse for one in sides]
    adjusted = holm([*above, *below])
    ordered = sorted(adjusted)
    level = error / max(1, count - bisect_right(ordered, error))

    before = [0.0, *ordered[:-1]]  # the error that the first rejections, none to all but one, take

    def later(p: float) -> float:
        """The smallest error at which a statement that opens nothing for the others may be made."""
        # the one rises and the other falls with the number of rejections: the best lies where they meet
        meet = bisect_left(range(count), True, key=lambda done: before[done] >= p * (count - done))
        return min(min(1.0, max(before[done], p * (count - done))) for done in (max(meet - 1, 0), min(meet, count - 1)))

    found = []
    for up, down, one in zip(adjusted[: len(sides)], adjusted[len(sides) :], sides, strict=True):
        verdict = Verdict.BETTER if up <= error else Verdict.WORSE if down <= error else Verdict.UNDECIDED
        kept = up <= error or one.not_worse <= level
        if verdict is Verdict.UNDECIDED and max(one.not_worse, one.not_better) <= level:
            verdict = Verdict.SAME
        plain = (one.not_worse, one.not_better) == (one.better, one.worse)
        same = 1.0 if plain else later(max(one.not_worse, one.not_better))
        found.append(Stepped(verdict, min(up, down), kept, same))
    return tuple(found)
