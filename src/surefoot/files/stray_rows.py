"""Rows of a table that hold no rollout: the header once more, units, totals, blank rows, a second table.

Files are put together by appending, and sheets are kept by hand. A row that is no rollout must not be counted as one:
it is left out with a note that says where it stands, or refused where it cannot be told what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from surefoot.core import formatting
from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.table.cells import WORDS
from surefoot.table.columns import KNOWN, OUTCOMES, match, plain

if TYPE_CHECKING:
    import polars as pl

BLANK, HEADER, UNITS, TOTAL = "blank rows", "header again", "unit row", "total rows"
TOTALS = re.compile(
    r"(?:grand_|sub_?)?(?:totals?|sum|mean|means|average|averages|avg|overall|median|std|stdev|std_dev)"
    r"(?:_(?:all|rate|score|success|successes|success_rate|percent|std|sd))*"
)
"""What a row of totals is called, as names of columns are compared."""
TOTAL_START = r"^\W*(?:grand|sub|total|sum|mean|average|avg|overall|median|std)"
"""How such a cell begins, for engines that look at many cells."""
UNIT = re.compile(
    r"[(\[]?\s*(?:%|percent|s|sec|secs|seconds?|ms|min|mins|minutes?|h|hours?|hz|m|mm|cm|kg|g|newtons?|deg|degrees?|rad|°|"
    r"bool|boolean|binary|int|integer|float|str|string|text|number|count|#|-|date|0/1|1/0|y/n|yes/no|true/false|t/f|"
    r"pass/fail|p/f|0-1|0\.\.1|0-100|0 to 1|0 or 1|unitless|steps?|usd|\$|points?|pts)\s*[)\]]?",
    re.IGNORECASE,
)
"""What may stand below a name to say in what its column is measured."""
COUNTS = frozenset(("n", "k", "successes", "trials", "rate", "success_rate", "mean", "total", "count", "average"))

Row = tuple[int, Sequence[str]]
"""A row's place among all rows below the header, blank ones too, from 0, and its cells without spaces around them."""


