"""The protocol of sequential rules, and their states after each pair.

A rule is frozen and declared before the first rollout. `start()` gives the state of knowing nothing and
`step(state, pair)` the state after one more pair, so that live use, replay, history and undo are one code path. A state
never moves: a refused step leaves it as it was. The first-named policy comes first in every pair, and every verdict
and gain is about it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

from surefoot import _check
from surefoot._arguments import in_python, write
from surefoot.core import formatting, sentences
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.registry import Environments as Environments
from surefoot.sequential.registry import Offered, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.sequential.after_stop import IntervalKind
    from surefoot.sequential.exact_rules import Standing


Claim = Literal["first better", "first not worse", "either", "same"]
"""What the rule may find: see `Rule.claim`."""
Ending = Literal["verdict", "horizon", "out of reach", "futility"]
"""Why a run has ended: see `State.ending`."""
MOST_FUTILITY = 0.2
"""A larger chance of a verdict than this is not given up."""

Chances = tuple[tuple[float, ...], dict[str, float]]
"""The chance to stop after exactly 1, 2, ... pairs, and of every verdict by name."""

S = TypeVar("S", bound="State[Any]")
R = TypeVar("R", bound="Rule[Any]")

CLAIMED: dict[str, frozenset[Verdict]] = {
    "first better": frozenset({Verdict.BETTER}),
    "first not worse": frozenset({Verdict.BETTER}),
    "either": frozenset({Verdict.BETTER, Verdict.WORSE}),
    "same": frozenset({Verdict.SAME}),
}
"""The verdicts each claim can end in, besides being undecided."""


@dataclass(frozen=True, slots=True)
class Rule(Generic[S], Offered, ABC):
    """A sequential test, declared before the first pair.

    Attributes:
        horizon: The most pairs that will be run. The error is kept whatever is run of them.
        confidence: One minus the chance of a wrong verdict, over all looks together.
        claim: "first better" spends the whole error on one side and never says WORSE; "either" spends half of it on
            each side; "first not worse" (needs a margin) shows that the gain is above minus the margin; "same"
            (needs a margin) shows that it is within the margin on both sides.
        low: The lowest score possible, fixed beforehand.
        high: The highest score possible, fixed beforehand.
        margin: A gain that would not matter, in units of the score. "first better" and "either" then show a gain (or
            loss) above the margin.
    """

    horizon: int = 200
    _: KW_ONLY
    confidence: float = 0.95
    claim: Claim = "first better"
    low: float = 0.0
    high: float = 1.0
    margin: float = 0.0

    # What a kind of rule can do besides what `Offered` lists.
    questions: ClassVar[tuple[str, ...] | None] = ("ranking",)  # two policies have one question: the claim
    futility: ClassVar[float] = 0.0
    population: ClassVar[int | None] = None  # the length of the list that the claim is about, if it is about one
    binary_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "horizon", _check.whole(self.horizon, "horizon", least=1))
        set_(self, "confidence", _check.confidence(self.confidence))
        for name, end in zip(("low", "high"), _check.span(self.low, self.high), strict=True):
            set_(self, name, end)
        set_(self, "margin", _check.margin(self.margin))
        if self.claim not in self.claims:
            raise _check.refused("claim", f"be one of {', '.join(self.claims)}", self.claim)
        if self.margin and not self.takes_margin:
            hint = f"The betting rules, such as {in_python('FiniteHorizonMixture', 'mixture')}, take a margin."
            raise _check.refused("margin", f"be 0 for {self.title}", self.margin, hint)
        if self.margin >= self.width:
            raise _check.refused("margin", "be below the width of the score range", self.margin)
        if self.claim in ("first not worse", "same") and not self.margin:
            raise _check.wrong("margin", f"be above 0 for the claim {self.claim!r}; got 0.", self.margin)
        if self.claim == "same" and self.confidence <= 0.5:
            raise _check.wrong(
                "confidence", f"be above 0.5 for the claim 'same'; got {self.confidence:g}.", self.confidence
            )

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting; for successes and failures, scored 1 and 0, or for scores."""
        return cls(**cls.declared(setting))

    @classmethod
    def declared(cls, setting: Setting) -> dict[str, Any]:
        """What every rule on two policies is told."""
        if setting.futility and not cls.gives_up:
            must = f"be 0 for {cls.title}, which cannot stop for it"
            raise _check.refused("futility", must, setting.futility)
        if setting.population is not None and cls.lists == "none":
            must = f"be left out for {cls.title}, whose claim is not about a list"
            raise _check.refused("population", must, setting.population)
        if setting.population not in (None, setting.horizon) and cls.lists == "whole":
            must = f"be the horizon, {setting.horizon:,}, for {cls.title}"
            raise _check.refused("population", must, setting.population)
        told: dict[str, Any] = {"horizon": setting.horizon, "confidence": setting.confidence, "claim": setting.claim}
        told |= {"low": setting.low, "high": setting.high, "margin": setting.margin}
        return told | ({"futility": setting.futility} if cls.gives_up else {})

    @property
    def error(self) -> float:
        """The chance of a wrong verdict in each direction that the rule allows."""
        return (1.0 - self.confidence) / (2.0 if self.claim == "either" else 1.0)

    @property
    def width(self) -> float:
        """The width of the score range."""
        return self.high - self.low

    @abstractmethod
    def start(self) -> S:
        """The state before the first pair."""

    @abstractmethod
    def advance(self, state: S, first: float, second: float) -> S:
        """The state after a pair that `step` has checked. Written by each rule; call `step`."""

    def operating(self, first: float, second: float, *, curtailed: bool = True) -> Chances | None:  # noqa: ARG002
        """The chance to stop after exactly 1, 2, ... pairs, and of every verdict, at these success rates.

        None for a rule that cannot compute them: it is simulated.
        """
        return None

    def tied(self, first: float, second: float, both: float, *, curtailed: bool = True) -> Chances | None:  # noqa: ARG002
        """As `operating`, when both policies succeed in the share `both` of the environments."""
        return None

    def play(self, first: Floats, second: Floats) -> tuple[Ints, NDArray[np.int8]]:
        """Stopping times and verdict codes (see `CODES`) of many sequences, one per row; call `simulate`.

        Rules override this one-by-one loop with an array computation that gives the same.
        """
        import numpy as np

        times = np.empty(len(first), np.int64)
        codes = np.empty(len(first), np.int8)
        for row, (ones, others) in enumerate(zip(first, second, strict=True)):
            state: S = self.start()
            for one, other in zip(ones[: self.horizon], others, strict=False):
                state = self.advance(state, float(one), float(other))
                if state.finished:
                    break
            times[row], codes[row] = state.pairs, CODES.index(state.verdict)
        return times, codes

    def step(self, state: S, pair: tuple[float, float]) -> S:
        """The state after one more pair (first, second).

        Raises:
            ValueError: The state is finished or belongs to another rule, or a score is outside the range. The state
                stays what it was.
        """
        if state.rule != self:
            raise _check.wrong("state", f"come from this rule; got a state of {state.rule}", state)
        if state.verdict is not Verdict.UNDECIDED:
            raise _check.wrong(
                "state", f"be undecided; got the verdict {state.verdict.value!r}. A verdict is final.", state
            )
        if state.pairs >= self.horizon:
            raise _check.wrong(
                "state",
                f"be before the horizon of {self.horizon} pairs; got {state.pairs} pairs. "
                "The declared number of pairs has been run.",
                state,
            )
        if state.ending == "futility":
            hint = "To continue anyway, step from `override(state)`."
            raise _check.wrong("state", "be unfinished; got one that stopped for futility.", state, hint)
        if state.finished:
            raise _check.wrong("state", "be unfinished; got one from which no verdict can be reached any more.", state)
        first, second = self.scores(pair)
        return self.advance(state, first, second)

    def override(self, state: S) -> S:
        """The state that goes on although the rule has stopped for futility.

        It never stops for futility again. Its p-value and verdict hold as before; its interval is the one that holds
        at any moment, also once it has ended, and its estimate the observed gain.

        Raises:
            ValueError: The state belongs to another rule, or has not stopped for futility.
        """
        if state.rule != self:
            raise _check.wrong("state", f"come from this rule; got a state of {state.rule}", state)
        if state.ending != "futility":
            got = "one that goes on" if state.ending is None else f"one that ended by {state.ending!r}"
            raise _check.wrong("state", f"have stopped for futility to be overridden; got {got}.", state)
        return replace(state, overridden=True)

    def scores(self, pair: Any) -> tuple[float, float]:
        """Both scores of a pair, checked against the range.

        Raises:
            ValueError: A score is NaN, outside the range, or neither end of it where the rule takes only those.
        """
        try:
            first, second = pair
        except (TypeError, ValueError):
            raise _check.refused("pair", "be two scores (first, second)", pair) from None
        return self._score(first, "first"), self._score(second, "second")

    def _score(self, value: Any, name: str) -> float:
        number = in_range(value, name, self.low, self.high)
        if self.binary_only and number not in (self.low, self.high):
            hint = f"Use {in_python('FiniteHorizonMixture', 'mixture')} for scores."
            must = f"be {self.low:g} or {self.high:g} for {self.title}"
            raise _check.refused(name, must, number, hint)
        return number

    @property
    def finding(self) -> str:
        """What the rule may show, in words."""
        return sentences.claimed(self.claim, self.margin)

    def __str__(self) -> str:
        return (
            f"{self.title}, at most {self.horizon:,} pairs: shows that {self.finding} "
            f"({formatting.percent(self.confidence)} over all looks)."
        )


