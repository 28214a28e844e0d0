"""Which rollouts does a file of human labels label? All of it is joined to the table, or none."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from surefoot import _check
from surefoot.core import formatting
from surefoot.errors import DataError
from surefoot.files.recognising import utf8
from surefoot.table.cells import reading
from surefoot.table.columns import COLUMNS, match
from surefoot.table.label_draws import Head, code, drawn_items, item_columns, listing
from surefoot.table.labelling import Labelling, LabelsMethod
from surefoot.table.normalising import home
from surefoot.table.rollouts import Rollouts, a_table

if TYPE_CHECKING:
    import polars as pl

KEYS = ("task", "condition", "seed", "repeat", "order", "policy", "source")
"""Columns by which a label may say what it is about."""
TOLD = {"task": "task", "repeat": "epoch"}
"""Columns that may tell rollouts of one item apart, as a file of labels calls them."""


class Row(NamedTuple):
    """One row of a file of labels: its number, its cells by canonical name, and the label."""

    number: int
    cells: dict[str, str]
    human: float


def label(
    rollouts: Rollouts,
    labels: str | PathLike[str],
    *,
    measure: Literal["success", "score"] | None = None,
    method: LabelsMethod = "judge",
) -> Rollouts:
    """The table with the human labels of a file beside the judge's outcomes.

    The file has a row for each labelled rollout: `item` (and `task`, `epoch` where those are needed to tell rollouts
    apart), `policy` (or the `code` of `surefoot labels draw`), `human`, and `rater` when several people labelled;
    their labels of one rollout are averaged. A row without a label counts as not labelled.

    Args:
        rollouts: The table that the judge decided.
        labels: The file, a CSV.
        measure: Whether the labels are of success (0 to 1) or of the score; of success where the table has it.
        method: Whether comparisons use "judge" and labels, or "labels" alone.

    Raises:
        DataError: A label that is of no rollout, of several, given twice or out of range, with its row and cell.
    """
    import narwhals as nw
    import polars as pl

    path = Path(labels)
    a_table(rollouts)
    _check.choice(method, "method", {"judge": 1, "labels": 1})
    what = measure or ("success" if "success" in rollouts.columns else "score")
    rollouts.require(what)
    if "human" in rollouts.columns:
        raise DataError(
            "the table must not hold human labels when a file of them is given; it has a `human` column.",
            source=rollouts.source,
        )
    ends = rollouts.ends(what)
    head, columns, rows = _read(path, ends, [name for name in rollouts.columns if name not in COLUMNS])
    table = home(rollouts.frame)
    places = _places(rollouts, table, head, columns, rows, path.name)
    given: dict[int, dict[str, float]] = {}
    first: dict[tuple[int, str], int] = {}
    for row, place in zip(rows, places, strict=True):
        rater = row.cells.get("evaluator", "")
        before = first.setdefault((place, rater), row.number)
        if before != row.number:
            who = f" by {rater!r}" if rater else ""
            raise DataError(
                f"a rollout must be labelled once{who}; row {before:,} labels it too.", source=path.name,
                row=row.number, cure="" if rater else "Say who labelled in a `rater` column when several did.",
            )  # fmt: skip
        given.setdefault(place, {})[rater] = row.human
    human = [sum(of.values()) / len(of) if (of := given.get(place)) else None for place in range(table.height)]
    how = _raters(given)
    drawn = _drawn(rollouts, head, table, given) if head is not None else None
    if drawn is not None and head is not None:
        how = replace(how, drawn=head.drawn, missing=drawn, seed=head.seed)
    frame = table.with_columns(pl.Series("human", human, dtype=pl.Float64)).lazy()
    return replace(
        rollouts,
        frame=nw.from_native(frame),
        files=(*rollouts.files, str(path)) if rollouts.files else (),
        labelling=replace(how, source=path.name, using=method),
    )


def labels_used(rollouts: Rollouts, method: LabelsMethod) -> Rollouts:
    """The table whose own `human` column is to be used in this way."""
    how = rollouts.labelling or Labelling("", rollouts.labels)
    return replace(rollouts, labelling=replace(how, using=method))


def _read(
    path: Path, ends: tuple[float, float], known: Sequence[str] = ()
) -> tuple[Head | None, dict[str, str], list[Row]]:
    """The head of a drawn file, the file's name of each canonical column, and its labels."""
    content = path.read_bytes()
    if b"\0" in content[:4096]:
        raise DataError("the file of labels must be a CSV; it is not text.", source=path.name)
    lines = utf8(content, path.name).splitlines()
    head = Head.of(lines[0]) if lines else None
    body = [line for line in lines if line.strip() and not line.lstrip('"').startswith("#")]
    if not body:
        raise DataError("the file of labels must be a CSV with a header and rows; it is empty.", source=path.name)
    mark = max(",;\t", key=body[0].count)
    header, *cells = csv.reader(body, delimiter=mark)
    header = [name.strip() for name in header]
    found, _ = match(header, {})
    found = {column: name for column, name in found.items() if column in (*KEYS, "human", "evaluator")}
    found |= {name: name for name in header if name not in found.values() and name in known}
    if "code" in header:
        found["code"] = "code"
    if "human" not in found:
        raise DataError(
            f"the labels must be in a `human` column; got {', '.join(map(repr, header))}.", source=path.name
        )
    rows = []
    for number, values in enumerate(cells, 1):
        if len(values) != len(header):
            raise DataError(
                f"every row must have the {len(header)} cells of the header; got {len(values)}.",
                source=path.name,
                row=number,
            )
        named = dict(zip(header, (formatting.from_csv(value.strip()) for value in values), strict=True))
        if word := named[found["human"]]:
            human = _human(word, ends, path.name, number)
            rows.append(Row(number, {column: named[name] for column, name in found.items()}, human))
    if not rows:
        raise DataError("at least one row must have a label in `human`; got none.", source=path.name)
    return head, found, rows


