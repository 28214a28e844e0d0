"""Sequential comparison of two policies in a growing file of results, for people who keep their own scripts.

The rule is declared once and kept beside the file with its fingerprint, and so is a hash of the rows that were seen:
what is past cannot be changed any more. Pairs enter in the order in which they were started, as far as every rollout
that was started before has ended: failures end sooner or time out, and pairs taken as they end favour one policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from surefoot import _check, sequential
from surefoot._arguments import in_python, write
from surefoot.analysis.comparisons import chosen
from surefoot.core import formatting, sentences
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words
from surefoot.errors import DataError
from surefoot.sequential import registry
from surefoot.sequential.registry import Setting
from surefoot.sequential.rules import Claim, Rule
from surefoot.sequential.validity import holding
from surefoot.table import start_order as starts
from surefoot.table.crosstab import coverage
from surefoot.table.design import MANY
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.start_order import Prefix, Started

NO_START_ORDER = (
    "the file does not say in which order {rollouts} were started: say {column}, or {rows} if rows are written in the "
    "order they were started."
)
"""Why there is no verdict. Pairs taken as they end: 31% of verdicts false with 8 simulators, 99% with 32."""


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
        keys: The columns that tell which rollouts are a pair, or of which kind; without any, rollout n meets rollout n.
        low: The lowest score possible.
        high: The highest score possible.
        start_order: The column that tells the order of the starts, as it was declared.
        in_start_order: Whether the rows are written in the order of the starts.
        first_start: The number of the first start, where starts are numbered.
        parallel: How many rollouts run at once, where starts are told by times.
        already: Pairs that had entered when the rule was declared.
        rows: How many rows were seen.
        seen: The hash of those rows.
        running: The places of those rows that had no outcome yet.
        entered: How many pairs have entered.
        pairs_seen: The hash of those pairs.
        kinds: Whether the keys only tell of which kind a rollout is, and rollout n of a kind meets rollout n.
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
    start_order: str | None = None
    in_start_order: bool = False
    first_start: int | None = None
    parallel: int | None = None
    already: int = 0
    rows: int = 0
    seen: str = ""
    running: tuple[int, ...] = ()
    entered: int = 0
    pairs_seen: str = ""
    kinds: bool = False

    @property
    def fingerprint(self) -> str:
        """A hash of what was declared, whatever was seen since."""
        return _digest(replace(self, already=0, rows=0, seen="", running=(), entered=0, pairs_seen=""))

    @property
    def seal(self) -> str:
        """A hash of all of it: an edit of what was seen shows."""
        return _digest(self)

    @property
    def environments(self) -> registry.Environments:
        """How the rollouts of a pair relate."""
        if self.kinds or self.keys == ("task",):  # so 0.2.0 kept it: a task only says that they were of one kind
            return "stratified"
        return "shared" if self.keys else "independent"

    @property
    def by(self) -> str:
        """By what the order of the starts is told, in words."""
        return f"by `{self.start_order}`" if self.start_order else "by the order of the rows"

    def made(self) -> Rule[Any]:
        """The rule."""
        known = _rules(self)
        if self.rule not in known:
            raise DataError(f"the declared rule must be one of {', '.join(known)}; got {self.rule!r}.")
        return known[self.rule]


@dataclass(frozen=True, slots=True)
class Look(Record):
    """What a growing file says now.

    Attributes:
        watch: The declaration, with what was seen up to now.
        pairs: Pairs that entered: all rollouts started before them have ended.
        used: Pairs that the rule looked at before it stopped, or all.
        verdict: What it found.
        p_value: Valid at every look.
        finished: Whether there is nothing more to run.
        ended: Complete pairs in the file, in whichever order they were started.
        waits: What the next rollout in the order of the starts waits for; empty where none waits.
    """

    watch: Watch
    pairs: int
    used: int
    verdict: Verdict
    p_value: float
    finished: bool
    ended: int = 0
    waits: str = ""

    @property
    def decision(self) -> Literal["continue", "stop"]:
        """Whether to go on."""
        return "stop" if self.finished else "continue"

    def __str__(self) -> str:
        size = f"{formatting.counted(self.used, 'pair')} of at most {self.watch.horizon:,}"
        size += f", in the order of the starts ({self.watch.by})"
        if not self.finished:
            more = self.ended - self.pairs
            later = f" {formatting.counted(more, 'more pair')} {'waits' if more == 1 else 'wait'} for {self.waits}."
            return f"Continue: {size}.{later if self.waits else ''}"
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
    start_order: str | None = None,
    in_start_order: bool = False,
    first_start: int | None = None,
    parallel: int | None = None,
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
        start_order: The column that tells the order of the starts: numbers without a gap, of all rollouts or of each
            policy's own, or times.
        in_start_order: Whether rows are written in the order of the starts; a row without an outcome is still running.
        first_start: The number of the first start; 0 where there is a 0, otherwise 1.
        parallel: How many rollouts run at once, for start times; their durations must then be known if it is not 1.
    """
    what = chosen(rollouts, measure)
    column = _start_column(rollouts, start_order, in_start_order, parallel)
    if first == second:
        raise _check.refused("second", f"be another {rollouts.words.policy} than the first", second)
    if rollouts.design.cluster:
        raise DataError(
            f"{rollouts.words.rollouts} must not come in clusters where pairs are looked at one by one; "
            f"{rollouts.design.cluster[0]!r} tells clusters.",
            source=rollouts.source,
        )
    low, high = rollouts.ends(what)
    keys, kinds = pair_keys(rollouts)
    made = Watch(
        first=first,
        second=second,
        horizon=_check.whole(horizon, "horizon", least=1),
        measure=what,
        rule=rule or "",
        confidence=_check.confidence(confidence),
        claim=_check.choice(claim, "claim", {"either": "either", "first better": "first better"}),
        randomised=randomised,
        keys=keys,
        kinds=kinds,
        low=low,
        high=high,
        start_order=start_order,
        in_start_order=in_start_order,
        parallel=parallel,
    )
    if column is not None and starts.numbers_starts(rollouts, column):
        numbers = [row.start for row in starts.started(rollouts, what, (), column)]
        lowest = 0 if 0.0 in numbers else 1
        made = replace(
            made, first_start=lowest if first_start is None else _check.whole(first_start, "first_start", least=0)
        )
    known = _rules(made)
    chosen_rule = next(iter(known)) if rule is None else _check.choice(rule, "rule", {name: name for name in known})
    made = replace(made, rule=chosen_rule)
    return replace(made, already=len(starts.rounds(_prefix(rollouts, made)[1].rollouts, (first, second))))


