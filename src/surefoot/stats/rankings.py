"""Ranking of many policies: all pairs, confidence intervals of ranks, letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
from surefoot.stats.letters import Letters, compact_letters, places
from surefoot.stats.rates import wilson
from surefoot.stats.score_means import score_mean
from surefoot.stats.selection import SelectionBias, selection_bias, simultaneous_intervals
from surefoot.stats.simultaneous_gains import Adjusting, FamilyGain, Policy, Using, step_down_gains

_APART = (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class Ranking(Record):
    """Many policies, compared pair by pair with one error for all pairs.

    Attributes:
        names: The policies, highest estimate first.
        estimates: The rate or mean score of each.
        pairs: The names of every pair, higher estimate first.
        members: What is known of every pair, in the same order: a gain whose interval holds together with all others,
            and the verdict that letters and ranks follow.
        ranks: The best and the worst rank each policy can have, by the verdicts.
        letters: Two policies share a letter exactly when they were not separated.
        confidence: The chance that all of it holds together.
        policies: The data of each policy, in the order of `names`.
        intervals: Where the rate or mean score of each lies, all holding together at this confidence.
        measure: What letters and ranks follow, "success" or "score", where it is of a table; empty otherwise.
        own_intervals: Whether each of `intervals` holds by itself instead.
        selection: By how much the highest rate is probably too high, for independent successes; None otherwise.
    """

    names: tuple[str, ...]
    estimates: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    members: tuple[FamilyGain, ...]
    ranks: tuple[tuple[int, int], ...]
    letters: Letters
    confidence: float
    policies: tuple[Record, ...] = ()
    intervals: tuple[Interval, ...] = ()
    measure: str = ""
    own_intervals: bool = False
    selection: SelectionBias | None = None

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.2.0 wrote every policy's own interval."""
        kept = dict(body)
        return kept if "alone" not in kept else {"intervals": kept.pop("alone"), "own_intervals": True, **kept}

    @property
    def tied(self) -> tuple[str, ...]:
        """The policies that share the highest estimate; empty where one alone has it."""
        return tied(dict(zip(self.names, self.estimates, strict=True)))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known of the intervals and of the highest estimate."""
        said = []
        if self.intervals:
            said.append(sentences.rows_hold(self.confidence, own=self.own_intervals))
        if self.tied:
            said.append(sentences.tie(self.tied))
        elif self.selection is not None and self.selection.matters:
            said.append(str(self.selection))
        return tuple(said)

    @property
    def gains(self) -> tuple[Gain, ...]:
        """The gain of every pair, with the interval that holds together with all others."""
        return tuple(member.gain for member in self.members)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of every pair, which letters and ranks follow."""
        return tuple(member.verdict for member in self.members)

    def gain(self, first: str, second: str) -> Gain:
        """The gain of the first over the second, with the interval that holds together with all others."""
        return self.member(first, second).gain

    def verdict(self, first: str, second: str) -> Verdict:
        """The verdict about the first."""
        return self.member(first, second).verdict

    def member(self, first: str, second: str) -> FamilyGain:
        """All that is known of the first against the second."""
        for name in (first, second):
            if name not in self.names:
                raise _check.refused("name", f"be one of {', '.join(self.names)}", name)
        if (first, second) in self.pairs:
            return self.members[self.pairs.index((first, second))]
        if (second, first) not in self.pairs:
            raise _check.refused("second", "differ from `first`", second)
        return self.members[self.pairs.index((second, first))].mirrored

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        scale: formatting.Scale = "rate" if self.members[0].gain.interval.scale == "gain" else "score"
        rows = []
        for i, name in enumerate(self.names):
            best, worst = self.ranks[i]
            place = f"rank {best}" if best == worst else f"rank {best} to {worst}"
            letters = f"  {self.letters.letters[i]}" if self.letters.readable else ""
            level = formatting.number(self.estimates[i], scale)
            if self.intervals:
                one = self.intervals[i]
                level = f"{formatting.estimate(self.estimates[i], one.low, one.high, scale)} n={one.trials:,}"
            rows.append(f"{name:<{width}}  {level}  {place}{letters}")
        if not self.letters.readable:
            rows += self.letters.notes
        return "\n".join([*rows, *self.remarks])


