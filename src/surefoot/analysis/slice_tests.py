"""How the slices of a table are tested: what is shuffled, which p-values are adjusted, and the intervals of claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import stats
from surefoot.analysis.levels import UNEVEN
from surefoot.analysis.slice_tables import (
    FIRST,
    VALUE,
    Looked,
    Parts,
    SliceTable,
    drop_of,
    met_alike,
    pairs_of,
    shuffled_drop,
    sides_of,
)
from surefoot.analysis.targets import weakest
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Claim, Verdict
from surefoot.core.words import plural
from surefoot.stats import slices
from surefoot.stats.slices import DRAWS, LOPSIDED, Shuffle, SliceTests, by_holm, least_drop, stepped_down

if TYPE_CHECKING:
    from surefoot.table.rollouts import Measure

ENOUGH = 0.9
"""The share of the information that cells must keep for shuffles inside them."""


class Strata(NamedTuple):
    """Groups of a slice's cells that both policies met: their numbers, rollouts and sums of both, and weights."""

    both: Any
    n: Any
    x: Any
    m: Any
    y: Any
    weights: Any


def looked_at(table: SliceTable, *, ways: int, smallest: int, confidence: float, claim: Claim, dealt: bool) -> Looked:
    """All slices of a table, tested."""
    kind = _Alone if not table.asked.second else _Units if table.unit and not table.own else _Cells
    return kind(table, ways, smallest, dealt).look(confidence, claim)


def _gain_of(parts: Parts, weights: dict[str, float], measure: Measure) -> Any:
    """The comparison within strata, or of the only one."""
    success = measure == "success"
    several: Any = stats.stratified_rate_gain if success else stats.stratified_score_gain
    alone: Any = stats.exact_gain if success else stats.score_gain
    return partial(several, parts, weights=weights) if len(parts) > 1 else partial(alone, *next(iter(parts.values())))