def _human(word: str, ends: tuple[float, float], source: str, row: int) -> float:
    value = reading(word)
    if value is None:
        raise DataError(f"`human` must be a number, yes or no; got {_cell(word)}.", source=source, row=row)
    if not ends[0] <= value <= ends[1]:  # also refuses NaN
        must = f"lie between {ends[0]:g} and {ends[1]:g}"
        raise DataError(f"`human` must {must}; got {_cell(word)}.", source=source, row=row)
    return value


def _places(
    rollouts: Rollouts, table: pl.DataFrame, head: Head | None, columns: dict[str, str], rows: list[Row], source: str
) -> list[int]:
    """The place in the table of the rollout that each label is of."""
    if "code" in columns:
        return _by_code(table, head, rows, source)
    keys = [key for key in columns if key in table.columns and key not in ("human", "evaluator")]
    unit = rollouts.design.keys("unit") or item_columns(rollouts)
    items = [key for key in (*unit, "condition", "seed") if key in keys]
    if not items:
        known = next((name for name in (*unit, "condition", "seed") if name in table.columns), None)
        must = f"name the item, as {rollouts.called(known)!r} does in the table" if known else "be of items"
        said = f"the file has {', '.join(map(repr, columns.values()))}"
        lacks = said if known else "the table has no column that tells items apart"
        raise DataError(f"the labels must {must}; {lacks}.", source=source)
    if "policy" not in keys and len(rollouts.policies) > 1:
        raise DataError(
            f"the labels must name the policy in a `policy` column: the table holds {', '.join(rollouts.policies)}.",
            source=source,
        )
    at: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(table.select(keys).iter_rows()):
        at.setdefault(tuple(map(str, key)), []).append(place)
    if {"task", "condition"} <= set(keys):  # an item told apart by its task may be named by its number alone
        labels = set(table["condition"].unique().to_list())
        apart = [f"{row.cells['task']} {row.cells['condition']}" for row in rows]
        rows = [
            row._replace(cells={**row.cells, "condition": name}) if name in labels else row
            for row, name in zip(rows, apart, strict=True)
        ]
    known_values = {key: {str(value) for value in table[key].unique().to_list()} for key in keys}
    found = []
    for row in rows:
        there = at.get(tuple(row.cells[key] for key in keys), [])
        if len(there) != 1:
            more = [name for name in (*TOLD, "source") if name in table.columns]
            _no_place(row, keys, known_values, columns, len(there), source, more)
        found.append(there[0])
    return found