def are_units(cells: Sequence[str]) -> bool:
    """Whether a row says in what its columns are measured, and nothing else."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    outcomes = WORDS - {"s"}  # below a header it is seconds
    return bool(filled) and all(UNIT.fullmatch(cell) and cell.casefold() not in outcomes for cell in filled)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The rows of a table that were left out, and where in the file the others stand.

    Attributes:
        kinds: The kind of each row that was left out, by its place among all rows below the header.
        notes: What is said of them.
        line: The line of a place.
    """

    kinds: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    line: Callable[[int], int] = lambda place: place + 2

    def where(self, row: int) -> tuple[int, int]:
        """The row and the line in the file of a row of those that are left, from 1."""
        place = row - 1
        for left in sorted(self.kinds):
            place += left <= place
        blank = sum(kind == BLANK and left < place for left, kind in self.kinds.items())
        return place + 1 - blank, self.line(place)

    def line_of_row(self, row: int) -> int:
        """The line of a row, from 1, of all that are not blank."""
        place = row - 1
        for left in sorted(left for left, kind in self.kinds.items() if kind == BLANK):
            place += left <= place
        return self.line(place)

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Refusals inside say where a row stands in the file, and not among those that are left."""
        try:
            yield
        except DataError as error:
            if not self.kinds or error.row is None or error.row < 1:
                raise
            raise error.placed(*self.where(error.row)) from None


class Sorting:
    """What each suspect row of a table is, told from the header and from the rows around it."""

    def __init__(self, header: Sequence[str], source: str, line: Callable[[int], int]) -> None:
        """Begin with the names of the columns; `line` gives the line of a place."""
        self.header, self.source, self.line = [" ".join(name.split()) for name in header], source, line
        self._plain = [plain(name) for name in self.header]
        found = match(self.header, {})[0]
        self.policy = self.header.index(found["policy"]) if "policy" in found else None
        self._outcomes = [at for at, name in enumerate(self._plain) if name in OUTCOMES]

    def left_out(
        self, suspects: Sequence[Row], first: Row | None, rows: int, others: Callable[[int, str], tuple[int, int]]
    ) -> LeftOut:
        """The rows to leave out of a table.

        Args:
            suspects: The rows that are blank, stand below a blank one, or begin as a header or a total does.
            first: The first row that is not blank.
            rows: How many rows there are that are not blank.
            others: How many rows hold a value in a column, and how many different values are beside it there.

        Raises:
            DataError: A row may be a rollout or not, or begins a second table.
        """
        kinds: dict[int, str] = {}
        totals: dict[tuple[int, str], list[int]] = {}
        for place, cells in suspects:
            filled = [at for at, cell in enumerate(cells) if cell]
            if not filled:
                kinds[place] = BLANK
            elif self._is_header(cells) and not self._worded(others):
                kinds[place] = HEADER
            elif first is not None and place == first[0] and are_units(cells):
                kinds[place] = UNITS
            elif (named := self._total(cells, filled)) is not None:
                totals.setdefault((named, cells[named]), []).append(place)
            else:
                self._refuse_second(place, cells, filled, kinds.get(place - 1) == BLANK, others)
        blocks = 1 + sum(kind == BLANK for kind in kinds.values())
        named = sum(len(places) for places in totals.values())
        if named < rows - sum(kind in (HEADER, UNITS) for kind in kinds.values()):
            for (at, word), places in totals.items():
                self._few(word, places, max(blocks, others(at, word)[1]))
                kinds |= dict.fromkeys(places, TOTAL)
        self._refuse_a_name(suspects, kinds)
        return LeftOut(kinds, self._notes(kinds, dict(suspects)), self.line)

    def _is_header(self, cells: Sequence[str]) -> bool:
        return [" ".join(cell.split()).casefold() for cell in cells] == [name.casefold() for name in self.header]

    def _worded(self, others: Callable[[int, str], tuple[int, int]]) -> bool:
        """Whether the header may be an outcome in words, for it only names outcomes and these are in words."""
        if any(name and at not in self._outcomes for at, name in enumerate(self.header)):
            return False
        return any(
            not others(at, self.header[at])[1] or any(others(at, word)[0] for word in WORDS - {name})
            for at, name in enumerate(self._plain)
            if name in WORDS
        )

    def _total(self, cells: Sequence[str], filled: list[int]) -> int | None:
        """The column whose cell says that the row is a total: the first that is filled, or the policy's."""
        looked = dict.fromkeys(at for at in (filled[0], self.policy) if at is not None)
        return next((at for at in looked if at not in self._outcomes and TOTALS.fullmatch(plain(cells[at]))), None)

    def _few(self, word: str, places: list[int], most: int) -> None:
        if len(places) > most:
            raise DataError(
                f"a row must be a rollout or a total; {len(places):,} rows are called {word!r}, which may be the name "
                "of a policy.",
                source=self.source,
                line=self.line(places[0]),
                cure="Rename the policy, or delete the totals.",
            )

    def _refuse_second(
        self,
        place: int,
        cells: Sequence[str],
        filled: list[int],
        below: bool,
        others: Callable[[int, str], tuple[int, int]],
    ) -> None:
        """Refuse a row that begins another table or is a remark: both would be read as rollouts."""
        names = [plain(cells[at]) for at in filled]
        known = len(names) > 1 and len({*names}) == len(names) and {*names} <= {*self._plain, *KNOWN, *COUNTS}
        own = [at for at in filled if at not in self._outcomes and plain(cells[at]) == self._plain[at]]
        worded = any(cells[at].casefold() in WORDS for at in self._outcomes)
        if known and (below or (own and not worded) or {*names} <= {*self._plain}):
            shown = formatting.some_names([repr(cells[at]) for at in filled])
            raise DataError(
                f"a file must hold one table; {shown} is the header of another.",
                source=self.source,
                line=self.line(place),
                cure="Put every table into a file or on a sheet of its own.",
            )
        told = not self._outcomes or any(cells[at] for at in self._outcomes)
        if below and len(cells) > 1 and (len(filled) == 1 or not told) and others(filled[0], cells[filled[0]])[0] < 2:
            raise DataError(
                f"a row must be a rollout; {cells[filled[0]]!r} stands below a blank row, and there is no outcome "
                "beside it.",
                source=self.source,
                line=self.line(place),
                cure="Delete it if it is a remark; put a second table into a file or on a sheet of its own.",
            )

    def _refuse_a_name(self, suspects: Sequence[Row], kinds: Mapping[int, str]) -> None:
        """Refuse a header once more where other rows show that it may be a name and an outcome in words."""
        again = [place for place, kind in kinds.items() if kind == HEADER]
        key = next((at for at, name in enumerate(self.header) if name and at not in self._outcomes), None)
        if not again or key is None or not any(self._plain[at] in WORDS for at in self._outcomes):
            return
        for place, cells in suspects:
            if place not in kinds and cells[key].casefold() == self.header[key].casefold():
                raise DataError(
                    f"a row must be a rollout or the header once more; line {self.line(again[0]):,} may be either, for "
                    f"{cells[key]!r} is a name too.",
                    source=self.source,
                    line=self.line(place),
                    cure=f"Rename {cells[key]!r}.",
                )

    def _notes(self, kinds: Mapping[int, str], cells: Mapping[int, Sequence[str]]) -> tuple[Note, ...]:
        notes = []
        for kind in (BLANK, HEADER, UNITS, TOTAL):
            places = sorted(place for place, one in kinds.items() if one == kind)
            values: dict[str, object] = {"lines": tuple(map(self.line, places))}
            if kind == UNITS:
                values["units"] = tuple(dict.fromkeys(cell for place in places for cell in cells[place] if cell))
            if kind == TOTAL:
                values["names"] = tuple(dict.fromkeys(cells[one][self._named(cells[one])] for one in places))
            notes += [Note(kind, values)] if places else []
        return tuple(notes)

    def _named(self, cells: Sequence[str]) -> int:
        filled = [at for at, cell in enumerate(cells) if cell]
        named = self._total(cells, filled)
        return filled[0] if named is None else named