def look(rollouts: Rollouts, watch: Watch) -> Look:
    """Verdict of the declared rule on the pairs that have entered, in the order of their starts."""
    lacking = [key for key in watch.keys if key not in rollouts.columns]
    if lacking:
        raise DataError(
            f"pairs must be identified by {', '.join(watch.keys)}, as declared; {lacking[0]!r} is not there.",
            source=rollouts.source,
        )
    rows, prefix = _prefix(rollouts, watch)
    _refuse_changes(rows, watch, rollouts.source)
    policies = (watch.first, watch.second)
    pairs, ended = starts.rounds(prefix.rollouts, policies), len(starts.rounds(rows, policies))
    if len(pairs) < watch.entered or _hash(pairs[: watch.entered]) != (watch.pairs_seen or _hash([])):
        raise DataError(
            f"no {rollouts.words.rollout} must turn up that was started before the {watch.entered:,} pairs that have "
            f"entered ({watch.by}); one did.",
            source=rollouts.source,
        )
    states = sequential.run(watch.made(), pairs)
    last = states[-1] if states else watch.made().start()
    running = tuple(row.place for row in rows if row.runs)
    seen = _hash([_fixed(row, row.place in running) for row in rows])
    return Look(
        watch=replace(watch, rows=len(rows), seen=seen, running=running, entered=len(pairs), pairs_seen=_hash(pairs)),
        pairs=len(pairs),
        used=last.pairs,
        verdict=last.verdict,
        p_value=last.p_value,
        finished=last.finished,
        ended=ended,
        waits=prefix.waits if ended > len(pairs) else "",
    )


def pair_keys(rollouts: Rollouts) -> tuple[tuple[str, ...], bool]:
    """The columns that tell which rollouts belong together, fixed when a rule is declared; whether they tell kinds.

    Few units that are met again and again are kinds. A file that has only begun has no shape yet: then a column that is
    called condition or seed tells, in its task.
    """
    keys = rollouts.design.keys("setting", "unit")
    if keys or len(rollouts) >= BEGUN:
        return keys, bool(keys) and rollouts.design.units < MANY and coverage(rollouts).recurring > 0
    telling = [name for name in ("condition", "seed") if name in rollouts.columns][:1]
    return (*(("task",) if "task" in rollouts.columns else ()), *telling), "task" in rollouts.columns and not telling


