"""Which of two policies did people prefer? The second table: session, first, second, outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot._arguments import write
from surefoot.errors import DataError
from surefoot.files.fields import number, text
from surefoot.files.importers import About, frame_of
from surefoot.files.recognising import Head
from surefoot.files.stray_rows import LeftOut
from surefoot.files.text_files import csv_rows, json_lines
from surefoot.files.yaml_files import value_of, yaml_of
from surefoot.table.columns import plain

if TYPE_CHECKING:
    import polars as pl

ABOUT = (
    About(
        name="preferences",
        file="preferences.csv with the columns A, B and preference; a folder of RoboArena sessions",
        becomes="which of two policies was preferred, session by session",
        example="surefoot rank preferences.csv --prior 1",
    ),
    About(
        name="Chatbot Arena",
        file="battles as .json or .jsonl with model_a, model_b and winner",
        becomes="a preference per battle; tie (bothbad) is a tie",
        example="surefoot rank arena.json --prior 1",
    ),
    About(
        name="MT-bench pairwise",
        file="<judge>_pair.jsonl with g1_winner and g2_winner",
        becomes="one preference for the two orders of a judgement; a tie where they disagree",
        example="surefoot rank gpt-4_pair.jsonl",
    ),
    About(
        name="AlpacaEval annotations",
        file="annotations.json with generator_1, generator_2 and preference",
        becomes="a preference per instruction: 1 the first, 2 the second, 1.5 a tie, a weight to the nearer one",
        example="surefoot rank annotations.json",
    ),
)
NAMES: dict[str, tuple[str, ...]] = {
    "session": ("session", "session_id", "session_uuid", "id", "question_id"),
    "first": ("first", "a", "policy_a", "policya", "policya_name", "model_a", "left", "first_policy", "generator_1"),
    "second": (
        "second",
        "b",
        "policy_b",
        "policyb",
        "policyb_name",
        "model_b",
        "right",
        "second_policy",
        "generator_2",
    ),
    "outcome": ("outcome", "preference", "winner", "preferred", "choice", "result", "verdict"),
}
FIRST = ("first", "a", "0", "0.0", "model_a", "policy_a", "left")
SECOND = ("second", "b", "1", "1.0", "model_b", "policy_b", "right")
TIE = ("tie", "0.5", ".5", "draw", "equal", "both", "same", "tie (bothbad)", "both_bad", "bothbad")
TWO_ORDERS = frozenset(("model_1", "model_2", "g1_winner", "g2_winner"))
"""What a pairwise judgement of MT-bench has: the same two answers, judged in either order."""

ANNOTATED = frozenset(("instruction", "generator_1", "generator_2", "preference"))
"""What an annotation of AlpacaEval has."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """Sessions in which two policies were shown and one preferred, or neither.

    Attributes:
        frame: Columns session, first, second and outcome, which is "first", "second" or "tie".
        notes: What was guessed on reading.
        source: The files.

    Example:
        >>> import polars as pl
        >>> from surefoot import read_preferences
        >>> table = pl.DataFrame({"A": ["x", "y", "x"], "B": ["y", "x", "y"], "preference": [0.0, 0.5, 1.0]})
        >>> read_preferences(table).counts()
        {('x', 'y'): (1, 1, 1)}
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    source: str = ""
    files: tuple[str, ...] = field(default=(), repr=False)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies, sorted."""
        return tuple(sorted(set(self.frame["first"]) | set(self.frame["second"])))

    def counts(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """For each pair, names sorted: how often the first was preferred, how often the second, and the ties."""
        import polars as pl

        swapped = pl.col("first") > pl.col("second")
        flipped = pl.col("outcome").replace({"first": "second", "second": "first"})
        sorted_ = self.frame.select(
            pl.when(swapped).then("second").otherwise("first").alias("x"),
            pl.when(swapped).then("first").otherwise("second").alias("y"),
            pl.when(swapped).then(flipped).otherwise("outcome").alias("outcome"),
        )
        table = sorted_.group_by("x", "y").agg(
            (pl.col("outcome") == o).sum().alias(o) for o in ("first", "second", "tie")
        )
        return {(x, y): (a, b, t) for x, y, a, b, t in table.sort("x", "y").rows()}

    def __len__(self) -> int:
        return self.frame.height

    def __str__(self) -> str:
        origin = f", from {self.source}" if self.source else ""
        return f"{len(self):,} preferences between {len(self.policies)} policies{origin}."


def read_preferences(data: Any, *, columns: Mapping[str, str] | None = None) -> Preferences:
    """Which of two policies was preferred, session by session, from a file, a folder or a frame.

    Args:
        data: A CSV, TSV, JSON or JSON Lines file; a folder of RoboArena sessions; or a frame.
        columns: The names of your columns, by canonical name: session, first, second, outcome.

    Raises:
        DataError: With the file, row, column and value that could not be used.
    """
    asked = dict(columns or {})
    for column in asked:
        if column not in NAMES:
            raise _check.refused("columns", f"name columns among {', '.join(NAMES)}", column)
    if not isinstance(data, (str, PathLike)):
        return _table(_from_frame(data), asked, "", ())
    path = Path(data)
    if path.is_dir():
        return _folder(path)
    head = Head(path, path.name)
    head.refuse_unsafe()
    rows, left = _rows(head)
    said: tuple[str, ...] = ()
    named = {name for row in rows for name in row}
    if named >= TWO_ORDERS:
        rows, said = _two_orders(rows, head.name)
    elif named >= ANNOTATED:
        rows, said = _annotations(rows, head.name)
    with left.placed():
        table = _table(rows, asked, head.name, (str(path),))
    return replace(table, notes=(*map(str, left.notes), *said, *table.notes))


def looks_like(head: Head) -> bool:
    """Whether a file's columns, or the keys of its first JSON object, are those of preferences."""
    names = frozenset(map(plain, head.record_keys)) if head.is_json else head.plain_header
    return names >= TWO_ORDERS or all(names & set(NAMES[column]) for column in ("first", "second", "outcome"))


