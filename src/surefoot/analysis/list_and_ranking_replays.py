"""Recorded rollouts under sequential rules: two policies on a declared list of items, and the ranking of many.

Of a list both policies may have run the same part; or the second ran all of it, and only the first is run now. Rollouts
enter in the order they were recorded, which must have been drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from surefoot import _check, sequential
from surefoot.analysis.comparisons import Comparison, chosen, compare
from surefoot.analysis.replays import BLOCKED, CUT, HINDSIGHT, ORDER, blocking, check_population, one_task, tasks_apart
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.sentences import fill
from surefoot.core.verdict import Verdict
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.sequential import registry, run_ranking, simulate_ranking
from surefoot.sequential.betting import BettingState
from surefoot.sequential.list_mean import ListMeanState
from surefoot.sequential.registry import Setting
from surefoot.sequential.validity import declared
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.start_order import by_starts, rounds_of, said_order

if TYPE_CHECKING:
    from surefoot.sequential.round_rules import RoundRule


Item = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListComparison(Record):
    """Two policies compared on a declared list: what a complete run of it would show.

    Attributes:
        first: The policy that the gain and the verdict are about.
        second: The policy it is compared with.
        measure: Whether success or the score was compared.
        population: Items on the list.
        run: Items that the first policy has run.
        in_full: Whether the second policy ran the whole list, so that only the first had to.
        interval: Where the gain on these items lies, valid at any moment.
        p_value: Of no gain on these items, valid at any moment.
        verdict: What is decided of these items.
        notes: What a reader must know besides.
        elsewhere: The same rollouts asked about items like these: another claim, from a number fixed beforehand.
    """

    first: str
    second: str
    measure: Measure
    population: int
    run: int
    in_full: bool
    interval: Interval
    p_value: float
    verdict: Verdict
    notes: tuple[Note, ...]
    elsewhere: Comparison | None = None

    def __str__(self) -> str:
        gain, sure = str(self.interval).rstrip("."), formatting.p_value(self.p_value)
        lines = [str(self.notes[0]), f"{self.first} - {self.second} on these items: {gain}, {sure}."]
        lines += [str(note) for note in self.notes[1:]]
        if self.elsewhere is not None:
            lines.append(f"At this number of items: {self.elsewhere}")
        return "\n".join(lines)


@in_its_words
def compare_on_list(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    population: int,
    randomised: bool,
    helped: bool = False,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ListComparison:
    """Comparison of two policies on a declared list of items, of which a random part was run.

    Where the second policy ran every item of the list and the first only part of it, the second's results are used as
    predictions, and only the first had to run.

    Args:
        rollouts: The table; items are told apart by task, condition, seed and repeat.
        first: The policy that the verdict is about.
        second: The policy it is compared with.
        population: Items on the list, run or not.
        randomised: That the order was drawn at random; refused otherwise.
        helped: Whether the column `forecast` predicts the first policy's outcome; it must be there for every item.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks.
        margin: A gain that would not matter; only where both ran the same items.

    Raises:
        ValueError: The order was not drawn, or the list does not fit what was asked.
        DataError: An item was run twice, is not on the list, or lacks its outcome or prediction.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> items = [item for item in range(40) for _ in range(2)]
        >>> frame = pl.DataFrame({"policy": ["new", "old"] * 40, "item": items, "success": [1, 0] * 40})
        >>> found = sf.compare_on_list(sf.read(frame), "new", "old", population=60, randomised=True)
        >>> print(found.notes[0])
        On these 60 items new is better (7 run; error 5% for what a complete run would show). It says nothing \
