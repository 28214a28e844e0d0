"""What every column of a table is, by the shape of the table: the decision table of "what is an answer about?", slowly.

Lists and dictionaries only; chi2 from scipy. `roles(columns, policy, outcome)` gives one word a column, names on;
`names=False` looks at no name at all. The rows of the table are numbered as in the text.

Where the text can be read in two ways, the reading taken here (the reference tables fit all of them unless said):

 1. An empty cell (None or blank) is a level of its own, the empty text; it is not counted among the levels of row 1
    ("one level"), and a column that has one does not count (it is not a whole number).
 2. "Fractions": every cell that is not empty is a number, and one of them is not whole. "1.0" is whole, and the level
    is the text as it stands.
 3. "Two rows a level or more" (row 2) and "two units a level or more" (row 10) are averages.
 4. One policy alone: rows 2 and 3 ask about other policies and are passed over; no column is even (one side is
    empty), so that only the counting clause sets columns.
 5. "All levels" and "levels met by both" of the evenness are said of the cells (u, l) inside u in the same way, and f
    of a level of u is taken over the cells that stay. "By both": by the policy and by any of the others.
 6. "Nested with the anchor": either way, and the anchor with itself.
 7. The counting clause goes once through the unset columns; c' is any column that came past row 3, set or not, and
    every c' that fits is set. A set column c sets no c': where the repeats of units differ between policies (1 to 5
    in 88 units), the number of the try is then "watched" in two tables of five.
 8. "Span": from the least to the largest, both counted (1 to 5 without the 3 spans five places of four cells).
    "Starting at the least": at the least of the whole column. All three conditions hold in 90% of the cells at once.
    A cell of one row counts whenever its number is the least or one above: so the text, without an exception.
 9. Row 5 and the reference tables: these call a watched column "nothing". Here it is "watched"; a column that sounds
    like a result (preface, item 3) stays watched, since that item leaves it out of slices only.
10. "The outcome said again": every level of the column goes with one outcome, and there are two outcomes at least.
11. Row 6: of columns with the same partition one that is not whole numbers stays, else see 14.
12. Row 7: "at least one of which they are not nested in": a column inside every other one is no counter.
    Run names (preface, b) are taken out of the counters first, so that row 7's "only counter" is said of the rest.
13. Preface (a): of several counters the finest of those whose name is in MEETS is left for row 9 in place of the
    finest; row 9 still takes the most levels, so that a finer column that does not count stays the unit. With one
    counter the same.
14. Ties in the number of levels (anchor, order of the clause, finest counter, unit): columns that are not whole numbers
    first, then the sorted levels, then the sorted counts of level and policy; names come last, where the columns can
    be exchanged for one another.
15. Row 10: a column of 20 levels or more in which units lie, fewer than two a level, is "nothing"; a column inside the
    unit cannot be (it would have more levels), and the same partition went in row 6.
16. A run by row 2 with one level for every cell of policy and some unit, setting or cluster (or all of them) is
    nothing: a folder or a note of each policy's rollouts of a task says nothing that the task does not (record 0051).
17. Names are compared in small letters, other signs as one "_"; of a dotted name the last part is looked at too.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from scipy import stats

MANY = 20
THINGS = ("item", "task", "scene", "question", "prompt", "problem", "instance", "example", "case", "env")
MEETS = frozenset(
    (
        *("seed", "env_seed", "episode_seed", "eval_seed", *THINGS, *(f"{thing}_id" for thing in THINGS)),
        *("doc_id", "document", "id", "condition", "init_state", "initial_condition", "pose", "layout", "start"),
    )
)
RUNS = frozenset(("run", "train_seed", "training_seed", "run_seed", "model_seed"))

Labels = list[str]


def roles(columns: dict[str, list], policy: str, outcome: Sequence[object], *, names: bool = True) -> dict[str, str]:
    """The role of every column but the policy's: nothing, run, repeat, unit, setting, cluster or watched."""
    return Shape(columns, policy, outcome).roles(names)


def asked(columns: dict[str, list], policy: str, outcome: Sequence[object]) -> str | None:
    """The counter whose role a name alone decides (row 8 with one counter), if there is one."""
    shape = Shape(columns, policy, outcome)
    shape.roles(False)
    return shape.tie


def text(cell: object) -> str:
    """The level of a cell."""
    return "" if cell is None else str(cell).strip()


def number(level: str) -> float | None:
    """The number that a level writes, if it writes one."""
    return float(level) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", level) else None


def called(name: str, known: frozenset[str]) -> bool:
    """Whether a name is among some."""
    plain = [re.sub(r"\W+", "_", part.strip().casefold()).strip("_") for part in (name, name.rsplit(".", 1)[-1])]
    return any(word in known for word in plain)


