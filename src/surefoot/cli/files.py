"""How do files named on the command line become one table?"""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import terminal
from surefoot.core.notes import Note
from surefoot.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from surefoot.analysis.fronts import Front
    from surefoot.analysis.rankings import Progress
    from surefoot.table.findings import Finding
    from surefoot.table.rollouts import Measure, Rollouts


T = TypeVar("T")
Paths = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Results: files of any known format, or a folder.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=YOURS",
        help="Your column for a name, such as policy=method, or a field inside an object, policy=provider.id; score= "
        "leaves it out; repeatable.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="NAME=VALUE",
        help="Only rows whose column or field has this value, such as task=gsm8k; may be repeated: several "
        "values of one name mean any of them.",
    ),
]
SheetName = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="The sheet of an Excel workbook; the first with a table by default."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse a folder with logs that cannot be used; they are left out otherwise.")
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", help="The policy's name, for files that do not say it; one per file, in order."),
]
PoliciesIn = Annotated[
    str | None,
    typer.Option(
        "--policies-in",
        metavar="A,B,...",
        help="The columns that are policies, when each policy has a column of its own.",
    ),
]
Score = Annotated[
    str | None, typer.Option("--score", help="Judge by the score in this column ('score' for the one recognised).")
]
Low = Annotated[float | None, typer.Option("--low", help="The lowest score possible, known beforehand.")]
High = Annotated[float | None, typer.Option("--high", help="The highest score possible, known beforehand.")]
Collected = Annotated[
    str | None,
    typer.Option(
        "--collected", help="How environments were met: one, shared, independent or stratified; inferred when left out."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        "--weigh",
        help="How units weigh in a gain: 'units', all alike; 'settings', every level of a setting alike (the macro "
        "average); or 'rollouts'.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        help="What every policy meets: the task, item or scene; found if not said. Or a path: metadata.scene.",
    ),
]
Repeat = Annotated[
    str | None,
    typer.Option("--repeat", metavar="COLUMN,...", help="What counts the tries at a unit: the trial, epoch."),
]
SettingColumns = Annotated[
    str | None, typer.Option("--setting", metavar="COLUMN,...", help="What to compare within: the robot, the dataset.")
]
Cluster = Annotated[
    str | None, typer.Option("--cluster", metavar="COLUMN,...", help="What units belong to: the document, the user.")
]
Run = Annotated[
    str | None, typer.Option("--run", metavar="COLUMN,...", help="Trained copies of a policy: the training seed.")
]
Ignore = Annotated[str | None, typer.Option("--ignore", metavar="COLUMN,...", help="Columns without a role.")]
Targeted = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="like|these",
        help="About units like these, or about these very units; from 20 units on 'like' when not said.",
    ),
]
LowerIsBetter = Annotated[
    bool, typer.Option("--lower-is-better", help="The smaller wins: for cost, latency, steps, collisions.")
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="COLUMN[=LIMIT]",
        help="Cheaper and not worse by the margin? The column of the cost, and the most that it can be.",
    ),
]
Margin = Annotated[float, typer.Option("--margin", help="A gain that would not matter.")]
StartOrder = Annotated[
    str | None,
    typer.Option(
        "--start-order",
        metavar="COLUMN",
        help="The column that tells in which order rollouts were started: their numbers 1, 2, 3, ... or start times.",
    ),
]


ROLES = ("unit", "repeat", "setting", "cluster", "run", "ignore")
KEPT = "surefoot.toml"
"""The file beside the results that keeps what columns are."""
EXPECTED = 2.0
"""Work that is expected to take longer than this, in seconds, shows how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, as the options say."""

    columns: Columns = None
    where: Where = None
    sheet: SheetName = None
    policies: Policies = None
    policies_in: PoliciesIn = None
    score: Score = None
    low: Low = None
    high: High = None
    unit: Unit = None
    repeat: Repeat = None
    setting: SettingColumns = None
    cluster: Cluster = None
    run: Run = None
    ignore: Ignore = None
    strict: Strict = False

    @property
    def roles(self) -> dict[str, list[str]]:
        """The columns of every role that was said."""
        said = {role: getattr(self, role) for role in ROLES}
        return {role: [name.strip() for name in words.split(",")] for role, words in said.items() if words}

    @property
    def names(self) -> dict[str, str]:
        """The user's own columns, by canonical name."""
        own = {} if self.score in (None, "score") else {"score": str(self.score)}
        return named_columns(self.columns) | own


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command on files: it has an option for each field of its parameter `reading`, in that parameter's place."""
    hints = get_type_hints(Reading, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(one.name, keyword, default=one.default, annotation=hints[one.name]) for one in fields(Reading)
    ]

    @functools.wraps(command)
    def read(*words: Any, **given: Any) -> None:
        reading = Reading(**{name: given.pop(name) for name in hints if name in given})
        command(*words, reading=reading, **given)

    own = inspect.signature(command, eval_str=True).parameters.values()
    every = [each for one in own for each in (options if one.name == "reading" else [one])]
    read.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # what typer makes options of
    read.__annotations__ = {one.name: one.annotation for one in every}
    return read