@dataclass(frozen=True, slots=True)
class AgainstBaseline(Record):
    """Many policies against one, with one error for all of them.

    Attributes:
        baseline: The policy that the others are compared with.
        names: The others, in the order given.
        members: What is known of each against the baseline: its gain, and the verdict.
        confidence: The chance that all of it holds together.
        policies: The data of the baseline, then of each of `names`.
    """

    baseline: str
    names: tuple[str, ...]
    members: tuple[FamilyGain, ...]
    confidence: float
    policies: tuple[Record, ...] = ()

    @property
    def gains(self) -> tuple[Gain, ...]:
        """The gain of each over the baseline, with the interval that holds together with all others."""
        return tuple(member.gain for member in self.members)

    def __str__(self) -> str:
        found = zip(self.names, self.members, strict=True)
        return "\n".join(f"{name} against {self.baseline}: {member}" for name, member in found)


def rank_policies(
    policies: Mapping[str, Policy],
    *,
    using: Using | None = None,
    adjusting: Adjusting = step_down_gains,
    confidence: float = 0.95,
    margin: float = 0.0,
    own_intervals: bool = False,
) -> Ranking:
    """All pairwise comparisons of policies with one error, their ranks and letters.

    Args:
        policies: The tally or the scores of every policy.
        using: The method of one pair, `(first, second, confidence=...)`; the central gain for tallies (the
            exact gain for two policies) and the score gain for scores if not given.
        adjusting: How the error is shared among pairs: `step_down_gains` (simultaneous intervals, verdicts by Holm's
            step-down), `bonferroni_gains` (both by Bonferroni) or `holm_gains` (both by Holm).
        confidence: The chance that all intervals and verdicts hold together.
        margin: The gain that would not matter.
        own_intervals: Whether every policy's interval is its own (Wilson, Gaffke), not one that holds together with
            those of all other policies.

    Assumptions:
        What the method of one pair assumes; nothing about how the pairs depend on one another.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import rank_policies
        >>> new, old, base = Scores([0.9, 0.8, 1.0] * 20), Scores([0.8, 0.9, 0.9] * 20), Scores([0.2, 0.4] * 30)
        >>> print(rank_policies({"base": base, "old": old, "new": new}))
        new   0.900 [0.827, 0.927] n=60  rank 1 to 2  a
        old   0.867 [0.799, 0.884] n=60  rank 1 to 2  a
        base  0.300 [0.262, 0.361] n=60  rank 3  b
        Intervals: 95% for all rows together.

    Reference:
        Piepho (2004) for the letters; Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks", for
        rank intervals from pairwise verdicts.
    """
    if len(policies) < 2:
        raise _check.wrong("policies", f"hold at least 2 policies; got {len(policies)}.", policies)
    level = {name: _estimate(name, data) for name, data in policies.items()}
    names = tuple(sorted(policies, key=lambda name: -level[name]))
    pairs = tuple(combinations(names, 2))
    data = [(policies[one], policies[other]) for one, other in pairs]
    members = _members(adjusting(data, using, confidence=confidence, margin=margin))
    verdicts = [member.verdict for member in members]
    letters = compact_letters(names, [p for p, v in zip(pairs, verdicts, strict=True) if v in _APART])
    return Ranking(
        names,
        tuple(level[name] for name in names),
        pairs,
        members,
        rank_intervals(names, pairs, verdicts),
        letters,
        float(confidence),
        tuple(policies[name] for name in names),
        _intervals(policies, names, confidence, own_intervals),
        own_intervals=own_intervals,
        selection=_selection(policies),
    )