PLACE = "__place__"
WIDEST = 300
"""A table with more columns is read whole: as expressions of an engine they cost more than their cells."""


def of_frame(frame: pl.LazyFrame, header: Sequence[str], rows: int, source: str, line: Callable[[int], int]) -> LeftOut:
    """The rows to leave out of a frame, of any size: one column or two are looked at before any other."""
    import polars as pl

    frame = frame.select(pl.all().cast(pl.String))
    sorting, columns = Sorting(header, source, line), list(frame.collect_schema())
    if len(columns) > WIDEST:
        held = frame.collect().rows()
        return of_rows(header, [[(cell or "").strip() for cell in row] for row in held], source, line)
    cells = [pl.col(name).str.strip_chars().replace("", None) for name in columns]
    key = sorting.policy or 0
    names = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in sorting.header if name)
    begins = rf"(?i)^(?:\s*|\s*(?:{names})\s*)$|{TOTAL_START}"

    def at(places: list[int], only: pl.Expr | None = None) -> list[Row]:
        held = frame.select(cells).with_row_index(PLACE).filter(pl.col(PLACE).is_in(places))
        found = (held if only is None else held.filter(only)).collect(engine="streaming")
        return [(row[0], [cell or "" for cell in row[1:]]) for row in found.rows()]

    def others(column: int, value: str) -> tuple[int, int]:
        cell = cells[column]
        counts = ((cell == value).sum().alias("held"), cell.filter(cell != value).n_unique().alias("others"))
        held, beside = frame.select(counts).collect(engine="streaming").row(0)
        return held, beside

    looked = [columns[one] for one in dict.fromkeys((0, key))]
    suspect = pl.any_horizontal(pl.col(columns[key]).is_null(), pl.col(looked).str.contains(begins))
    top = frame.head(50).select(cells).collect().rows()
    first = next(((place, [cell or "" for cell in row]) for place, row in enumerate(top) if any(row)), None)
    places = list[int]()
    if frame.select(suspect.any()).collect(engine="streaming").item():
        found = frame.select(looked).with_row_index(PLACE).filter(suspect).select(PLACE)
        places = found.collect(engine="streaming")[PLACE].to_list()
    filled = pl.coalesce(pl.col(columns))
    told = filled.is_null() | filled.str.contains(begins) | pl.col(columns[key]).str.contains(begins)
    suspects = [row for row in at(places, told) if len(columns) > 1 or any(row[1])] if places else []
    blank = [place for place, row in suspects if not any(row)]
    below = at([place + 1 for place in blank]) if blank else []
    every = dict((*suspects, *below, *([first] if first else [])))
    return sorting.left_out(sorted(every.items()), first, rows, others)


def of_rows(header: Sequence[str], rows: Sequence[Sequence[str]], source: str, line: Callable[[int], int]) -> LeftOut:
    """The rows to leave out of a table that is held in memory; cells have no spaces around them."""
    sorting = Sorting(header, source, line)
    filled = [(place, cells) for place, cells in enumerate(rows) if any(cells)]

    def others(at: int, value: str) -> tuple[int, int]:
        held = [cells[at] for _, cells in filled]
        return held.count(value), len({*held} - {value, ""})

    first = filled[0] if filled else None
    return sorting.left_out(list(enumerate(rows)), first, len(filled), others)
