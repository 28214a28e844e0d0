"""Tables of counts, or of a rate and n, per policy and task."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from typing import Any, NamedTuple

from surefoot.core import formatting
from surefoot.core.notes import Noted
from surefoot.errors import DataError
from surefoot.files import stray_rows
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.stray_rows import TOTALS, LeftOut
from surefoot.files.text_files import Table, csv_rows, json_lines
from surefoot.files.totals import UNORDERED, Rate, expand, impossible, whole
from surefoot.table.columns import plain
from surefoot.table.findings import Finding

ABOUT = About(
    name="counts",
    file="a table of successes and n, of 38/50, or of a rate and n (CSV, JSON)",
    becomes="counts; surefoot checks that n can give the rate",
    example="surefoot report counts.csv",
)

NAMES: dict[str, tuple[str, ...]] = {
    "successes": (
        *("successes", "num_successes", "n_successes", "num_success", "n_success", "success_count", "wins", "k"),
        *("num_correct", "n_correct", "num_passed", "n_passed"),
    ),
    "trials": (
        *("trials", "n", "num_rollouts", "n_rollouts", "rollouts", "num_episodes", "n_episodes", "episodes"),
        *("num_trials", "n_trials", "total", "n_samples", "num_samples", "attempts", "n_attempts", "num_attempts"),
    ),
    "per repeat": ("n_per_seed", "n_per_repeat", "episodes_per_seed", "rollouts_per_seed", "trials_per_seed"),
    "rate": (
        "rate",
        "success_rate",
        "pc_success",
        "mean_success",
        "accuracy",
        "acc",
        "sr",
        "success_percent",
        "success",
    ),
    "spread": ("std", "sd", "stdev", "standard_deviation", "success_std", "rate_std", "pm"),
    "repeats": ("seeds", "n_seeds", "num_seeds", "repeats", "n_repeats", "num_repeats", "runs", "n_runs"),
}
"""What the columns of such a table are called, by what they hold."""
FRACTION = re.compile(r"\s*(?P<successes>\d+)\s*/\s*(?P<trials>\d+)\s*")
FRACTIONS = frozenset(
    (*NAMES["successes"], *NAMES["rate"], "result", "results", "outcome", "outcomes", "score", "k_n", "counts")
)
"""What a column of cells such as 38/50 may be called."""
ROLLOUT = frozenset(("seed", "condition", "order", "episode", "trial", "repeat", "score"))
RATE = re.compile(
    r"^\s*(?P<rate>(?=[.,]?\d)\d*(?:[.,](?P<digits>\d*))?)\s*(?P<percent>%?)\s*(?:(?:±|\+/-|\+-)\s*(?P<spread>[\d.,]+)\s*%?)?$"
)


def recognises(head: Head) -> bool:
    """A header with a number of rollouts and either successes or a rate, and nothing that marks a single rollout."""
    names = head.plain_header or _keys(head)
    sized = names & {*NAMES["trials"], *NAMES["per repeat"]}
    told = names & {*NAMES["successes"], *NAMES["rate"]}
    return bool(sized and told and not names & ROLLOUT) or _fraction(head) is not None


class Counted(NamedTuple):
    """The rows of a table of counts: their other cells, by row; their counts; and what a reader must know."""

    rows: list[tuple[int, dict[str, Any]]]
    successes: list[int]
    trials: list[int]
    notes: tuple[Noted, ...]
    findings: tuple[Finding, ...]
    left_out: LeftOut


def load(head: Head) -> Sheet:
    """A row per rollout rebuilt from the counts."""
    found = counted_rows(head)
    kept = frame_of((cells for _, cells in found.rows), head.name).collect()
    frame = expand(kept, found.successes, found.trials, head.name)
    return Sheet(frame, "counts", (UNORDERED, *found.notes), found.findings, ordered=False, aggregate=True)


def counted_rows(head: Head) -> Counted:
    """The successes and rollouts of every row; a rate is checked against n."""
    header, rows, left = csv_rows(head) if head.header else _objects(head)
    fraction = _fraction(head)
    if fraction is not None:
        rows = [(row, _split(cells, fraction, head.name, row)) for row, cells in rows]
        header = [*(name for name in header if name != fraction), "successes", "trials"]
    names = {plain(name): name for name in reversed(header)}
    found = {kind: next((names[name] for name in known if name in names), None) for kind, known in NAMES.items()}
    rows, totals = _without_totals(rows, [name for name in header if name not in found.values()])
    if _counts_said_success(found, rows, head.name):
        found |= {"successes": found["rate"], "rate": None}
    successes, trials, findings, rounded = [], [], [], 0
    percent = _in_percent(found["rate"], rows)
    spread = 0
    for row, cells in rows:
        size = _size(cells, found, head.name, row)
        who = f"{head.name}, row {row}"
        if found["successes"]:
            count = whole(cells[found["successes"]], found["successes"], head.name, row, least=0)
            if count > size:
                raise DataError(
                    f"`{found['successes']}` must be at most the rollouts, {size}; got {count}.",
                    source=head.name,
                    row=row,
                )
            if found["rate"]:
                findings += _agrees(_rate(cells, found["rate"], percent, head.name, row)[0], count, size, who)
        else:
            rate, spreads = _rate(cells, str(found["rate"]), percent, head.name, row)
            count, fits = rate.successes(size)
            spread += spreads
            findings += [] if fits else [impossible(who, rate, size)]
            rounded += fits and 2 * rate.half_unit * size > 1
        successes.append(count)
        trials.append(size)
    notes: list[Noted] = [*left.notes, *totals]
    if rounded:
        those = formatting.counted(rounded, "row")
        notes.append(f"In {those} more than one count gives the printed rate; the nearest count is taken.")
    if spread or found["spread"]:
        findings.append(_spread(head.name))
    drop = {name for name in found.values() if name}
    rest = [(row, {name: cell for name, cell in cells.items() if name not in drop}) for row, cells in rows]
    return Counted(rest, successes, trials, tuple(notes), tuple(findings), left)


def _without_totals(
    rows: list[tuple[int, dict[str, Any]]], labels: list[str]
) -> tuple[list[tuple[int, dict[str, Any]]], list[Noted]]:
    """The rows that count rollouts once, and a note of those that add them up again: a policy's TOTAL."""
    totals: dict[int, str] = {}
    for name in labels:
        summed = {row: str(cells[name]) for row, cells in rows if TOTALS.fullmatch(plain(str(cells[name] or "")))}
        of = {row: tuple(cells[other] for other in labels if other != name) for row, cells in rows}
        parts = Counter(of[row] for row, _ in rows if row not in summed)
        totals |= {row: word for row, word in summed.items() if of[row] and parts[of[row]] > 1}
    said = ", ".join(dict.fromkeys(map(repr, totals.values())))
    note = f"Left out, totals: rows {', '.join(map(str, sorted(totals)))} ({said})."
    return [(row, cells) for row, cells in rows if row not in totals], [note] if totals else []


