"""Confidence sequence of the mean over a finite list of items.

The list is declared, and so are predictions for all of its items if there are any: a simulator's outcomes, a judge's,
the mean of earlier systems. The order is drawn at random. Predictions that are wrong, stale or turned round cost a few
items and break nothing. Against an incumbent that was run in full only the new system runs: the incumbent's own results
are one more predictor, and its mean is the number to beat.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import LISTED_ITEMS, PREDICTED_BEFORE, RANGE_BEFORE_ITEMS
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import list_bets
from surefoot.sequential.history import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from surefoot.numerics.arrays import Floats


@dataclass(frozen=True, slots=True)
class ListMean(Record):
    """The mean of one system over a declared list, from as few items as possible.

    Declare one goal: `within` (stop once the mean is known to so much on both sides), `against` (stop once the mean is
    shown to be above or below a number) or `incumbent` (the same, against a system that was run on every item). The
    interval holds at any moment.

    Attributes:
        population: Items on the list; an item is named by its place, from 0.
        within: Half the width that the interval shall have.
        against: The mean to be compared with.
        incumbent: The incumbent's score on every item, in the order of the list.
        helped_by: A prediction of the score on every item, in the order of the list.
        claim: "either", or "first better" to spend all error on showing that the mean is above.
        confidence: One minus the chance of a wrong verdict, or of an interval that ever leaves out the mean.
        low: The lowest score possible, fixed beforehand.
        high: The highest score possible, fixed beforehand.

    Example:
        >>> from surefoot.sequential import ListMean
        >>> rule = ListMean(6, within=0.1, helped_by=[0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
        >>> state = rule.start()
        >>> for item, score in [(4, 0), (1, 1), (0, 1), (5, 0)]:
        ...     state = rule.step(state, (item, score))
        >>> print(state.interval)
        50.0% [33.3%, 66.7%] n=4 (95% list betting, anytime interval).

    Reference:
        Waudby-Smith and Ramdas (2020), "Confidence sequences for sampling without replacement", for betting on a list;
        the correction by predictions and the stakes are surefoot's own (see docs/finite-lists.md).
    """

    population: int
    _: KW_ONLY
    within: float | None = None
    against: float | None = None
    incumbent: tuple[float, ...] | None = None
    helped_by: tuple[float, ...] | None = None
    claim: Literal["either", "first better"] = "either"
    confidence: float = 0.95
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "population", _check.whole(self.population, "population", least=1))
        set_(self, "confidence", _check.confidence(self.confidence))
        low, high = _check.span(self.low, self.high)
        set_(self, "low", low)
        set_(self, "high", high)
        _check.choice(self.claim, "claim", dict.fromkeys(("either", "first better")))
        for name in ("incumbent", "helped_by"):
            if getattr(self, name) is not None:
                set_(self, name, self._column(getattr(self, name), name))
        goals = [name for name in ("within", "against", "incumbent") if getattr(self, name) is not None]
        if len(goals) != 1:
            got = _check.quoted(tuple(goals)) or "none"
            raise _check.wrong("within", f"be given, or `against` or `incumbent`, one of them; got {got}.", self.within)
        if self.within is not None:
            set_(self, "within", _check.positive(self.within, "within"))
            if self.claim != "either":
                raise _check.wrong(
                    "claim", "be 'either' with `within`: an interval has two ends; got 'first better'.", self.claim
                )
        if self.against is not None:
            set_(self, "against", _check.real(self.against, "against"))
            if not low < self.against < high:
                must = f"lie strictly between the ends of the range, {low:g} and {high:g}"
                raise _check.refused("against", must, self.against)

    def _column(self, values: Any, name: str) -> tuple[float, ...]:
        """One number for every item, within the range."""
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise _check.mistyped(name, "hold one number for each item", values)
        column = tuple(float(v) if isinstance(v, bool | np.bool_) else _check.real(v, name) for v in values)
        if len(column) != self.population:
            must = f"hold one number for each of the {self.population:,} items"
            hint = "Numbers made for other items are no help: all of the list, in its order, before the first outcome."
            raise _check.refused(name, must, len(column), hint)
        for place, value in enumerate(column):
            if not self.low <= value <= self.high:
                must = f"be in the range [{self.low:g}, {self.high:g}]"
                raise _check.wrong(name, f"{must}; got {value:g} for item {place}.")
        return column

    @property
    def width(self) -> float:
        """The width of the score range."""
        return self.high - self.low

    @property
    def error(self) -> float:
        """The chance of a wrong verdict, or of a wrong end, on each side that the rule bets on."""
        return (1.0 - self.confidence) / (2.0 if self.claim == "either" else 1.0)

    @property
    def tested(self) -> float | None:
        """The mean to be compared with, in units of the score; none where there is none."""
        return self.against if self.incumbent is None else math.fsum(self.incumbent) / self.population

    @property
    def predictions_digest(self) -> str:
        """The SHA-256 of all that was known of the items beforehand, to be recorded before the first outcome."""
        known = {"population": self.population, "helped_by": self.helped_by, "incumbent": self.incumbent}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    @property
    def terms(self) -> list_bets.Terms:
        """What is bet on, with scores moved to [0, 1]."""
        columns = [column for column in (self.helped_by, self.incumbent) if column is not None]
        features = np.array(columns, np.float64).reshape(len(columns), self.population) / self.width
        features = features - features.mean(axis=1, keepdims=True)
        tested, within = self.tested, self.within
        return list_bets.Terms(
            features,
            self.error,
            None if within is None else within / self.width,
            None if tested is None else self.moved(tested),
        )

    def moved(self, score: float) -> float:
        """A score as a share of the range."""
        return (score - self.low) / self.width

    def start(self) -> ListMeanState:
        """The state before the first item."""
        none = Trail()
        memory = tuple(list_bets.Bets(self.terms, 1).memory())
        ends = (self.low, self.high)
        return ListMeanState(self, none, none, (none,) * 5, memory, ends, 1.0, Verdict.UNDECIDED)

    def step(self, state: ListMeanState, datum: tuple[int, float]) -> ListMeanState:
        """The state after one more item (its place on the list, its score).

        Raises:
            ValueError: The state is finished or belongs to another rule, the item is not on the list or was run before,
                or the score is outside the range. The state stays what it was.
        """
        if state.rule != self:
            raise _check.wrong("state", f"come from this rule; got a state of {state.rule}", state)
        if state.finished:
            raise _check.wrong("state", f"be unfinished; got one that has ended after {state.run:,} items.", state)
        item, score = self._datum(state, datum)
        terms = self.terms
        bets = list_bets.Bets.resume(terms, state.run, state.memory)
        step = bets.step(np.array([self.moved(score)]), terms.features[:, [item]])
        parts = (step.value, step.least, step.most, *step.stakes)
        found = replace(
            state,
            items=state.items.grown(float(item)),
            scores=state.scores.grown(score),
            bets=tuple(trail.grown(float(part[0])) for trail, part in zip(state.bets, parts, strict=True)),
            memory=tuple(bets.memory()),
        )
        found = replace(found, ends=found.narrowed(state.ends))
        return replace(found, **self._judged(found, bets.log_wealth[:, 0]))

    def _datum(self, state: ListMeanState, datum: Any) -> tuple[int, float]:
        try:
            place, value = datum
        except (TypeError, ValueError):
            raise _check.refused("datum", "be an item and its score (item, score)", datum) from None
        item = _check.whole(place, "item")
        if item >= self.population:
            hint = "A list is not enlarged after the start."
            raise _check.refused("item", f"be on the list, 0 to {self.population - 1:,}", item, hint)
        if float(item) in state.items:
            raise _check.refused("item", "be one that has not been run", item, "An item counts once.")
        score = float(value) if isinstance(value, bool | np.bool_) else _check.real(value, "score")
        if not self.low <= score <= self.high:
            raise _check.refused("score", f"be in the range [{self.low:g}, {self.high:g}]", score)
        return item, score

    def _judged(self, state: ListMeanState, log_wealth: Floats) -> dict[str, Any]:
        """The p-value and the verdict, and ends that do not contradict it."""
        tested = self.tested
        if tested is None:
            return {}
        low, high = state.ends
        sides = 1 if self.claim == "first better" else 2
        p_value = min(1.0, sides * math.exp(-float(log_wealth[:sides].max())))
        slack = list_bets.SLACK * self.width / self.population  # rounding decides nothing
        sure = state.surely[0] > tested + slack, sides == 2 and state.surely[1] < tested - slack
        if any(sure):
            p_value = math.exp(-list_bets.CERTAIN)
        shown = [sure[side] or log_wealth[side] >= -math.log(self.error) for side in range(sides)]
        low = max(low, math.nextafter(tested, math.inf)) if shown[0] else min(low, tested)
        if sides == 2:
            high = min(high, math.nextafter(tested, -math.inf)) if shown[1] else max(high, tested)
        verdict = Verdict.UNDECIDED
        if any(shown):
            verdict = Verdict.BETTER if shown[0] else Verdict.WORSE
            p_value = min(p_value, 1.0 - self.confidence)
        return {"ends": (low, max(low, high)), "p_value": min(state.p_value, p_value), "verdict": verdict}

    def __str__(self) -> str:
        names = {"helped_by": "predictions", "incumbent": "an incumbent"}
        known = " and ".join(word for name, word in names.items() if getattr(self, name) is not None)
        goal = (
            f"its mean to within {self.within:g}"
            if self.within is not None
            else f"whether its mean is above {'or below ' if self.claim == 'either' else ''}{self.tested:g}"
        )
        listed = f"a list of {self.population:,} items, met in random order{', with ' + known if known else ''}"
        return f"One system on {listed}: {goal} ({formatting.percent(self.confidence)} over all looks)."


@dataclass(frozen=True, slots=True)
class ListMeanState(Record):
    """What `ListMean` knows after some items.

    Attributes:
        rule: The rule it belongs to.
        items: The places of the items run, in order.
        scores: Their scores.
        bets: What the ends rest on: the corrected scores, the least and the most each could be, the stakes of both
            sides.
        memory: What the next stake needs.
        ends: Between which the mean lies, at every moment so far.
        p_value: Of the mean tested, valid at any moment; 1 where none is.
        verdict: Whether the mean is above (BETTER) or below the one tested; UNDECIDED until then.
    """

    rule: ListMean
    items: Trail
    scores: Trail
    bets: tuple[Trail, ...]
    memory: tuple[float, ...]
    ends: tuple[float, float]
    p_value: float
    verdict: Verdict

    @property
    def run(self) -> int:
        """Items run."""
        return len(self.scores)

    @property
    def finished(self) -> bool:
        """Whether the goal is reached, or the list is at its end."""
        if self.run == self.rule.population or self.verdict is not Verdict.UNDECIDED:
            return True
        within, (low, high) = self.rule.within, self.ends
        return within is not None and high - low <= 2.0 * within + list_bets.CLOSE * self.rule.width

    def narrowed(self, ends: tuple[float, float]) -> tuple[float, float]:
        """The ends after the last item, never wider than before it."""
        rule, target = self.rule, -math.log(self.rule.error)
        course = self._course()
        found = [rule.moved(end) for end in ends]
        for side in (0, 1) if rule.claim == "either" else (0,):
            now = np.array([found[side]])
            if float(course.log_paths(now, side)[-1, 0]) >= target:  # otherwise the end has not moved
                found[side] = float(course.ends(side, target, now)[0])
        low, high = (rule.low + rule.width * end for end in found)
        low, high = max(ends[0], low, self.surely[0]), min(ends[1], high, self.surely[1])
        return low, max(low, high)

    @property
    def surely(self) -> tuple[float, float]:
        """The least and the largest mean that the list can still have."""
        rule, done = self.rule, math.fsum(self.scores)
        left = rule.population - self.run
        return (done + left * rule.low) / rule.population, (done + left * rule.high) / rule.population

    def _course(self) -> list_bets.Course:
        outcomes = (self.scores.array() - self.rule.low) / self.rule.width
        value, least, most, up, down = (trail.array()[:, None] for trail in self.bets)
        return list_bets.Course(self.rule.population, outcomes[:, None], value, least, most, np.stack([up, down]))

    @property
    def estimate(self) -> float:
        """The mean of the whole list, estimated: what was seen, and for the rest what predictions make of it."""
        if not self.run:
            return (self.rule.low + self.rule.high) / 2.0
        rule, terms = self.rule, self.rule.terms
        bets = list_bets.Bets.resume(terms, self.run, self.memory)
        seen, left = float(bets.sum[0]) / self.run, rule.population - self.run
        ahead = -bets.feature_sums[:, 0] / max(left, 1) - bets.feature_sums[:, 0] / self.run
        rest = min(1.0, max(0.0, seen + float(bets.slopes()[:, 0] @ ahead)))
        share = (self.run * seen + left * rest) / rule.population
        return min(self.ends[1], max(self.ends[0], rule.low + rule.width * share))

    @property
    def explained(self) -> float:
        """The share of the scores' variance, among the items run, that the predictions explained; 0 without any."""
        rule = self.rule
        scores = (self.scores.array() - rule.low) / rule.width
        if self.run < 2 or not float(np.var(scores)):
            return 0.0
        return max(0.0, 1.0 - float(np.var(self.bets[0].array()) / np.var(scores)))

    @property
    def saved(self) -> float:
        """About how many items more the same answer would have taken without the predictions."""
        items = self.rule.population
        if self.run == items:
            return 0.0
        alone = self.run / (1.0 - self.run / items) / max(1.0 - self.explained, 1e-9)
        return alone / (1.0 + alone / items) - self.run

    @property
    def interval(self) -> Interval:
        """Where the mean of the whole list lies, valid at any moment."""
        rule = self.rule
        binary = (rule.low, rule.high) == (0.0, 1.0) and bool(np.isin(self.scores.array(), (0.0, 1.0)).all())
        return Interval(
            low=self.ends[0],
            high=self.ends[1],
            estimate=self.estimate,
            confidence=rule.confidence,
            method="list betting, anytime",
            trials=self.run,
            scale="rate" if binary else "score",
            assumptions=(LISTED_ITEMS, *((PREDICTED_BEFORE,) if self._helped else ()), RANGE_BEFORE_ITEMS),
            notes=self.notes,
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the answer is about, and what the predictions gave."""
        about = Note("of these items", {"items": self.rule.population, "run": self.run})
        if not self._helped:
            return (about,)
        return (about, Note("predictions", {"explained": self.explained, "saved": round(self.saved)}))

    @property
    def _helped(self) -> bool:
        return self.rule.helped_by is not None or self.rule.incumbent is not None

    def on_the_list(self, first: str = "the system") -> Note:
        """What is known of the list, said so that nobody takes it for other items.

        Raises:
            ValueError: The rule compares with nothing.
        """
        rule = self.rule
        if rule.tested is None:
            raise ValueError("The rule must compare with a mean or an incumbent; got one that does not.")
        said = {"first": first, "verdict": self.verdict.value, "claim": rule.claim}
        size = {"items": rule.population, "run": self.run, "confidence": rule.confidence}
        return Note("verdict on these items", {**said, **size})

    def __str__(self) -> str:
        said = str(self.interval) if self.rule.tested is None else str(self.on_the_list())
        return " ".join([said, *map(str, self.notes[1:])])


def run_list(rule: ListMean, data: Iterable[tuple[int, float]]) -> list[ListMeanState]:
    """What would have been known after each item (its place on the list, its score)? The states, up to the last needed.

    Items after the rule has finished are not looked at.

    Example:
        >>> from surefoot.sequential import ListMean, run_list
        >>> states = run_list(ListMean(40, against=0.5), ((item, 1.0) for item in range(40)))
        >>> states[-1].run, states[-1].verdict.value
        (7, 'better')
    """
    state, states = rule.start(), []
    for datum in data:
        state = rule.step(state, datum)
        states.append(state)
        if state.finished:
            break
    return states
