"""In which order do the scores of several tasks enter a bet, and which rollouts of two policies face each other?

A betting interval promises its confidence when no stretch of the rollouts has a mean of its own. Files mostly hold one
task after the other, and tasks differ, so tasks take turns here. Within a task the recorded order stays. The order
follows from the names of the tasks alone, never from a score, so nothing is lost where tasks do not differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.core.scores import Scores
from surefoot.rollouts.canon import small

if TYPE_CHECKING:
    from surefoot.analysis.measures import Measure
    from surefoot.rollouts.pairs import Pairs
    from surefoot.rollouts.table import Rollouts

Label = str | None


def in_turn(tasks: Sequence[Label]) -> list[int]:
    """The places of rollouts so that tasks take turns, each spread evenly from the first place to the last.

    Example:
        >>> in_turn(["cut", "cut", "cut", "cut", "pour", "pour"])
        [0, 4, 1, 2, 5, 3]
    """
    sizes, seen = Counter(tasks), Counter[Label]()
    keys = []
    for place, task in enumerate(tasks):
        keys.append(((seen[task] + 0.5) / sizes[task], str(task), place))
        seen[task] += 1
    return [place for _, _, place in sorted(keys)]


def task_labels(rollouts: Rollouts, measure: Measure) -> list[Label]:
    """The task of each rollout of one policy whose outcome is known, in recorded order; None where there are none."""
    if "task" not in rollouts.columns:
        known = sum(group.known(measure) for group in rollouts.summary(by=()))
        return [None] * known
    home = small(rollouts.in_order("task", measure))
    return [task for task, value in zip(home["task"], home[measure], strict=True) if value is not None]


def scores_in_turn(rollouts: Rollouts) -> Scores:
    """The scores of the one policy in the table, tasks in turn."""
    scores = rollouts.scores()
    if "task" not in rollouts.columns:
        return scores
    return _reordered(scores, in_turn(task_labels(rollouts, "score")))


def by_name(pairs: Pairs) -> Pairs:
    """The same pairs whichever policy is asked about, in the order in which the first by name was run."""
    if pairs.first <= pairs.second:
        return pairs
    return replace(
        pairs,
        first=pairs.second,
        second=pairs.first,
        first_alone=pairs.second_alone,
        second_alone=pairs.first_alone,
    )


def in_pairs(pairs: Pairs, measure: Measure) -> tuple[Scores, Scores]:
    """Both policies' outcomes, pair by pair, in the order of `by_name`."""
    named = by_name(pairs)
    if measure == "score":
        one, other = named.scores()
    else:
        one, other = (Scores(side) for side in zip(*named.values("success"), strict=True))
    return (one, other) if named is pairs else (other, one)


def pairs_in_turn(pairs: Pairs) -> tuple[Scores, Scores]:
    """Both policies' scores, pair by pair, tasks in turn."""
    one, other = in_pairs(pairs, "score")
    if "task" not in pairs.rollouts.columns:
        return one, other
    tasks = by_name(pairs).labels(("task",), "score")
    order = in_turn([None if task is None else str(task) for (task,) in tasks])
    return _reordered(one, order), _reordered(other, order)


def by_task(values: Sequence[float], tasks: Sequence[Label]) -> dict[Label, list[float]]:
    """The values of each task, in recorded order."""
    found: dict[Label, list[float]] = {}
    for value, task in zip(values, tasks, strict=True):
        found.setdefault(task, []).append(value)
    return found


def unequal(first: Mapping[Label, int], second: Mapping[Label, int], limit: float) -> bool:
    """Whether two policies met tasks in shares further apart than `limit` (total variation)."""
    shares = [{task: count / max(1, sum(side.values())) for task, count in side.items()} for side in (first, second)]
    return sum(abs(shares[0].get(task, 0.0) - shares[1].get(task, 0.0)) for task in shares[0] | shares[1]) / 2 > limit


def face_to_face(
    first: Mapping[Label, Sequence[float]], second: Mapping[Label, Sequence[float]], what: str = "rollouts"
) -> tuple[list[float], list[float], tuple[str, ...]]:
    """The n-th of both on each common task, tasks in turn, and what had no counterpart.

    Facing only what was run on the same task, no policy looks better merely because it met easier tasks.
    """
    tasks = [task for task in first if task in second]
    kept = [(task, a, b) for task in tasks for a, b in zip(first[task], second[task], strict=False)]
    order = in_turn([task for task, _, _ in kept])
    spare = [sum(len(of) for of in side.values()) - len(kept) for side in (first, second)]
    parts = [f"{count:,} {what} of the {name}" for count, name in zip(spare, ("first", "second"), strict=True) if count]
    notes = (f"{' and '.join(parts)} had no counterpart on the same task and were left out.",) if parts else ()
    return [kept[place][1] for place in order], [kept[place][2] for place in order], notes


def _reordered(scores: Scores, order: Sequence[int]) -> Scores:
    return Scores([scores.values[place] for place in order], scores.low, scores.high)