def _counts_said_success(found: dict[str, str | None], rows: list[tuple[int, dict[str, Any]]], source: str) -> bool:
    """Whether a column called success holds numbers of successes beside n, and no rates: 8 of 10, never 8%."""
    name, of = found["rate"], found["trials"]
    if name is None or of is None or found["successes"] or plain(name) != "success":
        return False
    cells = [((row[name] or "").strip(), (row[of] or "").strip()) for _, row in rows]
    if not all(hits.isdecimal() and size.isdecimal() and int(hits) <= int(size) for hits, size in cells):
        return False
    counts = [(int(hits), int(size)) for hits, size in cells]
    scale = 100 if max((hits for hits, _ in counts), default=0) > 1 else 1
    rates = [(Rate(hits / scale, 0.5 / scale if scale > 1 else 0.0), hits, size) for hits, size in counts]
    if not all(hits <= scale and rate.successes(size)[1] for rate, hits, size in rates):
        return True
    differing = next(((hits, size) for rate, hits, size in rates if rate.successes(size)[0] != hits), None)
    if differing is None:
        return True
    hits, size = differing
    raise DataError(
        f"`{name}` may hold counts or rates: {hits} of {size}, or {100 * hits // scale}% of {size}?",
        source=source,
        cure="Call the column successes or success_rate.",
    )


def _fraction(head: Head) -> str | None:
    """The column whose first cell, below units, is such as 38/50."""
    lines = head.text.split("\n", 3) if head.header else []
    try:
        rows = csv.reader(lines[1:3], delimiter=head.separator)
        first = next((row for row in rows if not stray_rows.are_units(row)), [])
    except csv.Error:
        return None
    named = zip(head.header, first, strict=False)
    return next((n.strip() for n, cell in named if plain(n) in FRACTIONS and FRACTION.fullmatch(cell)), None)


