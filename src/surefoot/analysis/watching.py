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
from surefoot.core.words import spoken
from surefoot.errors import DataError
from surefoot.sequential import registry
from surefoot.sequential.registry import Setting
from surefoot.sequential.rules import Claim, Rule
from surefoot.sequential.validity import holding
from surefoot.table.rollouts import Rollouts
from surefoot.table.structure import KEYS, Measure, named_environment


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
        keys: The columns that tell which rollouts are a pair; where only a task does, or nothing, rollout n of it
            meets rollout n.
        low: The lowest score possible.
        high: The highest score possible.
        already: Pairs that were in the file when the rule was declared.
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
    already: int = 0
    rows: int = 0
    seen: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of what was declared, whatever was seen since."""
        return _digest(replace(self, already=0, rows=0, seen=""))

    @property
    def seal(self) -> str:
        """A hash of all of it: an edit of what was seen shows."""
        return _digest(self)

    @property
    def environments(self) -> registry.Environments:
        """How the rollouts of a pair relate."""
        if set(KEYS) & set(self.keys):
            return "shared"
        return "stratified" if self.keys else "independent"  # a task only says that they were of one kind

    def made(self) -> Rule[Any]:
        """The rule.

        Raises:
            DataError: There is no such rule for such a file.
        """
        known = _rules(self)
        if self.rule not in known:
            raise DataError(f"the declared rule must be one of {', '.join(known)}; got {self.rule!r}.")
        return known[self.rule]


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
        old = self.watch.already
        there = f"{formatting.counted(old, 'pair')} {'was' if old == 1 else 'were'} there"
        late = f" {there} when the rule was declared." if old else ""
        return f"Stop: {said} {size}, {formatting.p_value(self.p_value)} over all looks.{spare}{late}"


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
    if first == second:
        raise _check.refused("second", f"be another {spoken().policy} than the first", second)
    if "cluster" in rollouts.columns:
        raise DataError(
            f"{spoken().rollouts} must not come in clusters where pairs are looked at one by one; there is a "
            "`cluster` column.",
            source=rollouts.source,
        )
    low, high = rollouts.ends(what)
    made = Watch(
        first=first,
        second=second,
        horizon=_check.whole(horizon, "horizon", least=1),
        measure=what,
        rule=rule or "",
        confidence=_check.confidence(confidence),
        claim=_check.choice(claim, "claim", {"either": "either", "first better": "first better"}),
        randomised=randomised,
        keys=named_environment(rollouts),
        low=low,
        high=high,
    )
    known = _rules(made)
    chosen_rule = next(iter(known)) if rule is None else _check.choice(rule, "rule", {name: name for name in known})
    return replace(made, rule=chosen_rule, already=len(_pairs(_rows(rollouts, made), made, rollouts.source)))


def look(rollouts: Rollouts, watch: Watch) -> Look:
    """What does the file say now, by the declared rule?

    Raises:
        DataError: Rows that were seen before are gone or changed, or pairs are told by other columns than declared.
    """
    there = named_environment(rollouts)
    if not set(there) <= set(watch.keys) <= set(rollouts.columns):
        told, now = (", ".join(keys) or "nothing" for keys in (watch.keys, there))
        raise DataError(f"pairs must be identified by {told}, as declared; now there is {now}.", source=rollouts.source)
    rows = _rows(rollouts, watch)
    if len(rows) < watch.rows or (watch.rows and _hash(rows[: watch.rows]) != watch.seen):
        raise DataError(
            f"the {watch.rows:,} rows that were seen before must stay as they were; some are gone or changed.",
            source=rollouts.source,
        )
    pairs = _pairs(rows, watch, rollouts.source)
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
        environments=watch.environments,
        randomised=watch.randomised,
        confidence=watch.confidence,
        claim=watch.claim,
        low=watch.low,
        high=watch.high,
    )
    rules: dict[str, Rule[Any]] = {}
    for kind, rule in holding(setting):
        rules.setdefault(kind.name, rule)
    return rules


def _digest(watch: Watch) -> str:
    return hashlib.sha256(json.dumps(watch.to_dict(), sort_keys=True).encode()).hexdigest()[:12]


def _rows(rollouts: Rollouts, watch: Watch) -> list[tuple[Any, ...]]:
    """What of each row may not change once it was seen: whose it is, where it was run, and what came of it."""
    import polars as pl

    frame = rollouts.polars()
    counts = pl.col("valid").fill_null(True).cast(pl.Boolean) if "valid" in frame.columns else pl.lit(True)
    return frame.select("policy", *watch.keys, counts.alias("counts"), pl.col(watch.measure).alias("value")).rows()


def _hash(rows: list[tuple[Any, ...]]) -> str:
    return hashlib.sha256(json.dumps(rows, default=str).encode()).hexdigest()


def _pairs(rows: list[tuple[Any, ...]], watch: Watch, source: str) -> list[tuple[float, float]]:
    """Pairs in the order in which they were completed.

    Raises:
        DataError: A rollout does not say in which environment it was run, or a policy met one twice.
    """
    shared = watch.environments == "shared"
    waiting: dict[tuple[Any, ...], tuple[list[float], list[float]]] = {}
    met: set[tuple[Any, ...]] = set()
    found: list[tuple[float, float]] = []
    for place, (policy, *where, counts, value) in enumerate(rows, 1):
        if policy not in (watch.first, watch.second) or value is None or not counts:
            continue
        key = tuple(where)
        if shared and None in key:
            raise DataError(
                f"every {spoken().rollout} must say in which {spoken().environment} it was run.",
                source=source,
                row=place,
            )
        if shared and (policy, key) in met:
            words = spoken()
            raise DataError(
                f"each {words.environment} must be met once by each {words.policy}; {policy!r} met one again. The "
                f"{words.rollouts} of one {words.environment} are not independent: compare them when all are run. "
                f"An {words.environment} that was set up anew needs a name of its own.",
                source=source,
                row=place,
            )
        met.add((policy, key))
        sides = waiting.setdefault(key, ([], []))
        sides[policy == watch.second].append(float(value))
        if sides[0] and sides[1]:
            found.append((sides[0].pop(0), sides[1].pop(0)))
    return found
