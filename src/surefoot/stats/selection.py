"""Selection of the best of many policies: confidence set, and bounds on the one picked.

Sizes must have been fixed beforehand. Every statement has its own error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.interval import Bound, Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.stats.one_sided_gains import gain_bounds, gain_sides
from surefoot.stats.rates import clopper_pearson, clopper_pearson_lower
from surefoot.stats.score_gains import no_better, score_gain_bound
from surefoot.stats.score_means import score_mean, score_mean_lower

MOST_POLICIES = 1000
MOST_EXACT = 1000
"""Up to so many rollouts a policy the p-value of "it is a best one" is exact."""
RIVALS = 3
"""So many of the highest estimates are compared with every other one, where pairs are tested one by one."""

Policy = Tally | Scores
Policies = Mapping[str, Policy]
UpperBound = Callable[..., Bound]


@dataclass(frozen=True, slots=True)
class Shortlist(Record):
    """The policies that may be the best: a true best one is left out with at most the error.

    Attributes:
        names: Those that may be the best, highest estimate first.
        out: The others, highest estimate first.
        p_values: Of "it is a best one", first of `names`, then of `out`.
        confidence: The chance that a best one is among `names`.
        method: The test behind it.
    """

    names: tuple[str, ...]
    out: tuple[str, ...]
    p_values: tuple[float, ...]
    confidence: float
    method: str

    def __str__(self) -> str:
        many = len(self.names) + len(self.out)
        level = formatting.percent(self.confidence)
        if len(self.names) == 1:
            return f"{self.names[0]} is the best of {many:,} ({level}, {self.method})."
        listed = sentences.listed(self.names)
        return f"{len(self.names):,} of {many:,} may be the best ({level}, {self.method}): {listed}."


@dataclass(frozen=True, slots=True)
class SelectionBias(Record):
    """The expected excess of the highest of several success rates over its own true rate; an estimate, no bound.

    Attributes:
        names: The policies with the highest rate: one, or several that are tied.
        shown: The highest rate.
        bias: By how much the highest is too high on average, were the shown rates the true ones.
        policies: How many it was picked from.
    """

    names: tuple[str, ...]
    shown: float
    bias: float
    policies: int

    @property
    def corrected(self) -> float:
        """The highest rate less the bias."""
        return self.shown - self.bias

    @property
    def matters(self) -> bool:
        """Whether there is one highest, whose rate is too high by half a point or more."""
        return len(self.names) == 1 and self.bias >= 0.005

    @property
    def excess(self) -> str:
        """The rate, and by how much it is probably too high, in words."""
        points = round(100.0 * self.bias)
        about = f"{max(points, 1)} point{'s' if points > 1 else ''}"
        return f"{formatting.number(self.shown)} is probably about {about} too high"

    def __str__(self) -> str:
        rate = formatting.number(self.shown)
        if len(self.names) > 1:
            return f"{sentences.listed(self.names)} are tied for the highest rate of {self.policies:,}, {rate}."
        if not self.matters:
            return f"{self.names[0]}: its {rate}, the highest of {self.policies:,}, is too high by under half a point."
        return f"{self.names[0]}: its {self.excess}, because it was picked as the highest of {self.policies:,}."


def shortlist(
    policies: Policies, *, p_values: Mapping[tuple[str, str], float] | None = None, confidence: float = 0.95
) -> Shortlist:
    """Confidence set for the best of several policies.

    For independent successes the test of "j is a best one" takes the largest pooled z of another policy against j; its
    p-value is the exact maximum over the one rate that all share, certified from above, with no other price for the
    number of policies. Otherwise, and above 1,000 rollouts a policy, it is the smallest one-sided p-value of another
    policy against j, times the number of others.

    Args:
        policies: The tally or the scores of every policy.
        p_values: For any other design (shared conditions, clusters): the one-sided p-value of "the first is no better
            than the second" by the names of both; a pair that is left out counts as 1.
        confidence: The chance that a best one is on the list, at least.

    Assumptions:
        The numbers of rollouts were fixed beforehand. Without `p_values`, all rollouts are independent; with them, each
        p-value is valid, whatever their dependence.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import shortlist
        >>> print(shortlist({"new": Tally(46, 50), "mid": Tally(40, 50), "old": Tally(21, 50)}))
        2 of 3 may be the best (95%, exact maximum of pooled z): new and mid.

    Reference:
        Gupta (1965), "On some multiple decision (selection and ranking) rules", for the subset; the p-value is exact
        for binomial counts.
    """
    confidence, names = _check.confidence(confidence), _ordered(policies)
    found, method = _best_p_values(policies, names, p_values)
    stays = [name for name in names if found[name] > 1.0 - confidence] or names[:1]
    out = [name for name in names if name not in stays]
    in_order = tuple(found[name] for name in (*stays, *out))
    return Shortlist(tuple(stays), tuple(out), in_order, confidence, method)


def simultaneous_confidence(count: int, confidence: float = 0.95, *, independent: bool = True) -> float:
    """The confidence of each of `count` intervals that hold together at `confidence`: Sidak's, or Bonferroni's."""
    error = 1.0 - _check.confidence(confidence)
    if count < 2:
        return float(confidence)
    share = -math.expm1(math.log1p(-error) / count) if independent else error / count
    return 1.0 - share


def held_together(interval: Interval, count: int, confidence: float, *, independent: bool = True) -> Interval:
    """One of `count` intervals, each made at `simultaneous_confidence`, named by what all hold together."""
    if count < 2:
        return interval
    how = "Sidak" if independent else "Bonferroni"
    return replace(interval, confidence=float(confidence), method=f"{how}-over-{count:,} {interval.method}")


def simultaneous_intervals(
    policies: Policies, *, independent: bool = True, confidence: float = 0.95
) -> dict[str, Interval]:
    """Simultaneous confidence intervals for the rate or the mean score of several policies.

    Clopper-Pearson for tallies and Gaffke for scores, each at Sidak's share of the error, or Bonferroni's where
    policies depend on one another. They hold for all policies together, and so for whichever is picked, by any rule.

    Args:
        policies: The tally or the scores of every policy.
        independent: Whether the policies are independent of one another; not so on shared conditions.
        confidence: The chance that all intervals hold, at least.

    Assumptions:
        The numbers of rollouts were fixed beforehand, and the rollouts of each policy are independent.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import simultaneous_intervals
        >>> found = simultaneous_intervals({"new": Tally(46, 50), "mid": Tally(40, 50), "old": Tally(21, 50)})
        >>> print(found["new"])
        92.0% [78.1%, 98.4%] n=50 (95% Sidak-over-3 Clopper-Pearson interval).

    Reference:
        Šidák (1967), "Rectangular confidence regions for the means of multivariate normal distributions"; Dunn (1961),
        "Multiple comparisons among means".
    """
    names = _ordered(policies)
    each = simultaneous_confidence(len(names), confidence, independent=independent)
    return {
        name: held_together(_interval(policies[name], each), len(names), confidence, independent=independent)
        for name in policies
    }


def simultaneous_lower_bounds(
    policies: Policies, *, independent: bool = True, confidence: float = 0.95
) -> dict[str, Bound]:
    """Simultaneous lower confidence bounds for the rate or the mean score of several policies.

    The bound of the policy that was picked holds at the confidence, by whatever rule it was picked.

    Args:
        policies: The tally or the scores of every policy.
        independent: Whether the policies are independent of one another; not so on shared conditions.
        confidence: The chance that all bounds hold, at least.

    Assumptions:
        As for `simultaneous_intervals`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import simultaneous_lower_bounds
        >>> found = simultaneous_lower_bounds({"new": Tally(46, 50), "mid": Tally(40, 50), "old": Tally(21, 50)})
        >>> print(found["new"])
        at least 79.7% n=50 (95% Sidak-over-3 Clopper-Pearson bound).

    Reference:
        As for `simultaneous_intervals`.
    """
    names = _ordered(policies)
    each = simultaneous_confidence(len(names), confidence, independent=independent)
    how = f"{'Sidak' if independent else 'Bonferroni'}-over-{len(names):,}"
    found = {}
    for name, data in policies.items():
        using = clopper_pearson_lower if isinstance(data, Tally) else score_mean_lower
        bound = using(data, confidence=each)  # type: ignore[arg-type]
        found[name] = replace(bound, confidence=float(confidence), method=f"{how} {bound.method}")
    return found


def selection_bias(policies: Mapping[str, Tally]) -> SelectionBias:
    """Expected excess of the highest of several success rates over its own true rate, ties shared.

    Computed exactly, without random numbers, as if the shown rates were the true ones: an estimate without a
    guarantee, to be shown beside a bound that has one.

    Args:
        policies: The tally of every policy.

    Assumptions:
        All rollouts are independent, and each policy has one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import selection_bias
        >>> print(selection_bias({"a": Tally(44, 50), "b": Tally(43, 50), "c": Tally(40, 50)}))
        a: its 88.0% is probably about 3 points too high, because it was picked as the highest of 3.

    Reference:
        Bias of the maximum by the parametric plug-in, as in Efron (2011), "Tweedie's formula and selection bias",
        section 1, but by exact sums.
    """
    from surefoot.numerics.rates.best_of_many import mean_excess

    names = _ordered(policies)
    for name in names:
        _check.instance(policies[name], f"policies[{name!r}]", Tally)
    tallies = [policies[name] for name in names]
    shown = tallies[0].rate
    tied = tuple(name for name in names if policies[name].rate == shown)
    bias = mean_excess([one.rate for one in tallies], [one.trials for one in tallies])
    return SelectionBias(tied, shown, max(0.0, bias), len(names))


def regret_bound(
    policies: Policies, picked: str, *, using: UpperBound | None = None, confidence: float = 0.95
) -> Bound:
    """Upper confidence bound for how far the policy picked is below the best.

    Args:
        policies: The tally or the scores of every policy.
        picked: The name of the one picked, by whatever rule.
        using: The upper bound of the gain of the first over the second, `(first, second, confidence=...)`; exact for
            tallies and Gaffke's for scores if not given. Shared conditions need one of their own.
        confidence: The chance that the bound holds.

    Assumptions:
        The numbers of rollouts were fixed beforehand; what the bound of one pair assumes.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import regret_bound
        >>> print(regret_bound({"new": Tally(46, 50), "mid": Tally(40, 50), "old": Tally(21, 50)}, "new"))
        at most +2.3 points n=150 (95% Bonferroni-over-2 exact unconditional bound).

    Reference:
        Hsu (1984), "Constrained simultaneous confidence intervals for multiple comparisons with the best".
    """
    confidence, names = _check.confidence(confidence), _ordered(policies)
    if picked not in policies:
        raise _check.refused("picked", f"be one of {', '.join(names)}", picked)
    others = [name for name in names if name != picked]
    tallies = [one for one in policies.values() if isinstance(one, Tally)]
    one_size = len(tallies) == len(policies) and len({one.trials for one in tallies}) == 1
    rivals = others[:1] if one_size and using is None else others  # with equal sizes the bound rises in the estimate
    each = 1.0 - (1.0 - confidence) / len(others)
    bounds, mine = list[Bound](), policies[picked]
    for name in rivals:  # the highest first: most of the others are seen not to have a larger bound by one p-value
        if using or not bounds or not _bounded(policies[name], mine, max(one.value for one in bounds), each):
            bounds.append((using or _upper)(policies[name], mine, confidence=each))
    largest = max(bounds, key=lambda bound: bound.value)
    return replace(
        largest,
        value=max(0.0, largest.value),
        estimate=max(0.0, *(bound.estimate for bound in bounds)) if len(bounds) > 1 else max(0.0, largest.estimate),
        confidence=confidence,
        method=f"Bonferroni-over-{len(others):,} {largest.method}" if len(others) > 1 else largest.method,
        trials=sum(_size(one) for one in policies.values()),
    )


def _best_p_values(
    policies: Policies, names: Sequence[str], p_values: Mapping[tuple[str, str], float] | None
) -> tuple[dict[str, float], str]:
    tallies = {name: one for name, one in policies.items() if isinstance(one, Tally)}
    if p_values is None and len(tallies) == len(policies) and max(t.trials for t in tallies.values()) <= MOST_EXACT:
        from surefoot.numerics.rates.best_of_many import HighestOfMany

        kept = [tallies[name] for name in names]
        test = HighestOfMany([one.successes for one in kept], [one.trials for one in kept])
        return {name: test.p_value(place) for place, name in enumerate(names)}, "exact maximum of pooled z"
    if p_values is None:
        p_values = {
            (rival, name): _no_better(policies[rival], policies[name])
            for name in names
            for rival in names[:RIVALS]
            if _estimate(policies[rival]) > _estimate(policies[name])
        }
    for pair, p in p_values.items():
        _check.rate(p, f"p_values[{pair!r}]")
        if pair[0] == pair[1] or not set(pair) <= set(names):
            raise _check.refused("p_values", f"name two of {', '.join(names)}", pair)
    least = {name: min((p for pair, p in p_values.items() if pair[1] == name), default=1.0) for name in names}
    found = {name: min(1.0, (len(names) - 1) * p) for name, p in least.items()}
    return found, f"Bonferroni over {len(names) - 1:,}"


def _no_better(first: Policy, second: Policy) -> float:
    """The one-sided p-value of "the first is no better than the second", from independent rollouts."""
    if isinstance(first, Tally) and isinstance(second, Tally):
        return gain_sides(first, second).better
    return no_better(first, second)  # type: ignore[arg-type]


def _upper(first: Policy, second: Policy, *, confidence: float) -> Bound:
    if isinstance(first, Tally) and isinstance(second, Tally):
        return gain_bounds(first, second, confidence=confidence)[1]
    return score_gain_bound(first, second, "upper", confidence=confidence)  # type: ignore[arg-type]


def _bounded(first: Policy, second: Policy, gain: float, confidence: float) -> bool:
    """Whether the upper bound of the gain in scores is at most this one."""
    if isinstance(first, Tally) or isinstance(second, Tally) or gain >= first.high - first.low:
        return False
    return no_better(second, first, -gain) <= 1.0 - confidence


def _interval(data: Policy, confidence: float) -> Interval:
    if isinstance(data, Tally):
        return clopper_pearson(data, confidence=confidence)
    return score_mean(data, confidence=confidence)


def _estimate(data: Policy) -> float:
    return data.rate if isinstance(data, Tally) else data.mean


def _size(data: Policy) -> int:
    return data.trials if isinstance(data, Tally) else len(data)


def _ordered(policies: Policies) -> list[str]:
    """The names, highest estimate first; refuses what cannot be compared."""
    _check.instance(policies, "policies", Mapping)  # type: ignore[type-abstract]
    if not 2 <= len(policies) <= MOST_POLICIES:
        must = f"hold 2 to {MOST_POLICIES:,} policies; got {len(policies):,}."
        raise _check.wrong("policies", must, policies)
    kinds = {type(one) for one in policies.values()}
    for name, one in policies.items():
        if not isinstance(one, Tally | Scores):
            raise _check.mistyped(f"policies[{name!r}]", "be a Tally or Scores", one)
    if len(kinds) > 1:
        raise _check.wrong("policies", "hold tallies only or scores only; got both.", policies)
    ranges = {(one.low, one.high) for one in policies.values() if isinstance(one, Scores)}
    if len(ranges) > 1:
        raise _check.wrong("policies", f"share one range of scores; got {sorted(ranges)}.", policies)
    return sorted(policies, key=lambda name: -_estimate(policies[name]))