def _split(cells: dict[str, Any], column: str, source: str, row: int) -> dict[str, Any]:
    match = FRACTION.fullmatch(cells[column] or "")
    if match is None:
        raise DataError(f"`{column}` must look like 38/50; got {cells[column]!r}.", source=source, row=row)
    kept = {name: cell for name, cell in cells.items() if name != column}
    return {**kept, "successes": match["successes"], "trials": match["trials"]}


def _keys(head: Head) -> frozenset[str]:
    """The keys of JSON Lines, of a list of objects or of one; `success` is there a rollout's, not a rate."""
    return frozenset(map(plain, head.record_keys or head.json_object)) - {"success"}


def _records(head: Head) -> list[Any]:
    """The objects of a JSON document that is a list of them, or one."""
    return head.document if isinstance(head.document, list) else [head.json_object] if head.json_object else []


def _objects(head: Head) -> Table:
    """The table as `csv_rows` would give it, from objects with a key per column."""
    found = list(json_lines(head)) if head.first_record is not None else list(enumerate(_records(head), 1))
    for row, value in found:
        if not isinstance(value, dict):
            raise DataError(f"a row must be a JSON object; got {str(value)[:60]!r}.", source=head.name, row=row)
    header = list(dict.fromkeys(key for _, value in found for key in value))
    rows = [(row, {key: _cell(value.get(key)) for key in header}) for row, value in found]
    cells = [[cell or "" for cell in row.values()] for _, row in rows]
    left = stray_rows.of_rows(header, cells, head.name, lambda place: place + 1)
    return Table(header, [row for place, row in enumerate(rows) if place not in left.kinds], left)


def _cell(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def _size(cells: dict[str, Any], found: dict[str, str | None], source: str, row: int) -> int:
    if found["trials"]:
        return whole(cells[found["trials"]], found["trials"], source, row, least=1)
    each = whole(cells[str(found["per repeat"])], str(found["per repeat"]), source, row, least=1)
    repeats = found["repeats"]
    if repeats is None:
        raise DataError("a table with n per repeat must also have the number of repeats.", source=source)
    return each * whole(cells[repeats], repeats, source, row, least=1)


def _in_percent(column: str | None, rows: list[tuple[int, dict[str, Any]]]) -> bool:
    if column is None:
        return False
    if "%" in column or "percent" in column.casefold() or plain(column).startswith("pc_"):
        return True
    values = [match for _, cells in rows if (match := RATE.match(cells[column] or ""))]
    return any(match["percent"] or _float(match["rate"]) > 1.0 for match in values)


def _rate(cells: dict[str, Any], column: str, percent: bool, source: str, row: int) -> tuple[Rate, bool]:
    text = cells[column] or ""
    match = RATE.match(text)
    scale = 100.0 if percent else 1.0
    if match is None or _float(match["rate"]) > scale:
        most = "100%" if percent else "1"
        raise DataError(f"`{column}` must be a rate between 0 and {most}; got {text!r}.", source=source, row=row)
    unit = 10.0 ** -len(match["digits"] or "")
    return Rate(_float(match["rate"]) / scale, 0.5 * unit / scale), bool(match["spread"])


def _float(rate: str) -> float:
    """A rate as a number; no rate reaches a thousand, so a comma in one is a decimal comma."""
    return float(rate.replace(",", "."))


def _agrees(rate: Rate, count: int, size: int, who: str) -> list[Finding]:
    if abs(count / size - rate.value) <= rate.half_unit + 1e-9:
        return []
    return [
        Finding(
            about="a rate that n cannot give",
            values={"who": who, "successes": count, "rollouts": size, "rate": rate.value},
            says=f"{who}: {count:,} of {size:,} is {100 * count / size:.6g}%, not {100 * rate.value:.6g}%. "
            "The counts are used.",
            threatens="One of the three numbers is wrong.",
            remedy="Look for the result of each rollout.",
        )
    ]


def _spread(source: str) -> Finding:
    return Finding(
        about="mean ± standard deviation over repeats",
        says=f"{source} reports rates as mean ± standard deviation over repeats; they are pooled to counts.",
        threatens="The deviation says how much repeats differ. It does not say how well the rate is known: with few "
        "repeats it is too small by chance about half of the time, and it does not shrink with more rollouts.",
        remedy="Read the intervals of the pooled counts. If repeats differ by more than chance, cluster by repeat.",
        serious=False,
    )
