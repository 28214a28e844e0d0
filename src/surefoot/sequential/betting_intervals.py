"""Anytime intervals by betting, for rules on successes that do not bet.

From bets on the same pairs, by a rule of the same declaration: a statement apart, valid at any moment too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.core.interval import Interval
from surefoot.sequential.betting import BettingState
from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture
from surefoot.sequential.rules import Rule

APART = "This interval comes from betting on the same pairs, not from the rule: it may hold 0 after a verdict."


def begun(rule: Rule[Any]) -> BettingState:
    """The companion before the first pair."""
    return FiniteHorizonMixture(
        rule.horizon, confidence=rule.confidence, claim=rule.claim, low=rule.low, high=rule.high, binary=True
    ).start()


def followed(companion: BettingState, first: float, second: float) -> BettingState:
    """The companion after one more pair; it stays where it has decided."""
    return companion if companion.finished else companion.rule.step(companion, (first, second))


def interval_of(companion: BettingState, gain: float, pairs: int) -> Interval:
    """Where the gain lies, marked as a statement apart.

    The observed gain and the pairs are those of the rule: bets that have decided follow no further pair.
    """
    found = companion.interval
    low, high = min(found.low, gain), max(found.high, gain)
    return replace(found, low=low, high=high, estimate=gain, trials=pairs, notes=(APART,))