def _no_place(
    row: Row,
    keys: Sequence[str],
    known: dict[str, set[str]],
    columns: dict[str, str],
    fits: int,
    source: str,
    more: Sequence[str],
) -> NoReturn:
    """Refuse a label that is of no rollout, or of several."""
    said = ", ".join(f"{columns[key]} {_cell(row.cells[key])}" for key in keys)
    asked = ("policy", "condition", "seed", "task", "repeat", "order", "source")
    strange = next((key for key in asked if key in keys and row.cells[key] not in known[key]), None)
    if fits:
        lacks = [TOLD.get(key, key) for key in more if key not in keys]
        hint = f" Say which one in the column {' or '.join(f'`{name}`' for name in lacks)}." if lacks else ""
        told = f"a label must belong to one rollout; {said} fits {formatting.counted(fits, 'rollout')}.{hint}"
    elif strange is not None:
        values = sorted(known[strange])
        some = f": {', '.join(map(repr, values[:6]))}{', ...' if len(values) > 6 else ''}"
        told = f"`{columns[strange]}` must be in the table{some}; got {_cell(row.cells[strange])}."
    else:
        told = f"a label must belong to a rollout of the table; {said} fits none."
    raise DataError(told, source=source, row=row.number)


def _by_code(table: pl.DataFrame, head: Head | None, rows: list[Row], source: str) -> list[int]:
    """The place of each label by the code that the draw gave to its rollout."""
    if head is None:
        raise DataError(
            "labels with codes must keep the first line that surefoot labels draw wrote; it is missing.", source=source
        )
    lacking = [name for name in head.by if name not in table.columns]
    if lacking:
        raise DataError(
            f"labels with codes must be joined to the table they were drawn from; this one has no {lacking[0]!r}.",
            source=source,
        )
    at = {
        code(head, str(policy), key): place
        for place, (policy, *key_) in enumerate(table.select("policy", *head.by).iter_rows())
        if None not in (key := tuple(key_))
    }
    found = []
    for row in rows:
        place = at.get(row.cells["code"])
        if place is None:
            raise DataError(
                f"`code` must be one that was drawn from this table; got {_cell(row.cells['code'])}. Were policies, "
                "items or files renamed since?",
                source=source, row=row.number,
            )  # fmt: skip
        found.append(place)
    return found


def _drawn(rollouts: Rollouts, head: Head, table: pl.DataFrame, given: dict[int, Any]) -> int | None:
    """How many drawn items lack a label; None when the draw was from another list, or others were labelled too."""
    try:
        listed = listing(rollouts)
    except DataError:
        return None
    if listed.fingerprint != head.fingerprint or head.drawn > len(listed.items) or listed.by != head.by:
        return None
    drawn = set(drawn_items(listed, head))
    size = len(listed.on)
    units = {unit for unit in listed.units if unit[1][:size] in drawn}
    told = list(table.select("policy", *head.by).iter_rows())
    labelled = {(told[place][0], tuple(told[place][1:])) for place in given}
    if not labelled <= units:
        return None
    return len({key[:size] for _, key in units - labelled})


def _raters(given: dict[int, dict[str, float]]) -> Labelling:
    """How many labelled, and how far they agree on what several of them labelled."""
    raters = {rater for of in given.values() for rater in of}
    several = [of for of in given.values() if len(of) > 1]
    alike = sum(len(set(of.values())) == 1 for of in several)
    pairs = Counter(pair for of in several for pair in combinations(sorted(of), 2))
    shared: tuple[tuple[float, float], ...] = ()
    if pairs:
        (one, other), _ = max(pairs.items(), key=lambda found: (found[1], found[0]))
        shared = tuple((of[one], of[other]) for of in several if one in of and other in of)
    return Labelling("", len(given), raters=len(raters), twice=len(several), alike=alike, shared=shared)


def _cell(word: str) -> str:
    """A cell as messages show it, both ends of a long one."""
    return repr(word if len(word) <= 60 else f"{word[:28]}...{word[-28:]}")