def against_baseline(
    policies: Mapping[str, Policy],
    baseline: str,
    *,
    using: Using | None = None,
    adjusting: Adjusting = step_down_gains,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> AgainstBaseline:
    """Which policies beat the baseline? Pays for the comparisons with the baseline only.

    Args:
        policies: The tally or the scores of every policy, the baseline among them.
        baseline: The name of the one to compare with.
        using: The method of one pair, `(first, second, confidence=...)`.
        adjusting: How the error is shared among pairs: `step_down_gains` (simultaneous intervals, verdicts by Holm's
            step-down), `bonferroni_gains` (both by Bonferroni) or `holm_gains` (both by Holm).
        confidence: The chance that all intervals and verdicts hold together.
        margin: The gain that would not matter.

    Assumptions:
        The baseline was named before the data were seen; what the method of one pair assumes.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import against_baseline
        >>> found = against_baseline({"base": Scores([0.2, 0.4] * 30), "new": Scores([0.9, 0.8, 1.0] * 20)}, "base")
        >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
        new against base: +0.600 [+0.530, +0.641] n=120 (95% two-sample Gaffke interval), adjusted p < 0.0001: the first
        is better.

    Reference:
        Dunnett (1955), "A multiple comparison procedure for comparing several treatments with a control", for
        the family; the error is shared as in Dunn (1961), which needs no normal scores.
    """
    if baseline not in policies:
        raise _check.refused("baseline", f"be one of {', '.join(policies)}", baseline)
    names = tuple(name for name in policies if name != baseline)
    if not names:
        raise _check.wrong("policies", "hold a policy besides the baseline; got none.", policies)
    data = [(policies[name], policies[baseline]) for name in names]
    members = _members(adjusting(data, using, confidence=confidence, margin=margin))
    kept = tuple(policies[name] for name in (baseline, *names))
    return AgainstBaseline(baseline, names, members, float(confidence), kept)


def rank_intervals(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], verdicts: Sequence[Verdict]
) -> tuple[tuple[int, int], ...]:
    """Where can each policy stand? Its best and worst rank that no verdict rules out.

    Args:
        names: The policies.
        pairs: The pairs that were compared.
        verdicts: The verdict of each, about the first of the pair.

    Assumptions:
        The verdicts hold together: they come from one procedure with one error for all pairs. What follows from
        two verdicts counts too: better than one that is better than a third is better than the third.

    Example:
        >>> from surefoot import Verdict
        >>> from surefoot.stats import rank_intervals
        >>> rank_intervals(["a", "b", "c"], [("a", "c")], [Verdict.BETTER])
        ((1, 2), (1, 3), (2, 3))

    Reference:
        Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility across
        neighbourhoods and academic achievement across countries", theorem 3.1.
    """
    if len(verdicts) != len(pairs):
        raise _check.wrong("verdicts", f"hold one verdict per pair, {len(pairs)}; got {len(verdicts)}.", verdicts)
    place = {name: index for index, name in enumerate(names)}
    beaten = [0] * len(names)  # bits of those that each policy is better than
    for pair, verdict in zip(pairs, verdicts, strict=True):
        first, second = places(pair, place, "pairs")
        if verdict in _APART:
            winner, loser = (first, second) if verdict is Verdict.BETTER else (second, first)
            beaten[winner] |= 1 << loser
    for through in range(len(names)):  # better than one that is better than a third: better than the third
        for index in range(len(names)):
            if beaten[index] >> through & 1:
                beaten[index] |= beaten[through]
    if any(under >> index & 1 for index, under in enumerate(beaten)):
        raise _check.wrong(
            "verdicts", "not form a circle; got a policy that is better than itself through others.", verdicts
        )
    over = [sum(under >> index & 1 for under in beaten) for index in range(len(names))]
    return tuple((1 + over[index], len(names) - beaten[index].bit_count()) for index in range(len(names)))


def _members(found: tuple[Gain, ...] | tuple[FamilyGain, ...]) -> tuple[FamilyGain, ...]:
    """What an adjustment gave, as members of a family, without their data."""
    kept = []
    for one in found:
        if isinstance(one, Gain):
            kept.append(FamilyGain(_light(one), one.verdict, one.p_value, one.not_worse))
        else:
            kept.append(replace(one, gain=_light(one.gain)))
    return tuple(kept)


def _light(gain: Gain) -> Gain:
    """The gain without its data: a family keeps each policy's once, not once per pair."""
    return replace(gain, interval=replace(gain.interval, data=()))


def tied(estimates: Mapping[str, float]) -> tuple[str, ...]:
    """The names that share the highest estimate; empty where one alone has it."""
    top = max(estimates.values())
    names = tuple(name for name, estimate in estimates.items() if estimate == top)
    return names if len(names) > 1 else ()


def _intervals(
    policies: Mapping[str, Policy], names: Sequence[str], confidence: float, own: bool
) -> tuple[Interval, ...]:
    """Where the rate or the mean score of every policy lies, without its data, which a family keeps once."""
    together = len({type(data) for data in policies.values()}) == 1 and not own
    found = simultaneous_intervals(policies, confidence=confidence) if together else {}
    for name in names if own else ():
        data = policies[name]
        using = (
            wilson(data, confidence=confidence) if isinstance(data, Tally) else score_mean(data, confidence=confidence)
        )
        found[name] = using
    return tuple(replace(found[name], data=()) for name in names)


def _selection(policies: Mapping[str, Policy]) -> SelectionBias | None:
    """The bias of the highest rate; none for scores."""
    tallies = {name: data for name, data in policies.items() if isinstance(data, Tally)}
    return selection_bias(tallies) if len(tallies) == len(policies) else None


def _estimate(name: str, data: Policy) -> float:
    if isinstance(data, Tally):
        return data.rate
    if isinstance(data, Scores):
        return data.mean
    raise _check.mistyped(f"policies[{name!r}]", "be a Tally or Scores", data)
