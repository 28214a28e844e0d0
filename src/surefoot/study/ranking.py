"""Where does every policy of a study stand while it is ranked, what is still open, and by how much do they differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import stats
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
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
    """

    policy: str
    best: int
    worst: int
    letters: str
    rollouts: int
    running: bool
    joined: int
    interval: Interval | None

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
        gain: First minus second, in a family of intervals of its own; none where it was not asked for.
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
        used: Rollouts that counted.
        saved: Rollouts that the policies which run no more are not asked for.
        most: The most rollouts there can be.
        waiting: Policies that were added and join after the rounds handed out.
    """

    question: str
    policies: tuple[RankedPolicy, ...]
    pairs: tuple[RankedPair, ...]
    said: tuple[str, ...]
    used: int
    saved: int
    most: int
    waiting: tuple[str, ...] = ()

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
    state, names, horizon = decision.state, decision.rule.names, fold.plan.horizon
    letters = dict(zip(state.letters.names, state.letters.letters, strict=True))
    of = dict(zip(names, zip(state.ranks, state.rollouts, strict=True), strict=True))
    late = dict(zip(names, decision.rule.joined, strict=True))
    means = means_of_policies(fold)
    policies = tuple(
        RankedPolicy(
            policy=name,
            best=of[name][0][0],
            worst=of[name][0][1],
            letters=letters[name],
            rollouts=of[name][1],
            running=name in state.running,
            joined=late[name],
            interval=means.get(name),
        )
        for name in state.letters.names
    )
    known = {name for name in names if of[name][1]}
    pairs = tuple(
        RankedPair(
            first=one,
            second=other,
            verdict=state.verdict(one, other),
            open=bool({(one, other), (other, one)} & set(state.undecided)),
            paused=bool({(one, other), (other, one)} & set(state.paused)),
            gain=state.interval(one, other) if gains and {one, other} <= known else None,
        )
        for place, one in enumerate(state.letters.names)
        for other in state.letters.names[place + 1 :]
    )
    return StudyRanking(
        question=fold.plan.question,
        policies=policies,
        pairs=pairs,
        said=(state.summary, *state.remarks),
        used=state.rollouts_used,
        saved=sum(max(0, horizon - of[name][1]) for name in names if name not in state.running),
        most=horizon * len(fold.plan.policies),
        waiting=tuple(name for name in fold.plan.policies if name not in names),
    )


def means_of_policies(fold: Fold) -> dict[str, Interval]:
    """Each policy's rate or mean score with its interval, by all its results that were not voided; for reading."""
    plan = fold.plan
    scores: dict[str, list[float]] = {policy: [] for policy in plan.policies}
    for number, result in sorted(fold.results.items()):
        turn = fold.turns[number]
        if turn.block not in fold.voids:
            scores[turn.policy].append(result.score)

    def mean(values: list[float]) -> Interval:
        if plan.measure == "success":
            return stats.wilson(Tally(int(sum(values)), len(values)), confidence=plan.confidence)
        return stats.score_mean(Scores(values, low=plan.low, high=plan.high), confidence=plan.confidence)

    return {policy: mean(values) for policy, values in scores.items() if values}
