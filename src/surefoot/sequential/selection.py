"""Rules that find one of many policies, and their states."""

from __future__ import annotations

import hashlib
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting.race_bets import running_low
from surefoot.sequential.history import Trail
from surefoot.sequential.registry import Setting
from surefoot.sequential.round_rules import MOST, RoundRule, Standing, ranked
from surefoot.sequential.rules import in_range
from surefoot.stats.letters import Letters, compact_letters
from surefoot.stats.means import betting_sequence

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Ints

S = TypeVar("S", bound="SelectionState")


@dataclass(frozen=True, slots=True)
class SelectionRule(RoundRule[S]):
    """A rule that finds one of 2 to 1,000 policies.

    Attributes:
        budget: The most rollouts of all policies together.
        seed: Draws the order in which ties are broken; it does not depend on the order of the names.
    """

    _: KW_ONLY
    budget: int | None = None
    seed: int = 0

    policies: ClassVar[tuple[int, int | None]] = (2, MOST)
    questions: ClassVar[tuple[str, ...]] = ("best", "best or tied")
    finds_one: ClassVar[bool] = True

    @classmethod
    def questioned(cls, setting: Setting) -> dict[str, Any]:
        """What such a rule is told; a question that it does not answer is refused."""
        if setting.question not in cls.questions:
            raise _check.refused("question", f"be 'best' for {cls.title}", setting.question)
        return ranked(setting) | {"budget": setting.budget}

    def __post_init__(self) -> None:
        RoundRule.__post_init__(self)
        if len(self.names) > MOST:
            raise _check.wrong("names", f"be at most {MOST:,} policies; got {len(self.names):,}.", self.names)
        _check.whole(self.seed, "seed")

    @property
    def games(self) -> int:
        """A bet on, or a mean for, every policy."""
        return len(self.names)

    def score(self, value: Any, name: str) -> float:
        """One score, in the range; where all are declared to be successes and failures, one of these."""
        kept = in_range(value, f"scores[{name!r}]", self.low, self.high)
        if self.binary and kept not in (self.low, self.high):
            raise _check.refused(f"scores[{name!r}]", "be a success or a failure, as `binary` says", kept)
        return kept

    def places(self, size: int) -> Ints:
        """The place of each of the first so many policies among ties, drawn by the seed from its name alone."""
        keys = [hashlib.sha256(f"{self.seed} {name}".encode()).digest() for name in self.names[:size]]
        return np.argsort(np.argsort(np.array([int.from_bytes(key[:7], "big") for key in keys])))[None]


class SelectionState(Standing):
    """A state of a rule that finds one policy: each stands somewhere, and its mean has bounds valid at any moment."""

    __slots__ = ()

    standings: tuple[str, ...]
    history: tuple[Trail, ...]
    named: str | None

    @property
    def present(self) -> tuple[str, ...]:
        """The policies that have joined."""
        names: tuple[str, ...] = self.rule.names
        return names[: len(self.standings)]

    def _those(self, word: str) -> tuple[str, ...]:
        return tuple(name for name, said in zip(self.present, self.standings, strict=True) if said == word)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:  # type: ignore[override]
        """Undecided for every pair: one policy is found, and none are ranked."""
        return (Verdict.UNDECIDED,) * len(self.rule.pairs)

    def verdict(self, first: str, second: str) -> Verdict:
        """Undecided: one policy is found, and no two are told apart."""
        if first == second or not {first, second} <= set(self.rule.names):
            raise _check.refused("second", f"be another of {', '.join(self.rule.names)}", second)
        return Verdict.UNDECIDED

    def _place(self, name: str) -> int:
        names: tuple[str, ...] = self.rule.names
        _check.choice(name, "name", dict.fromkeys(names))
        return names.index(name)

    @property
    def letters(self) -> Letters:
        """All share a letter: no two policies are told apart."""
        order = sorted(zip((-one for one in self.estimates), self.rule.names, strict=True))
        return compact_letters([name for _, name in order], [])

    def lower(self, name: str) -> float:
        """The lower bound of a policy's mean, valid at any moment, for all policies together."""
        return self._bound(self._place(name), (1.0 - self.rule.confidence) / len(self.rule.names))[0]

    def mean(self, name: str) -> Interval:
        """A policy's mean, in an interval valid at any moment; those of all policies hold together."""
        rule, place = self.rule, self._place(name)
        low, high = self._bound(place, (1.0 - rule.confidence) / (2 * len(rule.names)))
        told: dict[str, Any] = {"confidence": rule.confidence, "method": "anytime, all policies together"}
        told["scale"] = "rate" if rule.binary else "score"
        return Interval(low, high, self.estimates[place], trials=self.rollouts[place], **told)

    def _bound(self, place: int, error: float) -> tuple[float, float]:
        """Anytime lower and upper bounds, each at this error."""
        rule = self.rule
        width, used = rule.high - rule.low, self.rollouts[place]
        if not used:
            return rule.low, rule.high
        trail = self.history[place].array() if rule.binary is not True else np.empty(0)
        if rule.binary is True or np.isin(trail, (0.0, 1.0)).all():
            wins = round((self.totals[place] - used * rule.low) / width)
            low, high = running_low(wins, used - wins, error), 1.0 - running_low(used - wins, wins, error)
        else:
            seen = betting_sequence(Scores(trail.tolist(), 0.0, 1.0), confidence=1.0 - 2.0 * error).latest
            low, high = seen.low, seen.high
        return rule.low + width * low, rule.low + width * high

    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second, valid at any moment: from the bounds of all policies' means."""
        self.verdict(first, second)  # refuses unknown names
        rule = self.rule
        share = (1.0 - rule.confidence) / (2 * len(rule.names))
        a, b = self._place(first), self._place(second)
        (low, high), (least, most) = self._bound(a, share), self._bound(b, share)
        gain = self.estimates[a] - self.estimates[b]
        scale: formatting.Scale = "gain" if rule.binary else "score gain"
        method = "anytime bounds of all policies"
        return Interval(low - most, high - least, gain, confidence=rule.confidence, method=method, scale=scale)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The bound of the one named, in a sentence, and who joined when."""
        said = list(self.joinings)
        if self.named:
            bound = formatting.number(self.lower(self.named), "rate" if self.rule.binary else "score", "down")
            verb = "succeeds in" if self.rule.binary else "scores"
            level, count = formatting.percent(self.rule.confidence), len(self.rule.names)
            said.insert(0, f"{self.named} {verb} at least {bound} ({level}, at any moment, for all {count} together).")
        return tuple(said)

    @property
    def summary(self) -> str:
        """What is known and after how much, in a sentence."""
        so_far = f"{formatting.counted(self.rounds, 'round')} and {formatting.rollouts(self.rollouts_used)}"
        return f"{self.claim} After {so_far}."

    def __str__(self) -> str:
        width = max(len(name) for name in self.present)
        rows = list(zip(self.standings, self.estimates, self.present, self.rollouts, strict=False))
        rows.sort(key=lambda row: (row[0] == "out", -row[1]))
        said = [f"{name:<{width}}  {word}  {formatting.rollouts(used)}" for word, _, name, used in rows]
        return "\n".join([*said, self.summary, *self.remarks])
