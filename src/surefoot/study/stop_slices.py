"""Where a study that has stopped showed its first policy to be better, and where worse."""

from __future__ import annotations

from surefoot.analysis.live_slices import slices_of_pairs
from surefoot.analysis.slices import Slices, every_slices
from surefoot.errors import DataError
from surefoot.study.counts import fates
from surefoot.study.decision import RankingDecision
from surefoot.study.plans import Plan
from surefoot.study.result_table import rollouts_of
from surefoot.study.schedules import Turn, block
from surefoot.study.state import Fold


def slices_at_stop(fold: Fold) -> tuple[Slices, ...]:
    """The slices of a study of two that has stopped, by its tasks and conditions; none while it goes on or is blinded.

    Where the stop did not look at outcomes the labels are shuffled, as in any table. Otherwise each slice keeps a rule
    of its own on its pairs, which holds whenever the study stops; rollouts that share no environment have no such
    pairs.
    """
    plan, decision = fold.plan, fold.decision
    if fold.blinded or fold.exploratory or not plan.in_pairs or not fold.finished or plan.items:
        return ()
    if isinstance(decision, RankingDecision):
        return ()
    confidence, measure = plan.confidence, plan.measure
    if decision.state.rule.once and decision.state.ending in ("verdict", "horizon"):
        try:
            return every_slices(rollouts_of(fold), plan.policies, measure=measure, confidence=confidence)
        except DataError:
            return ()
    if plan.environments == "independent":
        return ()
    first, second = plan.policies
    turns = [_first_turn(fold, plan, number) for number in range(1, plan.horizon + 1)]
    became, met = fates(fold), []
    for _, pair in sorted(fold.blocks.items()):
        if all(became.get(turn.number) == "counted" for turn in pair):
            score = {turn.policy: float(fold.results[turn.number].score) for turn in pair}
            met.append((_levels(pair[0]), score[first], score[second]))
    found = slices_of_pairs(
        (first, second), [_levels(turn) for turn in turns], met, measure=measure, low=plan.low, high=plan.high,
        confidence=confidence,
    )  # fmt: skip
    return () if found is None else (found,)


def _first_turn(fold: Fold, plan: Plan, number: int) -> Turn:
    turns = block(plan, fold.seed.reveal(), number, 2 * number - 1, plan.policies, schema=fold.schema)
    return turns[0]


def _levels(turn: Turn) -> dict[str, str]:
    named = {"task": turn.task, "condition": turn.condition}
    return {name: level for name, level in named.items() if level}