def holds_preferences(path: PathLike[str] | str) -> bool:
    """Whether a file holds preferences; one that cannot be read does not."""
    file = Path(path)
    if not file.is_file():
        return False
    try:
        return looks_like(Head(file, file.name))
    except DataError:
        return False


def _two_orders(rows: list[dict[str, Any]], source: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """MT-bench's judgements as preferences: a tie where the two orders disagree, none where the judge failed."""
    kept, errors, torn = [], 0, 0
    for place, row in enumerate(rows, 1):
        winners = [row.get("g1_winner"), row.get("g2_winner")]
        wrong = next((one for one in winners if one not in ("model_1", "model_2", "tie", "error")), None)
        if wrong is not None or None in winners:
            raise DataError(
                f"a winner must be model_1, model_2, tie or error; got {str(wrong)[:60]!r}.", source=source, row=place
            )
        if "error" in winners:
            errors += 1
            continue
        torn += winners[0] != winners[1]
        outcome = {"model_1": "first", "model_2": "second"}.get(str(winners[0]), "tie")
        kept.append(
            {
                "session": row.get("question_id"),
                "first": row.get("model_1"),
                "second": row.get("model_2"),
                "outcome": outcome if winners[0] == winners[1] else "tie",
            }
        )
    said = [f"Every judgement was made in two orders. Where the two disagree, it is a tie: {torn:,} of {len(kept):,}."]
    if errors:
        said.append(f"{errors:,} judgements that ended in an error are left out.")
    return kept, tuple(said)


def _annotations(rows: list[dict[str, Any]], source: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """AlpacaEval's annotations as preferences; one without a preference is left out."""
    kept, unknown, weighted = [], 0, 0
    for place, row in enumerate(rows, 1):
        value = number(row.get("preference"), source, f"[{place}].preference")
        if value is None:
            unknown += 1
            continue
        if not 1.0 <= value <= 2.0:
            raise DataError(f"a preference must be from 1 to 2; got {value:g}.", source=source, row=place)
        weighted += value not in (1.0, 1.5, 2.0)
        outcome = "tie" if value == 1.5 else "first" if value < 1.5 else "second"
        names = {"first": row.get("generator_1"), "second": row.get("generator_2")}
        kept.append({"session": row.get("instruction"), **names, "outcome": outcome})
    said = ["1 is taken as the first output preferred, 2 as the second, 1.5 as a tie."]
    said += [f"{unknown:,} annotations without a preference are left out."] if unknown else []
    said += [f"{weighted:,} preferences are weights; each counts as the nearer output."] if weighted else []
    return kept, tuple(said)


def _rows(head: Head) -> tuple[list[dict[str, Any]], LeftOut]:
    if head.first_record is not None:
        return [row for _, row in json_lines(head)], LeftOut()
    if head.is_json:
        document = head.document
        if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
            return document, LeftOut()
        raise DataError("preferences in JSON must be a list of objects.", source=head.name)
    if not head.text:
        raise DataError("preferences must be CSV, TSV, JSON or YAML text.", source=head.name)
    table = csv_rows(head)
    return [row for _, row in table.rows], table.left_out


def _from_frame(data: Any) -> list[dict[str, Any]]:
    import narwhals as nw

    try:
        frame = nw.from_native(data)
    except TypeError:
        raise _check.wrong_kind("data", f"be a path or a frame; got {type(data).__name__}.", data) from None
    home = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    rows: list[dict[str, Any]] = home.rows(named=True)
    return rows


def _table(rows: list[dict[str, Any]], asked: dict[str, str], source: str, files: tuple[str, ...]) -> Preferences:
    import polars as pl

    if not rows:
        raise DataError("there must be at least one preference; got none.", source=source)
    header = list(dict.fromkeys(name for row in rows for name in row))
    known = {plain(name): name for name in reversed(header)}
    found, notes = dict(asked), []
    for column, names in NAMES.items():
        if column in found:
            if found[column] not in header:
                raise DataError(f"`{column}` must be a column; there is no {found[column]!r}.", source=source)
            continue
        guess = next((known[name] for name in names if name in known), None)
        if guess is not None:
            found[column] = guess
            notes += [f"{column} is guessed to be the column {guess!r}."] if guess != column else []
        elif column != "session":
            raise DataError(
                f"there must be a `{column}` column; got {', '.join(map(repr, header[:10]))}.",
                source=source,
                cure=f"Say which it is: {write('columns', {column: None})}.",
            )
    kept, numbers = [], False
    for place, row in enumerate(rows, 1):
        first, second = (_name(row.get(found[side]), side, source, place) for side in ("first", "second"))
        if first == second:
            raise DataError(
                f"`first` and `second` must be different policies; got {first!r} twice.",
                source=source,
                row=place,
            )
        said = text(row.get(found["outcome"])) or ""
        numbers = numbers or said.strip() in ("0", "1", "0.0", "1.0")
        outcome = _outcome(said, first, second, source, place)
        session = text(row.get(found["session"])) if "session" in found else None
        kept.append({"session": session or str(place), "first": first, "second": second, "outcome": outcome})
    if numbers:
        notes.append("0 is taken as the first policy preferred, 1 as the second, 0.5 as a tie.")
    frame = frame_of(kept, source).collect().with_columns(pl.all().cast(pl.String))
    return Preferences(frame, tuple(notes), source, files)


def _name(value: Any, side: str, source: str, row: int) -> str:
    name = (text(value) or "").strip()
    if not name:
        raise DataError(f"`{side}` must name a policy in every row; got {value!r}.", source=source, row=row)
    return name


def _outcome(said: str, first: str, second: str, source: str, row: int) -> str:
    word = said.strip()
    if word in (first, second):
        return "first" if word == first else "second"
    for outcome, words in (("first", FIRST), ("second", SECOND), ("tie", TIE)):
        if word.casefold() in words:
            return outcome
    raise DataError(
        f"`outcome` must be one of first, A, 0, second, B, 1, tie, 0.5 or a policy's name; got {said[:60]!r}.",
        source=source,
        row=row,
    )


def _folder(path: Path) -> Preferences:
    """RoboArena's sessions: policy A against policy B."""
    files = sorted(path.rglob("metadata.yaml"))
    rows, left = [], 0
    for file in files:
        head = Head(file, file.relative_to(path).as_posix())
        session = yaml_of(head)
        policies, preference = session.get("policies"), value_of(session.get("preference"))
        pair = [policies.get(letter) if isinstance(policies, dict) else None for letter in "AB"]
        if preference is None or not all(isinstance(one, dict) for one in pair):
            left += 1
            continue
        names = [text(value_of(one.get("policy_name"))) for one in pair if isinstance(one, dict)]
        rows.append({"session": file.parent.name, "first": names[0], "second": names[1], "outcome": text(preference)})
    if not rows:
        raise DataError("the folder must hold RoboArena sessions with a preference; it holds none.", source=str(path))
    table = _table(rows, {}, path.name, tuple(map(str, files)))
    said = (f"{left:,} sessions lack a preference or one of the two policies; they are left out.",) if left else ()
    return Preferences(table.frame, (*table.notes, *said), path.name, table.files)