class _Kind:
    """Slices of rows that are shuffled in some way."""

    def __init__(self, table: SliceTable, ways: int, smallest: int, dealt: bool) -> None:
        self.table, self.dealt = table, dealt
        self.told = self._told()
        self.names, self.members, self.spare = table.cut(ways, smallest, self.told)

    def rows(self, place: int) -> Any:
        """Whether each row lies in a slice."""
        return self.members[self.table.cell, place] & self.told

    def _told(self) -> Any:
        import numpy as np

        return np.ones(self.table.frame.height, dtype=bool)

    def look(self, confidence: float, claim: Claim) -> Looked:
        sizes, sums = self._seen()
        estimates = [self._estimate(place) for place in range(len(self.names))]
        tests, how = by_holm((), (), confidence=confidence, claim=claim), ""
        if self.names:
            tests, how = self._tests(confidence, claim)
        notes = (Note("slices left out", {"count": self.spare}),) if self.spare else ()
        level = 1.0 - 2.0 * min(tests.local_error, 1.0 - confidence)  # where nothing differs no draw says how wide

        def interval(place: int) -> Interval:
            found: Interval = self._make(place)(confidence=level, margin=0.0).interval
            return found

        noticed = tuple(self._noticed(tests)) if self.names else ()
        return Looked(
            self.names, sizes, sums, estimates, tests, self.members, how, interval, noticed, (*notes, *self.notes)
        )

    notes: tuple[Note, ...] = ()

    def _seen(self) -> tuple[list[tuple[int, int]], list[tuple[float, float]]]:
        import numpy as np

        cell, first, value = self.table.cell, self.table.first, self.table.value
        sides, length = [self.told & side for side in (first, ~first)], len(self.members)
        counts = [(np.bincount(cell[side], minlength=length) @ self.members).tolist() for side in sides]
        sums = [(np.bincount(cell[side], value[side], length) @ self.members).tolist() for side in sides]
        return list(zip(*counts, strict=True)), list(zip(*sums, strict=True))

    def _tests(self, confidence: float, claim: Claim) -> tuple[SliceTests, str]:
        raise NotImplementedError

    def _make(self, place: int) -> Any:
        raise NotImplementedError

    def _estimate(self, place: int) -> float:
        raise NotImplementedError

    def _noticed(self, tests: SliceTests) -> list[tuple[int, int, float | None]]:
        """The least drops that would have been found in the slice of median size and in the smallest."""
        import numpy as np

        sizes, sums = self._seen()
        cells, first = self.table.cell[self.told], self.table.first[self.told]
        n, m = (np.bincount(cells[side], minlength=len(self.members)).astype(float) for side in (first, ~first))
        error = slices.usual_error(tests, n, m, self.members)
        order = sorted((one for one, total in enumerate(sums) if total[1]), key=lambda one: sum(sizes[one]))
        found: dict[tuple[int, int], float | None] = {}
        for place in (order[len(order) // 2], order[0]) if order else ():
            if sizes[place] not in found:
                found[sizes[place]] = self._drop(place, error)
        every = [(*size, drop) for size, drop in found.items() if drop != 0.0]  # 0: all scores are one
        return [one for one in every if one[-1] is not None] or every[:1]

    def _drop(self, place: int, error: float) -> float | None:
        sizes, sums = self._seen()
        size, total = sizes[place], sums[place]
        if self.table.asked.measure == "success" and not self.table.unit:
            return least_drop(*size, total[1] / size[1], error)
        ends = self._make(place)(confidence=1.0 - 2.0 * error, margin=0.0).interval
        drop = drop_of(0.5 * (ends.high - ends.low), error)
        low, high = self.table.asked.ends
        return drop if drop < high - low else None

    def _holm(self, confidence: float, claim: Claim) -> SliceTests:
        """Holm on one-sided p-values; a lower bound stands for one until it would be claimed."""
        count, error = len(self.names), (1.0 - confidence) / len(self.names)
        sides = [sides_of(self._make(place), error, error) for place in range(count)]
        exact: set[int] = set()
        while True:
            worse, better = [one.worse for one in sides], [one.better for one in sides]
            tests = by_holm(worse, better, confidence=confidence, claim=claim)
            named = [place for place, one in enumerate(tests.verdicts) if one is not Verdict.UNDECIDED]
            if exact.issuperset(named):
                return tests
            for place in set(named) - exact:
                sides[place] = sides_of(self._make(place), error, 1.0)
            exact.update(named)


class _Cells(_Kind):
    """Rollouts, or clusters of one policy each, shuffled inside cells."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        table, counts = self.table, len(self.members)
        import numpy as np

        sides = table.first, ~table.first
        self.n, self.m = (np.bincount(table.cell[side], minlength=counts).astype(float) for side in sides)
        self.x, self.y = (np.bincount(table.cell[side], table.value[side], counts).astype(float) for side in sides)
        unit = [key for key in table.asked.rollouts.design.keys("unit") if key in table.strata]
        loose = [key for key in (*table.factors, *table.guards) if key not in table.strata]
        self.stratum, self.unit = self._of_cells(table.strata), self._of_cells(unit)
        self.finer = [self._of_cells((*table.strata, key)) for key in loose]

    def _of_cells(self, keys: Sequence[str]) -> Any:
        """A number for every cell, the same where these columns are."""
        import numpy as np

        found = np.zeros(len(self.members), dtype=np.int64)
        found[self.table.cell] = self.table.numbered(keys)
        return found

    def _tests(self, confidence: float, claim: Claim) -> tuple[SliceTests, str]:
        shuffle, how = self._shuffle()
        if shuffle is None:
            return self._holm(confidence, claim), how
        self.shuffle = shuffle
        return stepped_down(shuffle, confidence=confidence, claim=claim, draws=DRAWS), how

    def _shuffle(self) -> tuple[Shuffle | None, str]:
        table, members = self.table, self.members.astype(float)
        word = table.asked.rollouts.words.rollouts
        if table.own:
            return self._clusters(members)
        kept = slices.kept(self.n, self.m, self.stratum)
        success = table.asked.measure == "success"
        if kept >= ENOUGH and success:
            return slices.of_successes(self.x, self.n, self.y, self.m, members), f"Labels of {word} shuffled."
        if kept >= ENOUGH:
            if slices.lopsided(self.n, self.m, members) > LOPSIDED:
                return None, f"Unequal numbers of {word}: Holm on the p-value of every slice."
            made = slices.of_scores(table.value, table.first, table.cell, members)
            return made, f"Labels of {word} shuffled."
        if self.dealt and success:
            made = slices.of_dealt(self.x, self.n, self.y, self.m, self.stratum, members)
            return made, "Few in a cell: labels, dealt at random, shuffled inside strata (measured)."
        return None, "Few in a cell: Holm on the p-value of every slice."

    def _clusters(self, members: Any) -> tuple[Shuffle | None, str]:
        """Whole clusters are shuffled where each lies in one cell."""
        import numpy as np
        import polars as pl

        table, name = self.table, self.table.called(str(self.table.unit))
        frame = table.frame.select(
            pl.col(FIRST).alias("first"), pl.col(VALUE).alias("value"), pl.col(str(table.unit)).alias("unit")
        ).with_columns(cell=pl.Series(table.cell))
        whole = frame.group_by("first", "unit").agg(
            pl.col("value").sort().sum().alias("sum"), pl.len().alias("size"), pl.col("cell").first(),
            pl.col("cell").n_unique().alias("cells"),
        ).sort("cell", "first", "sum", "size")  # fmt: skip
        if whole["cells"].max() != 1:
            return None, f"{name} spans cells: Holm on the p-value of every slice, by whole {plural(name)}."
        cell, total, size = (whole[one].to_numpy() for one in ("cell", "sum", "size"))
        count = len(members)
        mean = np.bincount(cell, total, minlength=count) / np.maximum(np.bincount(cell, size, minlength=count), 1.0)
        made = slices.of_scores(total - size * mean[cell], whole["first"].to_numpy(), cell, members)
        return made, f"Labels of whole {plural(name)} shuffled."

    def _strata(self, place: int, group: Any) -> Strata:
        """Of every group of a slice's cells that both met: its number, both policies' rollouts and sums, its weight."""
        import numpy as np

        inside, count = self.members[:, place], int(group.max(initial=0)) + 1
        sums = [np.bincount(group[inside], one[inside], minlength=count) for one in (self.n, self.x, self.m, self.y)]
        both = np.flatnonzero((sums[0] > 0) & (sums[2] > 0))
        n, x, m, y = (one[both].astype(float) for one in sums)
        unit_of = np.zeros(count, dtype=np.int64)
        unit_of[group] = self.unit
        share = 1.0 / np.bincount(unit_of[both])[unit_of[both]]  # units alike, or all rollouts
        share = n + m if self.table.asked.weights == "rollouts" else share
        return Strata(both, n, x, m, y, share / share.sum() if len(both) else share)

    def _ways(self, place: int) -> list[tuple[Any, Strata]]:
        """A slice within its strata, before it within every factor whose levels the two met in unequal shares (21a)."""
        import numpy as np

        inside, found = self.members[:, place], []
        for group in self.finer if not self.dealt else ():
            home, fine = self.stratum[inside], group[inside]
            n, m = self.n[inside], self.m[inside]
            share = (np.bincount(home, n) / np.maximum(np.bincount(home, n + m), 1.0))[home]
            own = np.bincount(fine, n), np.bincount(fine, n + m), np.bincount(fine, share * (n + m))
            rest = np.bincount(fine, (1.0 - share) * (n + m))
            both = (own[2] > 0.0) & (rest > 0.0)
            distance = float((((own[0] - own[2]) ** 2)[both] * (1.0 / own[2][both] + 1.0 / rest[both])).sum())
            if distance > UNEVEN:
                found.append((distance, group))
        found.sort(key=lambda one: -one[0])
        return [(group, self._strata(place, group)) for group in (*(group for _, group in found), self.stratum)]

    def _estimate(self, place: int) -> float:
        strata = self._ways(place)[0][1]
        return float((strata.weights * (strata.x / strata.n - strata.y / strata.m)).sum()) if len(strata.both) else 0.0

    def _make(self, place: int) -> Any:
        if self.table.own:
            return self._of_runs(place)
        ways = [self._within(place, group, strata) for group, strata in self._ways(place)]
        return None if None in ways else weakest(ways)

    def _of_runs(self, place: int) -> Any:
        table, asked = self.table, self.table.asked
        frame = table.frame.filter(self.rows(place))
        sides = [frame.filter(frame[FIRST] == side) for side in (True, False)]
        ours, theirs = (asked.scores(side[VALUE].to_list()) for side in sides)
        own, others = (side[str(table.unit)].to_list() for side in sides)
        return asked.shown(partial(stats.two_sample_cluster_gain, ours, theirs, (own, others)))

    def _within(self, place: int, group: Any, strata: Strata) -> Any:
        """The gain within groups of cells; None where the two share none."""
        table, asked = self.table, self.table.asked
        if not len(strata.both):
            return None
        weights = {str(one): float(share) for one, share in zip(strata.both, strata.weights, strict=True)}
        if asked.measure == "success":
            parts: Parts = {
                str(one): (Tally(round(x), int(n)), Tally(round(y), int(m)))
                for one, n, x, m, y in zip(strata.both, strata.n, strata.x, strata.m, strata.y, strict=True)
            }
            return _gain_of(parts, weights, asked.measure)
        rows, inside = group[table.cell], self.rows(place)
        parts = {}
        for one in strata.both:
            here = inside & (rows == one)
            ours, theirs = (asked.scores(sorted(table.value[here & side])) for side in (table.first, ~table.first))
            parts[str(one)] = ours, theirs
        return _gain_of(parts, weights, asked.measure)

    def _drop(self, place: int, error: float) -> float | None:
        shuffle = getattr(self, "shuffle", None)
        if shuffle is None or (self.table.asked.measure == "success" and not self.table.own):
            return super()._drop(place, error)
        inside = self.members[:, place]
        both = self.n[inside] + self.m[inside]
        weight = float((self.n[inside] * self.m[inside] / both).sum())
        return shuffled_drop(float(shuffle.spread[place]) ** 2, weight, 0.0, error)


class _Units(_Kind):
    """Pairs, or units and clusters of pairs: one fair sign for each."""

    def _told(self) -> Any:
        """Rows that have a partner in their unit and cell."""
        import polars as pl

        table = self.table
        self.on = list(dict.fromkeys((str(table.unit), *table.inner, *table.keys)))
        self.pairs = pairs_of(table, (*table.inner, *table.keys)).sort(self.on)
        numbered = self.pairs.select(*self.on, pl.int_range(pl.len()).alias("__pair__"))
        joined = table.frame.select(*self.on).join(numbered, on=self.on, how="left", maintain_order="left")
        self.pair_of = joined["__pair__"]
        return self.pair_of.is_not_null().to_numpy()

    def _rows(self) -> tuple[Any, Any]:
        """The unit and the cell of every pair."""
        import numpy as np

        place = self.pair_of.filter(self.told).to_numpy()
        cell = np.zeros(self.pairs.height, dtype=np.int64)
        cell[place] = self.table.cell[self.told]
        return self.pairs[str(self.table.unit)].rank("dense").cast(int).to_numpy() - 1, cell

    def _tests(self, confidence: float, claim: Claim) -> tuple[SliceTests, str]:
        import numpy as np

        unit, cell = self._rows()
        gap = self._gaps(cell)
        name, count = self.table.called(str(self.table.unit)), len(self.members)
        if self.single and self.table.asked.measure == "success":
            lost, won = (np.bincount(cell[side], minlength=count).astype(float) for side in (gap > 0, gap < 0))
            shuffle = slices.of_pairs(lost, won, self.members.astype(float))
            how = f"Pairs by {name}: labels exchanged inside pairs."
        else:
            order = np.lexsort((gap, cell))
            sums = np.zeros((int(unit.max(initial=-1)) + 1, self.members.shape[1]))
            np.add.at(sums, unit[order], gap[order, None] * self.members[cell[order]])
            sums = sums[np.lexsort(sums.T[::-1])]
            shuffle = slices.of_units(sums)
            how = f"Labels exchanged in whole {plural(name)}."
        self.shuffle = shuffle
        if not self.even:
            self.notes = (Note("uneven partners", {"unit": name}),)
        return stepped_down(shuffle, confidence=confidence, claim=claim, draws=DRAWS), how

    def _gaps(self, cell: Any) -> Any:
        """What the second has more than the first in every pair; of the one with more rollouts as many are drawn.

        Only so may the labels of a whole unit be exchanged: a mean of 3 and a mean of 1 rollout do not have one law.
        """
        import numpy as np
        import polars as pl

        if self.even:
            return (self.pairs["__y__"] - self.pairs["__x__"]).to_numpy()
        facts = self.pairs.select("^__.*__$").with_columns(pl.Series("__cell__", cell)).with_row_index("__pair__")
        rows = self.table.frame.select(FIRST, VALUE).with_columns(self.pair_of.cast(pl.get_index_type()))
        rows = rows.join(facts, on="__pair__", how="inner").sort("__cell__", "^__[nmxy]__$", "__pair__", FIRST, VALUE)
        drawn = pl.Series("__drawn__", np.random.default_rng(slices.SEED).random(rows.height))
        place = pl.col("__drawn__").rank("ordinal").over("__pair__", FIRST)
        kept = rows.with_columns(drawn).filter(place <= pl.col("__least__"))
        gap = pl.when(FIRST).then(-pl.col(VALUE)).otherwise(VALUE).sort().sum().alias("__gap__")
        return kept.group_by("__pair__").agg(gap).sort("__pair__")["__gap__"].to_numpy()

    @property
    def even(self) -> bool:
        """Whether both policies were run equally often in every unit and cell."""
        return bool((self.pairs["__n__"] == self.pairs["__m__"]).all())

    @property
    def single(self) -> bool:
        """Whether every unit is one pair."""
        once = bool((self.pairs["__n__"] == 1).all() and (self.pairs["__m__"] == 1).all())
        return once and self.pairs[str(self.table.unit)].n_unique() == self.pairs.height

    def _slice(self, place: int) -> Any:
        _, cell = self._rows()
        return self.pairs.filter(self.members[cell, place])

    def _estimate(self, place: int) -> float:
        part = self._slice(place)
        return float((part["__x__"] / part["__n__"] - part["__y__"] / part["__m__"]).mean())

    def _make(self, place: int) -> Any:
        part, asked = self._slice(place), self.table.asked
        first, second = part["__x__"] / part["__n__"], part["__y__"] / part["__m__"]
        if self.single and asked.measure == "success":
            kinds = [int(((first > 0.5) == a).__and__((second > 0.5) == b).sum()) for a, b in _KINDS]
            tally = PairTally(both=kinds[0], first_only=kinds[1], second_only=kinds[2], neither=kinds[3])
            return partial(stats.exact_paired_gain, tally)
        scores = asked.scores(first), asked.scores(second)
        if self.single:
            return partial(stats.paired_score_gain, *scores)
        return asked.shown(partial(stats.cluster_gain, *scores, part[str(self.table.unit)].to_list()))

    def _drop(self, place: int, error: float) -> float | None:
        """By the normal; the shuffle spreads by the drop itself too, so that few units may never show any."""
        import numpy as np

        unit, cell = self._rows()
        inside, least = self.members[cell], self.pairs["__least__"].to_numpy()
        loads = np.zeros((int(unit.max(initial=-1)) + 1, inside.shape[1]))
        np.add.at(loads, unit, least[:, None] * inside)
        squares, spread = (loads**2).sum(axis=0), np.nan_to_num(self.shuffle.spread) * (2.0 if self._halved else 1.0)
        usual = float((spread**2).sum() / max(1.0, squares.sum()))  # of few units the spread seen may be 0 by chance
        wide = max(float(spread[place]) ** 2, usual * float(squares[place]))
        weight, square = float(loads[:, place].sum()), float(squares[place])
        drop = shuffled_drop(wide, weight, square, error)
        asked, (sizes, sums) = self.table.asked, self._seen()
        if drop is not None and asked.measure == "success":  # pairs in which only the second succeeds are as many
            drop = max(drop, slices.standard_errors(error) ** 2 * square / weight**2)
        most = sums[place][1] / sizes[place][1] if asked.measure == "success" else asked.ends[1] - asked.ends[0]
        return drop if drop is not None and drop <= most else None

    @property
    def _halved(self) -> bool:
        return self.single and self.table.asked.measure == "success"


_KINDS = ((True, True), (True, False), (False, True), (False, False))


class _Alone(_Kind):
    """One policy: every slice against the rest of its rollouts, within strata."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.kept: dict[int, tuple[Parts, dict[str, float], float]] = {}

    def _seen(self) -> tuple[list[tuple[int, int]], list[tuple[float, float]]]:
        import numpy as np

        cell, value, length = self.table.cell, self.table.value, len(self.members)
        count, total = (np.bincount(cell, of, length) @ self.members for of in (None, value))
        sizes = [(int(one), len(value) - int(one)) for one in count]
        return sizes, [(float(one), float(value.sum() - one)) for one in total]

    def _parts(self, place: int) -> tuple[Parts, dict[str, float], float]:
        """Outcomes in the slice and elsewhere by stratum, the weights of strata, and the gain."""
        import numpy as np

        if place in self.kept:
            return self.kept[place]
        table, asked = self.table, self.table.asked
        own = {table_key for table_key in table.strata if table.called(table_key) in dict(self.names[place].parts)}
        rows = table.numbered([key for key in table.strata if key not in own])
        inside, gain = self.rows(place), 0.0
        rows = np.zeros_like(rows) if met_alike(rows, inside) else rows
        parts: Parts = {}
        weights: dict[str, float] = {}
        for one in range(int(rows.max(initial=-1)) + 1):
            here, there = (table.value[(rows == one) & side] for side in (inside, ~inside))
            if not len(here) or not len(there):
                continue
            weights[str(one)] = len(here) * len(there) / (len(here) + len(there))
            gain += weights[str(one)] * float(here.mean() - there.mean())
            if asked.measure == "success":
                parts[str(one)] = Tally(round(here.sum()), len(here)), Tally(round(there.sum()), len(there))
            else:
                parts[str(one)] = asked.scores(np.sort(here)), asked.scores(np.sort(there))
        total = sum(weights.values()) or 1.0
        self.kept[place] = parts, {one: share / total for one, share in weights.items()}, gain / total
        return self.kept[place]

    def _estimate(self, place: int) -> float:
        return self._parts(place)[2]

    def _tests(self, confidence: float, claim: Claim) -> tuple[SliceTests, str]:
        name = "Boschloo's test" if self.table.asked.measure == "success" else "the p-value"
        whole = ""
        if self.table.unit is not None:
            name, whole = "the p-value", f", by whole {plural(self.table.called(self.table.unit))}"
        return self._holm(confidence, claim), f"Holm on {name} of every slice against the rest{whole}."

    def _make(self, place: int) -> Any:
        parts, weights, _ = self._parts(place)
        table, asked = self.table, self.table.asked
        if not parts:
            return None
        if table.unit is not None:
            inside = self.rows(place)
            sides = [table.frame.filter(side) for side in (inside, ~inside)]
            own, others = (side[table.unit].to_list() for side in sides)
            ours, theirs = (asked.scores(side[VALUE].to_list()) for side in sides)
            shared = not set(own).isdisjoint(others)
            return asked.shown(partial(stats.two_sample_cluster_gain, ours, theirs, (own, others), shared=shared))
        return _gain_of(parts, weights, asked.measure)