def inside(fine: Labels, coarse: Labels) -> bool:
    """Whether every level of the one lies in one level of the other."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def evenness(column: Labels, policies: Labels, within: Labels | None = None) -> float:
    """The middle chance, over policies, that shares are as alike as they are or more; f by level of `within`."""
    homes = within or [""] * len(column)
    cells = list(zip(homes, column, strict=True))
    total, home = Counter(cells), dict(zip(cells, homes, strict=True))
    chances = []
    for q in sorted(set(policies)):
        own = Counter(cell for cell, p in zip(cells, policies, strict=True) if p == q)
        kept = list(total)
        if sum(own.values()) / len(own) >= 5:
            kept = [cell for cell in total if 0 < own[cell] < total[cell]]
        mine, all_of = Counter(), Counter()
        for cell in kept:
            mine[home[cell]] += own[cell]
            all_of[home[cell]] += total[cell]
        kept = [cell for cell in kept if 0 < mine[home[cell]] < all_of[home[cell]]]
        freedom = len(kept) - len({home[cell] for cell in kept})
        if freedom < 1:
            chances.append(0.0 if kept and within else 1.0)
            continue
        distance = 0.0
        for cell in kept:
            f = mine[home[cell]] / all_of[home[cell]]
            distance += (own[cell] - f * total[cell]) ** 2 / (total[cell] * f * (1 - f))
        chances.append(float(stats.chi2.cdf(distance, freedom)))
    return sorted(chances)[math.ceil(len(chances) / 2) - 1]


def alike(column: Labels, within: Labels, policies: Labels) -> bool:
    """Whether a policy and the others met the levels of a column in like shares inside the levels of another."""
    counts: dict = defaultdict(Counter)
    for level, u, p in zip(column, within, policies, strict=True):
        counts[p, u][level] += 1
        counts[u][level] += 1
    overlap = rows = 0.0
    for u, own in [(key[1], own) for key, own in counts.items() if isinstance(key, tuple)]:
        others = counts[u] - own
        if others:
            n, m = sum(own.values()), sum(others.values())
            overlap += n * sum(min(own[level] / n, others[level] / m) for level in own)
            rows += n
    chance = sum((k / len(column)) ** 2 for k in Counter(column).values())
    return rows > 0 and (overlap / rows - chance) / (1 - chance) >= 0.6


def counts_in(column: Labels, cells: list) -> bool:
    """Whether a column counts 1, 2, 3 ... (or from 0) inside cells."""
    numbers = [number(level) for level in column]
    if any(x is None or x != math.floor(x) for x in numbers) or min(numbers) not in (0, 1):
        return False
    members = defaultdict(list)
    for cell, x in zip(cells, numbers, strict=True):
        members[cell].append(x)
    fit = sum(len(set(xs)) == len(xs) for xs in members.values())
    span = max(numbers) - min(numbers) + 1
    return fit >= 0.9 * len(members) and span <= 1.25 * max(len(set(xs)) for xs in members.values())


class Shape:
    """A table's labels, and the decision table asked of them row by row."""

    def __init__(self, columns: dict[str, list], policy: str, outcome: Sequence[object]) -> None:
        self.policies = [text(cell) for cell in columns[policy]]
        self.outcome = [text(cell) for cell in outcome]
        self.columns = {name: [text(cell) for cell in cells] for name, cells in columns.items() if name != policy}
        self.role: dict[str, str] = {}
        self.set: list[str] = []
        self.runs: list[str] = []
        self.tie: str | None = None

    def roles(self, names: bool) -> dict[str, str]:
        """Every role."""
        left = [name for name in self.columns if not self._out(name)]
        self._set_columns(left)
        for name in left:
            if name not in self.set:
                self.role[name] = "watched" if self._watched(name) else "nothing"
        self._one_of_each_partition()
        self._repeats(names)
        self._units()
        self._own_cells()
        return {name: self.role[name] for name in self.columns}

    # --- Rows 1 to 3

    def _out(self, name: str) -> bool:
        """Rows 1 to 3: nothing, or a run."""
        levels, rows = self.columns[name], len(self.policies)
        full = [level for level in levels if level]
        numbers = [number(level) for level in full]
        fractions = all(x is not None for x in numbers) and any(x != math.floor(x) for x in numbers)
        empty = rows - len(full) > 0.05 * rows
        role = None
        if len(set(full)) <= 1 or empty or fractions or inside(self.policies, levels):
            role = "nothing"
        elif len(set(self.policies)) > 1 and inside(levels, self.policies):
            role = "run" if rows >= 2 * len(set(levels)) else "nothing"
        elif len(set(self.policies)) > 1 and not self._shared(levels):
            role = "nothing"
        if role:
            self.role[name] = role
            self.runs += [name] * (role == "run")
        return role is not None

    def _shared(self, levels: Labels) -> bool:
        met = defaultdict(set)
        for level, p in zip(levels, self.policies, strict=True):
            met[level].add(p)
        enough = 0
        for q in set(self.policies):
            own = [level for level, p in zip(levels, self.policies, strict=True) if p == q]
            enough += 2 * sum(len(met[level]) > 1 for level in own) >= len(own)
        return 2 * enough >= len(set(self.policies))

    # --- Row 4

    def _rank(self, name: str) -> tuple:
        """Most levels first; ties as reading 14 says."""
        levels = self.columns[name]
        whole = all(number(level) is not None for level in levels)
        met = sorted(Counter(zip(levels, self.policies, strict=True)).items())
        return -len(set(levels)), whole, sorted(set(levels)), met, name

    def _cells(self, *names: str) -> list[tuple[str, ...]]:
        return list(zip(self.policies, *(self.columns[name] for name in names), strict=True))

    def _set_columns(self, left: list[str]) -> None:
        """Row 4: even and nested with the anchor, or alike and even inside it, or what makes another one count."""
        chance = {name: evenness(self.columns[name], self.policies) for name in left}
        even = [name for name in left if chance[name] <= 0.01]
        if even:
            anchor = min(even, key=lambda name: (chance[name], self._rank(name)))
            a = self.columns[anchor]
            for name in left:
                c = self.columns[name]
                nested = name in even and (inside(c, a) or inside(a, c))
                if nested or (alike(c, a, self.policies) and evenness(c, self.policies, a) <= 0.01):
                    self.set.append(name)
        for c in sorted(left, key=self._rank):
            for other in sorted(left, key=self._rank):
                if c in self.set and other in self.set:
                    continue
                rest = [name for name in self.set if name not in (c, other)]
                if other == c or not counts_in(self.columns[other], self._cells(c, *rest)):
                    continue
                if not counts_in(self.columns[other], self._cells(*rest)):
                    self.set += [name for name in (c, other) if name not in self.set]

    # --- Rows 5 and 6

    def _watched(self, name: str) -> bool:
        levels = self.columns[name]
        again = len(set(self.outcome)) > 1 and inside(levels, self.outcome)
        return len(set(levels)) < MANY and not again

    def _one_of_each_partition(self) -> None:
        kept: list[str] = []
        for name in sorted(self.set, key=lambda name: (self._rank(name)[1], self._rank(name))):
            c = self.columns[name]
            if any(inside(c, self.columns[k]) and inside(self.columns[k], c) for k in kept):
                self.role[name] = "nothing"
            else:
                kept.append(name)
        self.set = kept

    # --- Rows 7 and 8

    def _counter(self, name: str) -> bool:
        others = [other for other in (*self.set, *self.runs) if other != name]
        if others and all(inside(self.columns[name], self.columns[other]) for other in others):
            return False
        return counts_in(self.columns[name], self._cells(*others))

    def _repeats(self, names: bool) -> None:
        counters = sorted((name for name in self.set if self._counter(name)), key=self._rank)
        if names:
            for name in [name for name in counters if called(name, RUNS)]:
                self.role[name] = "run"
                self.set.remove(name)
                self.runs.append(name)
                counters.remove(name)
        if not counters:
            return
        most = len(set(self.columns[counters[0]]))
        finer = any(len(set(self.columns[name])) > most for name in self.set)
        alone = len(counters) == 1 and most < MANY and len(self.set) + len(self.runs) > 1
        repeats = counters
        if not finer and not alone:
            met = [name for name in counters if names and called(name, MEETS)]
            if len(counters) == 1:
                self.tie = counters[0]
                repeats = [] if met else counters
            else:
                spared = met[0] if met else counters[0]
                repeats = [name for name in counters if name != spared]
        for name in repeats:
            self.role[name] = "repeat"

    # --- Rows 9 and 10

    def _units(self) -> None:
        left = sorted((name for name in self.set if name not in self.role), key=self._rank)
        if not left:
            return
        unit, *others = left
        self.role[unit] = "unit"
        u = self.columns[unit]
        for name in others:
            c = self.columns[name]
            if len(set(c)) < MANY:
                self.role[name] = "setting"
            else:
                few = inside(u, c) and len(set(u)) < 2 * len(set(c))
                self.role[name] = "nothing" if few else "cluster"

    def _own_cells(self) -> None:
        """Reading 16: runs that are the cells of what all met."""
        met = [name for name in self.columns if self.role[name] in ("unit", "setting", "cluster")]
        for name in self.runs:
            levels = self.columns[name]
            for keys in (*([key] for key in met), met):
                cells = self._cells(*keys)
                if keys and inside(levels, cells) and inside(cells, levels):
                    self.role[name] = "nothing"