about other items.
    """
    table, what = a_table(rollouts), chosen(rollouts, measure)
    check_population(population, randomised=randomised)
    for policy in (first, second):
        _check.choice(policy, "policy", dict.fromkeys(table.policies))
    low, high = table.ends(what)
    ones, others = _outcomes(table, first, what), _outcomes(table, second, what)
    for name, found in ((first, ones), (second, others)):
        if len(found) > population:
            must = f"be at least {len(found):,}, the items that {name} ran"
            raise _check.refused("population", must, population, "A list is not enlarged after the start.")
    in_full = len(others) == population and (len(ones) < population or helped)
    if helped and not in_full:
        raise DataError(
            f"there must be a prediction for every one of the {population:,} items; got {len(others):,} items.",
            cure=f"Let {second!r} be a system that was run on all of them.",
        )
    state: ListMeanState | BettingState
    if in_full:
        if margin:
            raise _check.refused("margin", f"be 0 where {second!r} was run in full", margin)
        forecasts = _forecasts(table, others) if helped else None
        state, gain = _against(ones, others, forecasts, (low, high), confidence)
        run, recorded, notes = state.run, len(ones), state.notes
    else:
        common = [item for item in ones if item in others]
        rule = sequential.FiniteHorizonMixture(
            population, claim="either", confidence=confidence, low=low, high=high, margin=margin,
            binary=what == "success" or None, population=population,
        )  # fmt: skip
        if not common:
            raise DataError(f"{first!r} and {second!r} must have items in common; got none.")
        state = sequential.run(rule, [(ones[item], others[item]) for item in common])[-1]
        gain, run, recorded = state.interval, state.pairs, len(common)
        notes = tuple(note for note in gain.notes if isinstance(note, Note))
    kept = [note for note in notes if note.kind != "of these items"]  # the claim says already what it is about
    if run < recorded:
        kept.append(Note("items not looked at", {"run": run, "more": recorded - run}))
    return ListComparison(
        first=first,
        second=second,
        measure=what,
        population=population,
        run=run,
        in_full=in_full,
        interval=gain,
        p_value=state.p_value,
        verdict=state.verdict,
        notes=(state.on_the_list(first), *kept),
        elsewhere=compare(table, first, second, measure=what, confidence=confidence, margin=margin, paired=True),
    )


def _against(
    ones: dict[Item, float],
    others: dict[Item, float],
    forecasts: list[float] | None,
    ends: tuple[float, float],
    confidence: float,
) -> tuple[ListMeanState, Interval]:
    """The first policy against one that was run in full: where its rule stands, and the gain."""
    places = {item: place for place, item in enumerate(others)}
    strange = next((item for item in ones if item not in places), None)
    if strange is not None:
        raise DataError(f"every item run must be on the list; got {_called(strange)}, which is not.")
    rule = sequential.ListMean(
        len(others), incumbent=tuple(others.values()), helped_by=None if forecasts is None else tuple(forecasts),
        confidence=confidence, low=ends[0], high=ends[1],
    )  # fmt: skip
    state = sequential.run_list(rule, ((places[item], value) for item, value in ones.items()))[-1]
    mean, tested = state.interval, rule.tested or 0.0
    gain = replace(
        mean,
        low=mean.low - tested,
        high=mean.high - tested,
        estimate=mean.estimate - tested,
        scale="gain" if mean.scale == "rate" else "score gain",
    )
    return state, gain


def _keys(table: Rollouts) -> Sequence[str]:
    if table.design.unit is None:
        raise DataError(f"some column must tell items apart; none does. Say which: --unit COLUMN.\n{table.design}")
    return table.design.keys("setting", "unit", "repeat")


def _outcomes(table: Rollouts, policy: str, measure: Measure) -> dict[Item, float]:
    """What each item gave, in the order they were run."""
    part, found = table.where(policy=policy), dict[Item, float]()
    columns = [part.column(name) for name in _keys(table)]
    for *item, value in zip(*columns, part.column(measure), strict=True):
        key = tuple(item)
        if key in found:
            raise DataError(f"an item must be run once by {policy!r}; got {_called(key)} twice.")
        if value is None:
            cure = "An item that crashed or ran out of time counts with the lowest score: write it so."
            raise DataError(f"every item run must have an outcome; got none for {_called(key)}.", cure=cure)
        found[key] = float(value)
    return found


def _forecasts(table: Rollouts, listed: dict[Item, float]) -> list[float]:
    """The prediction of every item, in the order of the list."""
    if "forecast" not in table.columns:
        cure = 'Say which: columns={"forecast": ...}, or --helped-by COLUMN.'
        raise DataError("there must be a column of predictions, `forecast`; got none.", cure=cure)
    found: dict[Item, float] = {}
    columns = [table.column(name) for name in _keys(table)]
    for *item, value in zip(*columns, table.column("forecast"), strict=True):
        if value is None:
            continue
        if found.setdefault(tuple(item), float(value)) != float(value):
            raise DataError(f"an item must have one prediction; got two for {_called(tuple(item))}.")
    lacking = next((item for item in listed if item not in found), None)
    if lacking is not None:
        raise DataError(f"every item of the list must have a prediction; got none for {_called(lacking)}.")
    return [found[item] for item in listed]


def _called(item: Item) -> str:
    return " ".join(str(part) for part in item)


Round = dict[str, float]


@dataclass(frozen=True, slots=True)
class ReplayedRanking(Record):
    """Many policies on one task, ranked round by round.

    Attributes:
        task: The task, or None when there is only one.
        rounds: Rounds recorded.
        horizon: The most rounds that the rule was given.
        state: Where the rule ended, such as a `ClosedRankingState`.
        regrets: Of a race to within so much of the best, after each round: how far below the best its champion is at
            most, with the declared confidence at all moments together; none before there is one.
        others: The rollouts that other rules would have taken for the whole ranking, by their labels.
        notes: What a reader must know besides.
    """

    task: str | None
    rounds: int
    horizon: int
    state: Any
    others: Mapping[str, int] = field(default_factory=dict)
    regrets: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def batch(self) -> int:
        """The rollouts of all policies run to the horizon."""
        return int(self.horizon * len(self.state.rule.names))

    @property
    def used(self) -> int:
        """The rollouts that the rule would have taken."""
        return int(self.state.rollouts_used)

    def __str__(self) -> str:
        head = f"{self.task}:\n" if self.task else ""
        return f"{head}{self.state}"


@dataclass(frozen=True, slots=True)
class RankingReplay(Worded):
    """Recorded rollouts of many policies, replayed under a ranking rule.

    Attributes:
        policies: The policies.
        measure: Whether success or the score was compared.
        confidence: Over all looks and all pairs, for each task.
        rankings: One per task.
        notes: What a reader must know besides.
    """

    policies: tuple[str, ...]
    measure: Measure
    confidence: float
    rankings: tuple[ReplayedRanking, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        used, batch = (sum(getattr(one, name) for one in self.rankings) for name in ("used", "batch"))
        first = self.rankings[0]
        others = {label: sum(one.others[label] for one in self.rankings) for label in first.others}
        beside = "".join(f" {label}: {rollouts:,}." for label, rollouts in others.items())
        by = beside or f" By {first.state.rule.title}."
        total = f"{used:,} of {batch:,} {self.words.rollouts}, {1.0 - used / batch:.0%} saved.{by}"
        return "\n".join((*map(str, self.rankings), total, *self.notes))


@in_its_words
def replay_ranking(
    rollouts: Rollouts,
    *,
    policies: Sequence[str] | None = None,
    rule: str | None = None,
    horizon: int | None = None,
    measure: Measure | None = None,
    confidence: float = 0.95,
    question: str | None = None,
    within: float | None = None,
    futility: float = 0.0,
    pooled: bool = False,
    start_order: str | None = None,
) -> RankingReplay:
    """Stopping point of a sequential ranking on recorded rollouts, taken in the order in which they were started.

    Rollouts in the same environment form a round; where the table cannot tell, the n-th rollouts of all policies do.
    Every task is a ranking of its own unless `pooled`.

    Args:
        rollouts: The table.
        policies: The policies to rank; left out, all.
        rule: A rule that ranks, by its word in plan files; left out, the one that fits best: "closed" for up to
            sixteen policies, "holm" for more, "race" for the best of more than seven or with `within`.
        horizon: The most rounds; left out, as many as were recorded.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks and all pairs.
        question: See `ClosedRanking`; left out, "best" with `within` or for a race, else "ranking".
        within: How far below the best the one named may be; see `Race`.
        futility: See `ClosedRanking`.
        pooled: Whether all tasks make one ranking, in the order they were run.
        start_order: The column that tells the order of the starts, as for `replay`.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({"policy": ["new", "old", "none"] * 30, "success": [1, 1, 0, 1, 0, 0] * 15})
        >>> print(sf.replay_ranking(sf.read(frame)).rankings[0].state)
        new   rank 1  a  14 rollouts
        old   rank 2  b  14 rollouts
        none  rank 3  c  13 rollouts
        All places are settled after 14 rounds and 41 rollouts (at most 90).
    """
    what = chosen(rollouts, measure)
    names = rollouts.policies if policies is None else tuple(policies)
    for name in names:
        _check.choice(name, "policies", dict.fromkeys(rollouts.policies))
    asked = question or asked_of(rule, within)
    least = 2 if asked.startswith("best") else 3
    if len(set(names)) < least or len(set(names)) < len(names):
        must = f"be {'two' if least == 2 else 'three'} or more different {rollouts.words.policies}"
        raise _check.refused("policies", must, list(names))
    how = said_order(rollouts, start_order)
    rollouts, waits = by_starts(rollouts, what, names, start_order)
    tasks = tasks_apart(rollouts, pooled=pooled)
    found = []
    for task in tasks:
        part = rollouts if task is None else one_task(rollouts, task)
        known = {group.key[0] for group in part.summary() if group.known(what)}
        if set(names) <= known:
            low, high = part.ends(what)
            setting = Setting(
                policies=names, confidence=confidence, claim="either", measure=what, low=low, high=high,
                question=asked, within=within, futility=futility,
            )  # fmt: skip
            found.append(_replayed(part, task, setting, horizon, rule))
    if not found:
        raise DataError(
            f"the {rollouts.words.policies} must share {rollouts.words.a_task} with a known {what}; got none.",
            source=rollouts.source,
        )
    notes = dict.fromkeys(note for one in found for note in one.notes)
    notes |= dict.fromkeys(
        [fill(ORDER, words=rollouts.words, how=how), *([fill(CUT, words=rollouts.words, waits=waits)] if waits else [])]
    )
    return RankingReplay(names, what, float(confidence), tuple(found), (*notes, fill(HINDSIGHT, words=rollouts.words)))


def asked_of(rule: str | None, within: float | None) -> str:
    """The question where none is named: the rule's own, or which is best where one nearly as good will do."""
    if rule is None:
        return "ranking" if within is None else "best"
    own = [kind.questions for kind in registry.kinds(registry.known(rule))]
    return next((one[0] for one in own if one is not None), "ranking")