def table(paths: list[Path], reading: Reading, *, collected: str | None = None, most_files: int = 2) -> Rollouts:
    """The rollouts in the files; what was guessed on reading goes to standard error.

    More than `most_files` that hold the same policy are taken for one run, and that is said; two are the command's own
    affair.
    """
    data: Any = paths[0] if len(paths) == 1 else paths
    policies: Any = reading.policies
    rollouts = sf.read(
        data,
        columns=reading.names,
        policy=(policies[0] if policies and len(policies) == 1 else policies) or None,
        low=reading.low,
        high=reading.high,
        collected=_collected(collected),
        policies_in=None if reading.policies_in is None else [name.strip() for name in reading.policies_in.split(",")],
        where=wanted_rows(reading.where),
        sheet=reading.sheet,
        fields=[word for words in reading.roles.values() for word in words if {".", "["} & set(word)],
        strict=reading.strict,
    )
    _refuse_idle(paths, reading, rollouts)
    for note in rollouts.notes:
        typer.echo(f"note: {note}", err=True)
    for name in reading.names:
        if name in OLD_ROLES:
            new = f"--{OLD_ROLES[name]} {shlex.quote(reading.names[name])}"
            typer.echo(f"note: --column {name}=... is old: say {new}.", err=True)
    if len(paths) > most_files:
        _tell_pooled(rollouts)
    return rollouts.declare(**kept_roles(paths, rollouts, reading.roles), **reading.roles)


def _refuse_idle(paths: list[Path], reading: Reading, rollouts: Rollouts) -> None:
    """Refuse options of reading that do nothing on these files."""
    if reading.strict and not any(path.is_dir() for path in paths):
        raise ValueError("`--strict` needs a folder of logs; got no folder.")
    for option, value in (("--low", reading.low), ("--high", reading.high)):
        if value is not None and "score" not in rollouts.columns:
            raise ValueError(f"`{option}` needs scores; there is no column of them.")


OLD_ROLES = dict.fromkeys(("task", "condition", "seed"), "unit") | {word: word for word in ("repeat", "cluster", "run")}
"""What a column is called as a role, by its name in `--column`."""


