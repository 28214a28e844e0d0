"""What is known of two policies that are compared, and which method with its data was found to fit?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import Any, Literal

from surefoot import stats
from surefoot.core.gain import Gain
from surefoot.core.moments import Moments
from surefoot.core.notes import Note
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.words import spoken
from surefoot.errors import DataError
from surefoot.table.rollouts import Rollouts
from surefoot.table.structure import Measure, Structure
from surefoot.table.summaries import Group, by_policy

Weigh = Literal["rollouts", "tasks"]
"""How tasks weigh in a gain: by their share of rollouts, or all alike."""

Make = Callable[..., Gain]
"""A method with its data: a gain at the `confidence` and `margin` asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """How two policies are compared: a method with its data, the structure that called for it, and what else to know.

    Attributes:
        structure: What is paired, clustered and stratified.
        make: The method with its data.
        notes: What a reader must know besides.
        tallies: The pairs, or the two tallies, where the gain is exact; None for other methods.
    """

    structure: Structure
    make: Make
    notes: tuple[Note, ...] = ()
    tallies: PairTally | tuple[Tally, Tally] | None = None

    @property
    def comparable(self) -> bool:
        """Whether the two met a common task."""
        return not any(note.kind == "no common task" for note in self.notes)

    def gain(self, *, confidence: float, margin: float, central: bool = False) -> Gain:
        """The gain; with `central`, each end of its interval is a bound by itself: for families and gates."""
        make = self.make
        if central and self.tallies is not None:
            if isinstance(self.tallies, PairTally):
                make = partial(stats.central_paired_gain, self.tallies)
            else:
                make = partial(stats.central_gain, *self.tallies)
        return make(confidence=confidence, margin=margin)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: What is compared.
        weigh: How tasks weigh.
        many: Whether it is one of very many comparisons: what takes seconds each is approximated.
    """

    rollouts: Rollouts
    first: str
    second: str
    measure: Measure
    weigh: Weigh = "rollouts"
    many: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The range of an outcome."""
        return self.rollouts.ends(self.measure)

    def known(self, policy: str) -> list[Group]:
        """What is known of a policy on every task; looked up once for a table."""
        cells = self.rollouts.summary(by=("policy", "task"))
        by = self.rollouts.once(("by policy",), lambda: by_policy(cells))
        return [group for group in by.get(policy, ()) if group.known(self.measure)]

    @property
    def groups(self) -> list[Group]:
        """The counts of the two policies."""
        return [group for group in self.rollouts.summary() if group.key[0] in (self.first, self.second)]

    def scores(self, values: Any) -> Scores:
        """Outcomes, or means of them, as scores; rounding may carry a mean a hair beyond its range."""
        low, high = self.ends
        return Scores([min(high, max(low, float(value))) for value in values], low, high)

    def moments(self, values: Any) -> Moments:
        """How many scores, their mean and variance; the sums do not depend on their order."""
        listed = [float(value) for value in values]
        return Moments.of_sums(len(listed), fsum(listed), fsum(value * value for value in listed), *self.ends)

    def shown(self, make: Make) -> Make:
        """A gain computed from scores, shown in points when it is one of success rates."""
        if self.measure == "score":
            return make

        def made(*, confidence: float, margin: float) -> Gain:
            gain = make(confidence=confidence, margin=margin)
            return replace(gain, interval=replace(gain.interval, scale="gain"))

        return made

    def within(self, tasks: Sequence[object] | None, clusters: Sequence[object]) -> dict[str, Any]:
        """How pairs in clusters are compared within tasks, as arguments.

        Where tasks weigh by their pairs the gain is the same without them: they are left out where one of them lies in
        one cluster, which cannot show how clusters differ.
        """
        if tasks is None:
            return {}
        met: dict[object, set[object]] = {}
        for task, cluster in zip(tasks, clusters, strict=True):
            met.setdefault(task, set()).add(cluster)
        lone = sorted(str(task) for task, own in met.items() if len(own) == 1)
        if lone and self.weigh == "rollouts":
            return {}
        if lone:
            raise DataError(
                f"each {spoken().task} must hold at least 2 clusters for {spoken().tasks} to weigh alike; got 1 on "
                f"{lone[0]!r}. One cluster cannot show how clusters differ: there is no interval.",
                source=self.rollouts.source,
            )
        return {"tasks": tasks, "weights": self.weigh}


def common_tasks(asked: Asked) -> tuple[tuple[str, ...], list[Note]]:
    """The tasks both met, empty where they are compared as one; and what is left out for it."""
    rollouts, measure = asked.rollouts, asked.measure
    if "task" not in rollouts.columns:
        return (), []
    met = [{group.key[1]: group.known(measure) for group in asked.known(name)} for name in (asked.first, asked.second)]
    named = [{task for task in side if task is not None} for side in met]
    if not all(named):  # tasks are not known for one of them: nothing can be held against it
        return (), []
    common = sorted(named[0] & named[1])
    if not common:
        return (), [Note("no common task")]
    every = named[0] | named[1]
    if len(every) == 1 and None not in met[0] | met[1]:
        return (), []
    notes = []
    left = sorted(every - set(common))
    if left:
        notes.append(Note("tasks left out", {"tasks": tuple(left)}))
    nameless = met[0].get(None, 0) + met[1].get(None, 0)
    if nameless:
        notes.append(Note("without a task", {"count": nameless}))
    return tuple(common), notes