def _replayed(
    part: Rollouts, task: str | None, setting: Setting, horizon: int | None, rule: str | None
) -> ReplayedRanking:
    rounds, left, shared = _rounds(part, setting.policies, setting.measure)
    where = f" on {task}" if task else ""
    said = f"{formatting.rollouts(left, part.words)}{where} in no round of all {part.words.policies}: left out."
    notes = [said] if left else []
    notes += [BLOCKED.format(what=what) for what in blocking(part)]
    horizon = len(rounds) if horizon is None else horizon
    setting = replace(setting, horizon=horizon, environments="shared" if shared else setting.environments)
    chosen: Any = declared(registry.advised(setting) if rule is None else rule, setting)
    states = run_ranking(chosen, rounds)
    whole = replace(setting, question="ranking", within=None, futility=0.0)
    scores = [[list(one.values()) for one in rounds]]
    others = {
        kind.label: int(simulate_ranking(cast("RoundRule[Any]", kind.made(whole)), scores).rollouts.sum())
        for kind in registry.fitting(whole)
        if kind.name != chosen.name and len(setting.policies) > 2
    }
    if not states[-1].finished and len(rounds) == setting.horizon:
        used = dict(zip(chosen.names, states[-1].rollouts, strict=True))
        short = [name for name, often in states[-1].turns.items() if used[name] + often > len(rounds)]
        notes.append(f"{' and '.join(short)} ran several times a round and had none left: the race ended there.")
    regrets = tuple(one.regret for one in states) if setting.within is not None else ()
    return ReplayedRanking(task, len(rounds), setting.horizon, states[-1], others, regrets, tuple(notes))


def _rounds(part: Rollouts, names: tuple[str, ...], measure: Measure) -> tuple[list[Round], int, bool]:
    """The scores of every round that all have, how many rollouts are in none, and whether a round shares conditions."""
    pairings = [part.pairing(names[0], name, measure=measure) for name in names[1:]]
    on = pairings[0].on if all(pairings) and len({one.on for one in pairings}) == 1 else ()
    rounds = [dict(zip(names, scores, strict=True)) for scores in rounds_of(part, measure, on, names)]
    if not rounds:
        raise DataError(
            f"the {part.words.policies} must share {part.words.an_environment}; got none that all of them met.",
            source=part.source,
        )
    known = sum(group.known(measure) for group in part.summary() if group.key[0] in names)
    return rounds, known - len(rounds) * len(names), bool(on)
