"""Where every policy of a study stands while it is ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from surefoot import stats
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
from surefoot.study.conduct import COUNTS, fates
from surefoot.study.decision import RankingDecision

if TYPE_CHECKING:
    from surefoot.study.state import Fold


@dataclass(frozen=True, slots=True)
class RankedPolicy(Record):
    """One policy of a ranking.

    Attributes:
        policy: Its name.
        best: The best place it can have.
        worst: The worst place it can have.
        letters: It shares a letter with those from which it is not told apart.
        rollouts: Rollouts that counted.
        running: Whether it runs in the next round.
        joined: After how many rounds it joined; 0 from the start.
        interval: Its mean, for reading; none before its first rollout.
        standing: Of a race, where it stands in a word: "running", "out", "settled", "withdrawn" or "named"; of halving
            "running", "stopped" or "picked"; of the best
            few "of the best", "may be of the best" or "out".
    """

    policy: str
    best: int
    worst: int
    letters: str
    rollouts: int
    running: bool
    joined: int
    interval: Interval | None
    standing: str = ""

    @property
    def place(self) -> str:
        """The places it can have, in a word."""
        return f"{self.best}" if self.best == self.worst else f"{self.best} to {self.worst}"


@dataclass(frozen=True, slots=True)
class RankedPair(Record):
    """Two policies of a ranking.

    Attributes:
        first: One of them.
        second: The other.
        verdict: What is claimed of the first.
        open: Whether the question is about them and nothing is claimed yet.
        paused: Whether they will hardly be told apart within the horizon.
        gain: First minus second, in a family of intervals of its own, cut at 0 where the verdict rules out the rest;
            none where it was not asked for, or where the two never met.
    """

    first: str
    second: str
    verdict: Verdict
    open: bool
    paused: bool
    gain: Interval | None


@dataclass(frozen=True, slots=True)
class StudyRanking(Record):
    """A ranking as it stands, the best first.

    Attributes:
        question: What is asked; see `Plan`.
        policies: Every policy.
        pairs: Every two of them.
        said: How much is settled, who is paused and who joined, in sentences.
        waiting: Policies that were added and join after the rounds handed out.
        still: Of a race, how many may still be the best one, of halving how many run on; none for a ranking.
        regret: Of a race, how far below the best its champion is at most, once there is one.
        picks: Whether one is only picked, as by halving: that it is the best is not claimed.
    """

    question: str
    policies: tuple[RankedPolicy, ...]
    pairs: tuple[RankedPair, ...]
    said: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    still: int | None = None
    regret: float | None = None
    picks: bool = False

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.2.0 counted rollouts here; see `Counts`."""
        return {name: value for name, value in body.items() if name not in ("used", "saved", "most")}

    @property
    def open(self) -> tuple[RankedPair, ...]:
        """The pairs that further rounds may still tell apart."""
        return tuple(pair for pair in self.pairs if pair.open and not pair.paused)

    @property
    def paused(self) -> tuple[RankedPair, ...]:
        """The pairs that will hardly be told apart within the horizon."""
        return tuple(pair for pair in self.pairs if pair.paused)


def ranking_of(fold: Fold, *, gains: bool = False) -> StudyRanking | None:
    """The ranking as it stands; none for two policies.

    Args:
        fold: What the log amounts to.
        gains: Whether to tell by how much every two policies differ, which takes longer.
    """
    decision = fold.decision
    if not isinstance(decision, RankingDecision):
        return None
    state, names = decision.state, decision.rule.names
    if decision.rule.finds_one:
        return _race(fold, decision)
    words = dict(zip(names, state.words, strict=False))
    letters = {} if words else dict(zip(state.letters.names, state.letters.letters, strict=True))
    of = dict(zip(names, zip(state.ranks, state.rollouts, strict=True), strict=True))
    late = dict(zip(names, decision.rule.joined, strict=True))
    means = means_of_policies(fold)
    policies = tuple(
        RankedPolicy(
            policy=name,
            best=of[name][0][0],
            worst=of[name][0][1],
            letters=letters.get(name, ""),
            rollouts=of[name][1],
            running=name in state.running,
            joined=late[name],
            interval=means.get(name),
            standing=words.get(name, ""),
        )
        for name in state.letters.names
    )
    pairs = tuple(
        RankedPair(
            first=one,
            second=other,
            verdict=state.verdict(one, other),
            open=bool({(one, other), (other, one)} & set(state.undecided)),
            paused=bool({(one, other), (other, one)} & set(state.paused)),
            gain=_gain_of(state, one, other) if gains else None,
        )
        for place, one in enumerate(state.letters.names)
        for other in state.letters.names[place + 1 :]
    )
    return StudyRanking(
        question=fold.plan.question,
        policies=policies,
        pairs=pairs,
        said=(state.summary, *state.remarks),
        waiting=tuple(name for name in fold.plan.policies if name not in names),
    )


def _gain_of(state: Any, one: str, other: str) -> Interval | None:
    """By how much two policies differ; nothing is known of two that never ran in the same round."""
    found: Interval = state.interval(one, other)
    return found if found.trials else None


ORDER = ("named", "picked", "running", "settled", "withdrawn", "out", "stopped")
PICKED = {"named": "picked", "out": "stopped"}
"""What the words of a race are where one is only picked."""


def _race(fold: Fold, decision: RankingDecision) -> StudyRanking:
    """A race as it stands: whoever is named first, then those that may be the best, then the rest."""
    state, rule, means = cast("Any", decision.state), decision.rule, means_of_policies(fold)
    waiting = tuple(name for name in fold.plan.policies if name not in rule.names)
    words = dict(zip(state.present, state.standings, strict=True)) | ({state.named: "named"} if state.named else {})
    if rule.picks:
        words = {name: PICKED.get(word, word) for name, word in words.items()}
    rows = zip(rule.names, state.ranks, state.rollouts, rule.joined, strict=True)
    policies = [
        RankedPolicy(
            policy=name,
            best=best,
            worst=worst,
            letters="",
            rollouts=used,
            running=name in state.running,
            joined=late,
            interval=means.get(name),
            standing=words.get(name, "joins"),
        )
        for name, (best, worst), used, late in rows
    ]
    height = dict(zip(rule.names, state.estimates, strict=True))
    policies.sort(key=lambda one: (ORDER.index(one.standing) if one.standing in ORDER else 1, -height[one.policy]))
    return StudyRanking(
        question=fold.plan.question,
        policies=tuple(policies),
        pairs=(),
        said=(state.summary, *state.remarks),
        waiting=waiting,
        still=len(state.leaders),
        regret=state.regret,
        picks=rule.picks,
    )


def means_of_policies(fold: Fold) -> dict[str, Interval]:
    """Each policy's rate or mean score with its interval, by the results that count or will; for reading.

    Of a race, whose rollouts are of sizes chosen by looking, by the rounds that it has read, at any moment.
    """
    plan, state = fold.plan, cast("Any", fold.decision.state)
    if fold.decision.rule.finds_one:
        used = zip(state.rule.names, state.rollouts, strict=True)
        return {name: state.mean(name) for name, count in used if count}
    scores: dict[str, list[float]] = {policy: [] for policy in plan.policies}
    for number, fate in fates(fold).items():
        if fate in COUNTS:
            scores[fold.turns[number].policy].append(fold.results[number].score)

    def mean(values: list[float]) -> Interval:
        if plan.measure == "success":
            return stats.wilson(Tally(int(sum(values)), len(values)), confidence=plan.confidence)
        return stats.score_mean(Scores(values, low=plan.low, high=plan.high), confidence=plan.confidence)

    return {policy: mean(values) for policy, values in scores.items() if values}