BEGUN = 20
"""From so many rollouts on, the shape of a growing file tells what its columns are."""


def unknown_order(source: str, words: Words = USUAL) -> DataError:
    """The refusal of a file whose order of starts is not told."""
    rows = in_python("in_start_order=True", "--in-start-order")
    cure = {"column": write("start_order", "COLUMN"), "rows": rows}
    return DataError(NO_START_ORDER.format(rollouts=words.rollouts, **cure), source=source)


def _start_column(rollouts: Rollouts, start_order: str | None, in_rows: bool, parallel: int | None) -> str | None:
    """The canonical column of the starts; None where the rows are declared to be in their order."""
    if parallel is not None:
        _check.whole(parallel, "parallel", least=1)
    if start_order is None and not in_rows:
        raise unknown_order(rollouts.source, rollouts.words)
    if start_order is None:
        starts.refuse_other_order(rollouts)
        return None
    if in_rows:
        raise _check.wrong(
            ("start_order", "in_start_order"), "be given one without the other; got both.", (start_order, in_rows)
        )
    column = starts.start_column(rollouts, start_order)
    if column is None:
        raise _check.refused("start_order", "name a column of numbers or times of the starts", start_order)
    if parallel is None and not starts.numbers_starts(rollouts, column):
        raise _check.wrong(
            "parallel",
            f"be given with start times: a {rollouts.words.rollout} that was started earlier may still run.",
            None,
            f"Say how many run at once, {write('parallel', 8)} for instance, or number the starts.",
        )
    return column


def _prefix(rollouts: Rollouts, watch: Watch) -> tuple[list[Started], Prefix]:
    """Every row, and the rollouts that count: in the order of the starts, all that were started before having ended."""
    column = _start_column(rollouts, watch.start_order, watch.in_start_order, watch.parallel)
    rows = starts.started(rollouts, watch.measure, watch.keys, column)
    _refuse_environments(rows, watch, rollouts.source, rollouts.words)
    policies = (watch.first, watch.second)
    if column is None:
        return rows, starts.in_rows(rows, policies)
    if not starts.numbers_starts(rollouts, column):
        return rows, starts.timed(rows, policies, watch.parallel or 1, rollouts.source)
    first = 1 if watch.first_start is None else watch.first_start
    return rows, starts.numbered(rows, policies, first, each=column in watch.keys, source=rollouts.source)


def _fixed(row: Started, running: bool) -> tuple[Any, ...]:
    """What of a row may not change once it was seen: whose it is, where it was run, its start and what came of it."""
    return row.policy, *row.key, row.start, *((None, None) if running else (row.counts, row.value))


def _refuse_changes(rows: list[Started], watch: Watch, source: str) -> None:
    """Refuse a file whose rows that were seen are gone or changed, but for outcomes that were not known then."""
    past = [_fixed(row, row.place in watch.running) for row in rows[: watch.rows]]
    if len(rows) < watch.rows or (watch.rows and _hash(past) != watch.seen):
        raise DataError(
            f"the {watch.rows:,} rows that were seen before must stay as they were; some are gone or changed.",
            source=source,
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


def _hash(rows: Sequence[tuple[Any, ...]]) -> str:
    return hashlib.sha256(json.dumps(rows, default=str).encode()).hexdigest()


def _refuse_environments(rows: list[Started], watch: Watch, source: str, words: Words) -> None:
    """Refuse rollouts that do not say in which environment they were run, and a policy that met one twice."""
    if watch.environments != "shared":
        return
    met: set[tuple[Any, ...]] = set()
    for row in rows:
        if row.policy not in (watch.first, watch.second) or not row.counts:
            continue
        if None in row.key:
            raise DataError(
                f"every {words.rollout} must say in which {words.environment} it was run.",
                source=source,
                row=row.place,
            )
        if (row.policy, row.key) in met:
            raise DataError(
                f"each {words.environment} must be met once by each {words.policy}; {row.policy!r} met one again. The "
                f"{words.rollouts} of one {words.environment} are not independent: compare them when all are run. "
                f"An {words.environment} that was set up anew needs a name of its own.",
                source=source,
                row=row.place,
            )
        met.add((row.policy, row.key))