CODES = (Verdict.UNDECIDED, Verdict.BETTER, Verdict.WORSE, Verdict.SAME)
"""What the small integers that `Rule.play` returns stand for."""


@dataclass(frozen=True, slots=True)
class State(Generic[R], Record, ABC):
    """What a rule knows after some pairs.

    Attributes:
        rule: The rule it belongs to.
        pairs: Pairs seen.
        p_value: Valid at any moment, whatever made you look; it never rises.
        verdict: What has been decided; UNDECIDED until then, and final after.
        overridden: Whether it went on although the rule had stopped for futility.
    """

    rule: R
    pairs: int
    p_value: float
    verdict: Verdict
    overridden: bool = field(default=False, kw_only=True)

    @property
    def ending(self) -> Ending | None:
        """Why no further pair may be added: a verdict, the horizon, no verdict in reach, or declared futility.

        None while the rule goes on.
        """
        if self.verdict is not Verdict.UNDECIDED:
            return "verdict"
        if self.pairs >= self.rule.horizon:
            return "horizon"
        if self.hopeless:
            return "out of reach"
        return "futility" if self.futile and not self.overridden else None

    @property
    def evidence(self) -> float | None:
        """How strongly the pairs speak for the claim; none for a rule that does not decide by it."""
        return None

    @property
    def standing(self) -> Standing | None:
        """Where the counts stand in the region in which the rule goes on; none for a rule without one."""
        return None

    @property
    def finished(self) -> bool:
        """Whether no further pair may be added."""
        return self.ending is not None

    @property
    def hopeless(self) -> bool:
        """Whether no verdict can be reached any more, so that further pairs would change nothing."""
        return False

    @property
    def futile(self) -> bool:
        """Whether the chance of a verdict is below the rule's declared `futility`."""
        return False

    @property
    def observed(self) -> float:
        """The mean gain of the pairs seen, in units of the score; 0 before the first.

        A verdict that comes early tends to overstate it.
        """
        return self.interval.estimate

    @property
    def estimate(self) -> float:
        """The gain, estimated: the observed one, where nothing better is known."""
        return self.observed

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """Where the gain lies, valid at any moment; in units of the score."""

    @property
    def anytime_interval(self) -> Interval:
        """Where the gain lies, valid at any moment, whatever made you look."""
        return self.interval

    @property
    def interval_kind(self) -> IntervalKind:
        """When `interval` holds."""
        return "anytime"

    @classmethod
    def undecided(cls, rule: R, **more: Any) -> Self:
        """The state before the first pair."""
        return cls(rule=rule, pairs=0, p_value=1.0, verdict=Verdict.UNDECIDED, **more)

    def __str__(self) -> str:
        looks = f"after {formatting.counted(self.pairs, 'pair')}, {formatting.p_value(self.p_value)}"
        if self.verdict is not Verdict.UNDECIDED:
            return f"Decided {looks}: {sentences.shown(self.verdict, self.rule.claim, self.rule.margin)}."
        if self.ending == "futility":
            chance, most = formatting.percent(self.rule.futility), formatting.counted(self.rule.horizon, "pair")
            return f"Undecided {looks}: stopped, the chance of a verdict within {most} is below {chance}."
        return f"{'Undecided at the end' if self.finished else 'Undecided'} {looks}."


def checked_futility(value: Any) -> float:
    """The chance of a verdict below which a rule gives up."""
    number = _check.real(value, "futility")
    if not 0.0 <= number <= MOST_FUTILITY:
        hint = "It is the chance of a verdict below which the rule gives up; 0 for never."
        raise _check.refused("futility", f"be between 0 and {MOST_FUTILITY:g}", value, hint)
    return number


def in_range(value: Any, name: str, low: float, high: float) -> float:
    """A score inside the range of its rule; a boolean is 1 or 0."""
    import numpy as np

    number = float(value) if isinstance(value, bool | np.bool_) else _check.real(value, name)
    if not low <= number <= high:
        hint = f"Give the rule the range of the score beforehand: {write('low')} and {write('high')}."
        raise _check.refused(name, f"be in the range [{low:g}, {high:g}]", number, hint)
    return number


def log_target(rule: Rule[Any]) -> float:
    """The log-evidence at which a direction of the rule decides."""
    return -math.log(rule.error)
