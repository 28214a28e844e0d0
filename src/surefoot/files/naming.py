"""Names of policies that a file does not say, and of the columns of several files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.core.words import Words, as_seen
from surefoot.files.importers import Sheet
from surefoot.table.columns import KNOWN, match, plain, words_of
from surefoot.table.findings import Finding
from surefoot.table.normalising import Asked

if TYPE_CHECKING:
    import polars as pl

GENERIC = re.compile(
    r"(eval_info|eval_log|evaluations?|evals?([_-]\d.*)?|results?([_-]\d.*)?|samples?([_-].*)?|(\d+\.)?monitor|metadata|rollouts?|"
    r"episodes?|metrics|summary|data|test|log|output|outputs|videos|logs|experiments|\d[\d._-]*)",
    re.IGNORECASE,
)
"""Names that say what a file is, not whose it is."""

TIMED = re.compile(r"^\d{2}-\d{2}-\d{2}_")
LIBERO = re.compile(r"^EVAL-(?P<suite>.+?)-(?P<family>[^-]+)-(?P<time>\d{4}.*?)(?:--(?P<note>.+))?$")


PERHAPS = "name"
"""A column that names policies when its values come back, and rollouts when each is another."""
MOST_GROUPS = 12


def groups(frame: pl.LazyFrame, columns: Sequence[str]) -> dict[str, int]:
    """The columns of text among these whose few values come back row after row, and how many values each has."""
    import polars as pl

    schema = frame.collect_schema()
    texts = [name for name in columns if schema[name] in (pl.String, pl.Categorical, pl.Enum)]
    if not texts:
        return {}
    words = [pl.col(name).cast(pl.String).drop_nulls() for name in texts]
    numbers = [word.cast(pl.Float64, strict=False).is_not_null().any().alias(f"{at}") for at, word in enumerate(words)]
    counts = [word.n_unique().alias(f"n{at}") for at, word in enumerate(words)]
    seen = frame.select(pl.len().alias("rows"), *numbers, *counts).collect(engine="streaming").row(0, named=True)
    of = {name: seen[f"n{at}"] for at, name in enumerate(texts) if not seen[f"{at}"]}
    return {name: count for name, count in of.items() if 1 < count <= seen["rows"] // 2}


def policy_column(frame: pl.LazyFrame, columns: Sequence[str]) -> str | None:
    """The column called `name` when it can only be the policy's; None when there is none."""
    called = [name for name in columns if plain(name) == PERHAPS]
    return next(iter(groups(frame, called)), None)


def pooled(frame: pl.LazyFrame, columns: Sequence[str], name: str, words: Words) -> list[Finding]:
    """What must be known when a file names no policy and has a column, of those not read, that might."""
    found = groups(frame, [column for column in columns if plain(column) not in KNOWN])
    few = {column: count for column, count in found.items() if count <= MOST_GROUPS}
    if not few:
        return []
    column, count = next(iter(few.items()))
    return [
        Finding(
            about="policy not named",
            values={"name": name, "column": column, "groups": count},
            says=f"No column is known to name the {words.policy}, so all {words.rollouts} count as one, "
            f"{name!r}; the column {column!r} has {count} different values.",
            threatens=f"If those are {words.policies}, their {words.rollouts} are pooled into one rate.",
            remedy=f"If it names the {words.policy}, say so: --column policy={column}, in Python columns={{'policy': "
            f"'{column}'}}; if there is one {words.policy}, say its name: --policy NAME, in Python policy='NAME'.",
        )
    ]


def from_paths(paths: Sequence[Path]) -> tuple[str, ...]:
    """A name for each file: its own when that says something, else its folder's; longer where two would be the same."""
    parts = [tuple(_parts(path)) for path in paths]
    unlike = list(dict.fromkeys(parts))  # files of one folder whose own names say nothing are one policy's
    names = [part[0] for part in unlike]
    for depth in range(2, max(map(len, unlike)) + 1):
        times = Counter(names)
        if len(times) == len(names):
            break
        names = [
            "/".join(reversed(part[:depth])) if times[name] > 1 and len(part) >= depth else name
            for name, part in zip(names, unlike, strict=True)
        ]
    known = dict(zip(unlike, names, strict=True))
    return tuple(known[part] for part in parts)


def _parts(path: Path) -> list[str]:
    stem = path.name.split(".", 1)[0] if path.name.endswith(".monitor.csv") else path.stem
    libero = LIBERO.match(stem)
    if libero:
        stem = "-".join(filter(None, (libero["family"], libero["note"])))
    folders = [TIMED.sub("", part) for part in reversed(path.absolute().parent.parts[1:])]
    telling = [part for part in (stem, *folders) if not GENERIC.fullmatch(part)]
    return telling or [stem]


def alike(frame: pl.LazyFrame, words: Words) -> list[Finding]:
    """Policies whose names differ in nothing that a reader sees at once: in case, spaces or letters that look alike."""
    import polars as pl

    names = frame.select(pl.col("policy").unique()).collect(engine="streaming").to_series().drop_nulls().sort()
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(as_seen(name), []).append(name)
    return [_alike(of, words) for of in same.values() if len(of) > 1]


def _alike(names: list[str], words: Words) -> Finding:
    shown = " and ".join(map(ascii if len({*names}) == len({*map(str.casefold, names)}) else repr, names))
    return Finding(
        about="names nearly alike",
        values={"names": tuple(names)},
        says=f"{shown} are read as {len(names)} {words.policies}; they differ only in case, spaces or letters that "
        "look alike.",
        threatens=f"If they are one {words.policy}, its {words.rollouts} are split, and it is compared with itself.",
        remedy="Write the name alike in every row, or give names that differ.",
    )


def words(sheet: Sheet, asked: Asked) -> Words:
    """What is said of one file, in its own words."""
    there, _ = match(list(sheet.frame.collect_schema()), asked.columns)
    return words_of(own_names({**{column: column for column in sheet.named}, **there}, sheet.named))


def own_names(found: Mapping[str, str], renamed: Mapping[str, str]) -> dict[str, str]:
    """The user's names of the canonical columns; the format's own where its importer has renamed a column.

    A column that was added in reading, renamed to nothing, has no name of its own.
    """
    names = {column: renamed.get(column, name) if name == column else name for column, name in found.items()}
    return {column: name for column, name in names.items() if name}


def in_common(called: list[dict[str, str]]) -> dict[str, str]:
    """What all files call each column; a column whose name differs from file to file keeps the canonical one."""
    columns = dict.fromkeys(column for of in called for column in of)
    names = {column: {of[column] for of in called if column in of} for column in columns}
    return {column: min(one) for column, one in names.items() if len(one) == 1}