def kept_roles(paths: Sequence[Path], rollouts: Rollouts, said: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The roles that a surefoot.toml beside the files keeps, but for those said now; a note says that it is used."""
    import tomllib

    first = Path(paths[0])
    path = (first if first.is_dir() else first.parent) / KEPT
    if not path.is_file():
        return {}
    try:
        kept = tomllib.loads(path.read_text(encoding="utf-8")).get("columns", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{KEPT} must be TOML; {error}.", source=str(path)) from None
    if not isinstance(kept, dict):
        raise DataError(f"`columns` must be a table of roles, [columns]; got {kept!r}.", source=str(path))
    now = {rollouts.key(word) for words in said.values() for word in words}
    roles: dict[str, list[str]] = {}
    for role, words in kept.items():
        if role not in ROLES:
            raise DataError(f"`[columns]` must name roles among {', '.join(ROLES)}; got {role!r}.", source=str(path))
        listed = [words] if isinstance(words, str) else words
        if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
            raise DataError(f"`{role}` must be a column's name or a list of names; got {words!r}.", source=str(path))
        roles[role] = [word for word in listed if rollouts.key(word) in {*rollouts.columns} - now]
    used = {role: words for role, words in roles.items() if words and role not in said}
    if used:
        told = ", ".join(f"{role} {', '.join(words)}" for role, words in used.items())
        typer.echo(f"note: columns as {path} says: {told}.", err=True)
    return used


def _tell_pooled(rollouts: Rollouts) -> None:
    """Say it where a policy is in several files on the same task: rollouts of one run, or of several."""
    import polars as pl

    if "source" not in rollouts.columns:
        return
    split = [] if rollouts.split is None else [rollouts.split]
    met = rollouts.polars().select("policy", *split, "source").unique().group_by(pl.exclude("source")).len()
    times = met.filter(pl.col("len") > 1).sort("len", "policy", descending=[True, False])
    if times.height:
        note = Note("files pooled", {"policy": times["policy"][0], "files": times["len"][0]})
        typer.echo(f"note: {note}", err=True)


def serious(rollouts: Rollouts, policies: Sequence[str] | None = None, less: bool = False) -> tuple[Finding, ...]:
    """The audit's serious findings; where less is better, a failure may well take all of the time."""
    fewer = policies is not None and set(policies) < set(rollouts.policies)
    found = sf.audit(rollouts.where(policy=policies or ()) if fewer else rollouts).serious
    return tuple(one for one in found if not (less and one.about == "success contradicts score"))


def serious_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Serious findings as JSON-ready data; nothing when there are none, so that a clean result reads back as it is."""
    return {"findings": [finding.to_dict() for finding in findings]} if findings else {}


def show_serious(findings: Sequence[Finding]) -> None:
    """Print serious findings, each in a line that is seen."""
    for finding in findings:
        typer.echo(f"  ! {finding}")


MOST_PATHS = 3
"""The command that explains how files were read names at most so many."""


def explained(paths: Sequence[str | Path]) -> str:
    """Which command tells how the files were read, as the end of a line; empty for very many files."""
    return f" surefoot columns {shlex.join(map(str, paths))} explains." if 0 < len(paths) <= MOST_PATHS else ""


MOST_NAMED = 12
"""So many names are listed in a refusal."""


def two_policies(
    rollouts: Rollouts, paths: Sequence[str | Path], first: str | None, second: str | None
) -> tuple[str, str]:
    """The policies to compare: those named, those of two files in their order, or the only two there are."""
    from surefoot.auditing.outcome_checks import same_but_for_case

    known = rollouts.policies
    if (first is None) != (second is None) and len(known) == 2 and (first or second) in known:
        other = next(name for name in known if name != (first or second))
        first, second = first or other, second or other
    if first is not None and second is not None:
        for option, name in (("--first", first), ("--second", second)):
            if name not in known:
                there = f"{_listed([repr(one) for one in known])}; got {name!r}."
                cure = " If a column names them, say --column policy=YOURS." if len(known) == 1 else ""
                raise DataError(f"`{option}` must be one of the {rollouts.words.policies} {there}{cure}")
        return first, second
    if first is None and second is None:
        by_file = _in_file_order(rollouts, paths)
        if by_file:
            return by_file[0], by_file[1]
        if len(known) == 2:
            typer.echo(
                f"note: {known[0]!r} is first and {known[1]!r} second, in alphabetical order. To choose: "
                "--first, --second.",
                err=True,
            )
            return known[0], known[1]
    if len(known) == 1:
        naming = " If the files use one name for two, name them: --policy new --policy old, in the order of the files."
        raise DataError(
            f"Two {rollouts.words.policies} must be there; got one, {known[0]!r}.{naming if len(paths) > 1 else ''}"
        )
    alike = "".join(
        f" {' and '.join(map(repr, names))} differ by letter case or spaces only: if they are one, give it one name."
        for names in same_but_for_case(known)[:1]
    )
    raise ValueError(
        f"`--first` and `--second` must name two of the {rollouts.words.policies} {_listed(known)}.{alike}"
    )


def _listed(names: Sequence[str]) -> str:
    """Names, some of very many."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _in_file_order(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[str, ...]:
    """The policies of two files or folders that hold one each, in the order they were named; none otherwise."""
    from surefoot.table.two_runs import sources

    if len(paths) != 2 or "source" not in rollouts.columns:
        return ()
    found: list[str] = []
    for path in map(Path, paths):
        held = sources(rollouts, path)
        policies = rollouts.where(source=held).policies if held else ()
        if len(policies) > 1:
            return ()
        found += policies or [""]
    if found.count("") == 1 and len(rollouts.policies) == 2:  # the folder that one is in: it has what the other has not
        found = [name or next(other for other in rollouts.policies if other not in found) for name in found]
    return tuple(found) if len({*found} - {""}) == 2 else ()


def named_columns(said: list[str] | None) -> dict[str, str]:
    """What `--column` says, by canonical name."""
    return dict(_column(word) for word in said or ())


def wanted_rows(said: list[str] | None) -> dict[str, list[str]]:
    """What `--where` says: the values that are wanted of each column."""
    wanted: dict[str, list[str]] = {}
    for word in said or ():
        name, equals, value = _split_last(word)
        if not equals or not name:
            raise ValueError(f"`--where` must be NAME=VALUE, such as task=gsm8k; got {word!r}.")
        wanted.setdefault(name, []).append(value)
    return wanted


def _split_last(word: str) -> tuple[str, str, str]:
    """A name and its value; a path may hold an equals sign inside brackets: stats[name=acc].mean=1."""
    depth = 0
    for at, letter in enumerate(word):
        depth += (letter == "[") - (letter == "]")
        if letter == "=" and depth <= 0:
            return word[:at], "=", word[at + 1 :]
    return word, "", ""


def weights_of(word: str | None) -> Any:
    """What `--weights` asks for, units alike when not said; the old word for units is 'tasks'."""
    if word is None:
        return "units"
    if word == "tasks":
        typer.echo("note: --weights tasks is old: say --weights units.", err=True)
        return "units"
    return _check.choice(word, "--weights", {name: name for name in ("units", "settings", "rollouts")})


def target_of(word: str | None) -> Any:
    """What `--target` asks for."""
    return None if word is None else _check.choice(word, "--target", {name: name for name in ("like", "these")})


def measure_of(rollouts: Rollouts, score: str | None) -> Measure:
    """What decides: the score where `--score` asks for it, else success where it is known; said where both are."""
    from surefoot.analysis.comparisons import chosen

    what = chosen(rollouts, "score" if score else None)
    if score is None and {"success", "score"} <= set(rollouts.columns):
        other = rollouts.called("score")
        typer.echo(f"note: Comparing success rates; use --score {shlex.quote(other)} for scores.", err=True)
    return what


def limited(rollouts: Rollouts, score: str | None, lower_is_better: bool) -> Rollouts:
    """The table whose scores above the stated limit count as the limit, where less is better; that is said."""
    from surefoot.analysis.comparison_data import limited
    from surefoot.analysis.comparisons import chosen

    found = limited(rollouts, chosen(rollouts, "score" if score else None, lower_is_better), lower_is_better)
    for note in found.notes[len(rollouts.notes) :]:
        typer.echo(f"note: {note}", err=True)
    return found


def progress(what: str) -> Progress:
    """A progress line on standard error when more than two seconds are expected; a line for each tenth into a pipe."""
    import time

    began, alive, said = time.monotonic(), sys.stderr.isatty(), -1

    def show(done: int, total: int) -> None:
        nonlocal said
        spent = time.monotonic() - began
        if done and said < 0 and spent * total / done < EXPECTED:
            return
        tenth = 10 * done // total
        if alive:
            terminal.over(f"{what}: {done:,} of {total:,}", end="\n" if done == total else "")
        elif tenth > said:
            print(f"{what}: {done:,} of {total:,}", file=sys.stderr, flush=True)
        said = tenth

    return show


def _collected(word: str | None) -> Any:
    from surefoot.table.rollouts import COLLECTED

    return word if word is None else _check.choice(word, "--collected", {name: name for name in COLLECTED})


def _column(word: str) -> tuple[str, str]:
    name, equals, yours = word.partition("=")
    if not equals or not name:
        raise ValueError(f"`--column` must be NAME=YOURS, such as policy=method; got {word!r}.")
    from surefoot.table.columns import COLUMNS

    if name not in COLUMNS and yours in COLUMNS:
        raise ValueError(f"`--column` must be NAME=YOURS; got {word!r}. Put {yours!r} first, your own name last.")
    return name, yours


def front(rollouts: Rollouts, cost: str | None, policies: Sequence[str] = (), **asked: Any) -> Front | None:
    """The front of quality and cost as the option asks for it; None where it was not given."""
    if cost is None:
        return None
    column, equals, limit = cost.partition("=")
    if equals and (not terminal.is_number(limit) or not float(limit) > 0.0):
        raise ValueError(f"`--cost` must be a column and its limit, such as tokens=8000; got {cost!r}.")
    return sf.pareto(rollouts, column, policies=policies, limit=float(limit) if equals else None, **asked)
