"""Has a growing file of results decided yet? For people who keep their own scripts.

The rule is declared once and kept beside the file with its fingerprint, and so is a hash of the rows that were seen:
what is past cannot be changed any more. Pairs enter in the order in which they are completed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from surefoot import _check, sequential
from surefoot.analysis.comparisons import chosen
from surefoot.core import formatting, sentences
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.sequential import registry
from surefoot.sequential.registry import Setting
from surefoot.sequential.rules import Claim, Rule
from surefoot.sequential.validity import holds
from surefoot.table.columns import PAIR_KEYS
from surefoot.table.rollouts import Rollouts
from surefoot.table.structure import Measure

SEEN = (*("policy", "task", "condition", "seed", "repeat"), *("success", "score", "valid"))
"""What of a row may not change once it was seen."""


@dataclass(frozen=True, slots=True)
class Watch(Record):
    """A rule declared for a growing file, and how much of the file was seen.

    Attributes:
        first: The policy that the verdict is about.
        second: The policy it is compared with.
        horizon: The most pairs.
        measure: What decides: success or score.
        rule: The rule, by its name in plan files.
        confidence: Over all looks.
        claim: What the rule may find.
        randomised: Whether the order of the environments was drawn at random.
        keys: The columns that tell which rollouts are a pair; empty where rollout n meets rollout n.
        low: The lowest score possible.
        high: The highest score possible.
        rows: How many rows were seen.
        seen: The hash of those rows.
    """

    first: str
    second: str
    horizon: int
    measure: Measure
    rule: str
    confidence: float
    claim: Claim
    randomised: bool
    keys: tuple[str, ...]
    low: float = 0.0
    high: float = 1.0
    rows: int = 0
    seen: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of what was declared, whatever was seen since."""
        declared = replace(self, rows=0, seen="").to_dict()
        return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()[:12]

    def made(self) -> Rule[Any]:
        """The rule."""
        return _rules(self)[self.rule]


@dataclass(frozen=True, slots=True)
class Look(Record):
    """What a growing file says now.

    Attributes:
        watch: The declaration, with what was seen up to now.
        pairs: Complete pairs in the file.
        used: Pairs that the rule looked at before it stopped, or all.
        verdict: What it found.
        p_value: Valid at every look.
        finished: Whether there is nothing more to run.
    """

    watch: Watch
    pairs: int
    used: int
    verdict: Verdict
    p_value: float
    finished: bool

    @property
    def decision(self) -> Literal["continue", "stop"]:
        """Whether to go on."""
        return "stop" if self.finished else "continue"

    def __str__(self) -> str:
        size = f"{formatting.counted(self.used, 'pair')} of at most {self.watch.horizon:,}"
        if not self.finished:
            return f"Continue: {size}."
        said = sentences.headline(self.verdict, self.watch.first, self.watch.second)
        more = self.pairs - self.used
        spare = f" {formatting.counted(more, 'pair')} after the stop not looked at." if more else ""
        return f"Stop: {said} {size}, {formatting.p_value(self.p_value)} over all looks.{spare}"


def declare(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    horizon: int,
    measure: Measure | None = None,
    rule: str | None = None,
    confidence: float = 0.95,
    claim: Claim = "either",
    randomised: bool = False,
) -> Watch:
    """Declare a rule for a file that will grow.

    Args:
        rollouts: What the file holds now; its columns tell how pairs are found.
        first: The policy that the verdict is about.
        second: The policy it is compared with.
        horizon: The most pairs.
        measure: What decides; success where it is known.
        rule: The rule by its name in plan files; the one that suits when left out.
        confidence: Over all looks.
        claim: "either" or "first better".
        randomised: Whether the order of the environments was drawn at random; the exact rules need it.
    """
    what = chosen(rollouts, measure)
    keys = tuple(key for key in PAIR_KEYS if key in rollouts.columns)
    low, high = (rollouts.low, rollouts.high) if what == "score" else (0.0, 1.0)
    made = Watch(
        first=first,
        second=second,
        horizon=_check.whole(horizon, "horizon", least=1),
        measure=what,
        rule=rule or "",
        confidence=_check.confidence(confidence),
        claim=_check.choice(claim, "claim", {"either": "either", "first better": "first better"}),
        randomised=randomised,
        keys=keys if {"condition", "seed"} & set(keys) else (),
        low=low,
        high=high,
    )
    known = _rules(made)
    return replace(made, rule=next(iter(known)) if rule is None else _check.choice(rule, "rule", {n: n for n in known}))


def look(rollouts: Rollouts, watch: Watch) -> Look:
    """What does the file say now, by the declared rule?

    Raises:
        DataError: Rows that were seen before are gone or changed.
    """
    rows = _rows(rollouts)
    if len(rows) < watch.rows or (_hash(rows[: watch.rows]) != watch.seen and watch.rows):
        raise DataError(
            f"the {watch.rows:,} rows that were seen before must stay as they were; some are gone or changed.",
            source=rollouts.source,
        )
    pairs = _pairs(rows, watch)
    states = sequential.run(watch.made(), pairs)
    last = states[-1] if states else watch.made().start()
    return Look(
        watch=replace(watch, rows=len(rows), seen=_hash(rows)),
        pairs=len(pairs),
        used=last.pairs,
        verdict=last.verdict,
        p_value=last.p_value,
        finished=last.finished,
    )


def _rules(watch: Watch) -> dict[str, Rule[Any]]:
    """The rules that hold for such a file by their names in plan files, the default first."""
    binary = watch.measure == "success"
    setting = Setting(
        horizon=watch.horizon,
        measure=watch.measure,
        levels=(0.0, 1.0) if binary else (),
        between=not binary,
        environments="shared" if watch.keys else "independent",
        randomised=watch.randomised,
        confidence=watch.confidence,
        claim=watch.claim,
        low=watch.low,
        high=watch.high,
    )
    rules: dict[str, Rule[Any]] = {}
    for kind in registry.kinds():
        if not kind.ranks(2) or kind.once or watch.measure not in kind.measures:
            continue
        try:
            rule: Any = kind.made(setting)
        except ValueError:  # such as a horizon too long for an exact table
            continue
        if holds(rule, setting.environments, randomised=watch.randomised):
            rules.setdefault(kind.name, rule)
    return rules


def _rows(rollouts: Rollouts) -> list[dict[str, Any]]:
    return rollouts.polars().select([name for name in SEEN if name in rollouts.columns]).to_dicts()


def _hash(rows: list[dict[str, Any]]) -> str:
    known = [{name: value for name, value in row.items() if value is not None} for row in rows]
    return hashlib.sha256(json.dumps(known, sort_keys=True, default=str).encode()).hexdigest()


def _pairs(rows: list[dict[str, Any]], watch: Watch) -> list[tuple[float, float]]:
    """Pairs in the order in which they were completed."""
    waiting: dict[tuple[Any, ...], tuple[list[float], list[float]]] = {}
    found: list[tuple[float, float]] = []
    for row in rows:
        value = row.get(watch.measure)
        if row["policy"] not in (watch.first, watch.second) or value is None or row.get("valid") in (0, False):
            continue
        sides = waiting.setdefault(tuple(row.get(key) for key in watch.keys), ([], []))
        sides[row["policy"] == watch.second].append(float(value))
        if sides[0] and sides[1]:
            found.append((sides[0].pop(0), sides[1].pop(0)))
    return found
