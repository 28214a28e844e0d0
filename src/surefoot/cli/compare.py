"""`surefoot compare`: is the first policy better than the second?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot import _check
from surefoot.cli import (
    compare_output,
    compare_tallies,
    files,
    gate_verdicts,
    label_options,
    modes,
    terminal,
    two_runs,
)
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.regressions import Regression

TALLY = re.compile(r"^\s*-?\d[\d_,]*\s*/\s*-?\d[\d_,]*\s*$")


@modes.of("compare")
@files.reads
def compare(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="K/N K/N | FILE...", help="Two tallies, first policy first; or files of results."),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(metavar="BOTH,FIRST,SECOND,NEITHER", help="Pairs, by which policy succeeded, instead of tallies."),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A CSV of counts (group, policy, successes, rollouts): every policy of a group "
            "against its baseline. Bundled: dream-machines, rt2-vc1.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The baseline's name; the row marked `baseline`, or the first.")
    ] = None,
    first: Annotated[str | None, typer.Option(help="The policy the verdict is about.")] = None,
    second: Annotated[str | None, typer.Option(help="The policy it is compared with.")] = None,
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--unpaired",
            help="Pair rollouts of the same environment, or do not. Where no column says which rollouts "
            "belong together, --paired pairs the n-th of both, task by task.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="Compare within every level of these columns, one error for all."),
    ] = None,
    dealt: Annotated[
        bool, typer.Option("--dealt", help="Levels of other columns were dealt to rollouts at random.")
    ] = False,
    target: files.Targeted = None,
    lower_is_better: files.LowerIsBetter = False,
    cost: files.Cost = None,
    using: Annotated[
        str | None,
        typer.Option(
            help=f"Another method, by name: {', '.join(compare_tallies.TALLIES)}; for pairs "
            f"{', '.join(compare_tallies.PAIRS)}."
        ),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Show the named tests and intervals too.")] = False,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Exit code: 0 better, or not worse by as much as the margin; 1 worse by more than the "
            "margin; 2 cannot "
            "tell, also when it falls behind but perhaps by less than the margin; 3 not comparable: the "
            "policies share no "
            "task, or rows repeat others in every column.",
        ),
    ] = False,
    previous: Annotated[
        Path | None,
        typer.Option("--previous", help="An earlier run; each policy is compared with itself in it."),
    ] = None,
    pass_at: Annotated[
        int | None,
        typer.Option("--pass-at", help="Compare the chance of any success in this many attempts (pass@k)."),
    ] = None,
    pass_all: Annotated[
        int | None,
        typer.Option("--pass-all", help="Compare the chance that all of this many attempts succeed (pass^k)."),
    ] = None,
    population: Annotated[
        int | None,
        typer.Option(
            help="The items come from a list of this many; the question is what the whole list would show. "
            "Needs --randomised."
        ),
    ] = None,
    helped_by: Annotated[
        str | None,
        typer.Option("--helped-by", help="A column that predicts the first policy on every item."),
    ] = None,
    randomised: Annotated[
        bool, typer.Option("--randomised", help="The order of the items was drawn at random.")
    ] = False,
    pool_runs: two_runs.PoolRuns = False,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    weights: files.Weights = None,
    *,
    reading: files.Reading,
    margin: files.Margin = 0.0,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    written: compare_output.Format = None,
    as_json: terminal.AsJson = False,
    raw: compare_output.Raw = False,
) -> None:
    """Is the first policy better, and by how much?

    Where it cannot be told, the answer says what this evaluation could have seen and how many rollouts would tell.
    Two files that hold the same policies are two runs: each policy is compared with itself.

    Examples:

        surefoot compare 17/20 14/20

        surefoot compare 700/1000 650/1000 --margin 0.02

        surefoot compare --pairs 20,12,2,16

        surefoot compare 40/50 6/50 --using disjoint-bounds

        surefoot compare new.json old.json --gate --margin 0.05

        surefoot compare now.csv previous.csv

        surefoot compare pr.eval main.eval --human labels.csv --gate

        surefoot compare pr.json --previous main.json --gate --format github

        surefoot compare results.csv --first new --second old --by task

        surefoot compare results.csv --first new --second old --cost tokens=8000 --margin 0.05

        surefoot compare results.csv --first new --second old --population 500 --randomised

        surefoot compare --counts dream-machines
    """
    given = modes.given(compare, {**locals(), "written": None})
    form = compare_output.format_of(written, as_json=as_json, raw=raw, gate=gate)
    as_json = form == "json"
    if form not in ("text", "json"):
        given["format"] = form
    named, data = what or [], _what(what or [], pairs, counts)
    mode = modes.settled("compare", data, given)
    if data == "--counts":
        compare_tallies.compare_counts(str(counts), baseline, confidence=confidence, margin=margin, as_json=as_json)
        return
    if data in ("--pairs", "tallies"):
        compare_tallies.answer(_tallies(named, pairs), using, details, gate, margin, confidence, as_json)
        return
    if helped_by is not None:
        reading = replace(reading, columns=[*(reading.columns or []), f"forecast={helped_by}"])
    attempts = pass_at if pass_all is None else _check.whole(pass_all, "--pass-all", least=1)
    table = files.table([Path(name) for name in named], reading)
    asked: dict[str, Any] = {"confidence": confidence, "margin": margin}
    if attempts is not None or population is not None:
        if not pool_runs:
            two_runs.refuse_two_runs(table, named, f"Compare {table.words.policies} of one file.")
        two = files.two_policies(table, named, first, second)
        if attempts is not None:
            _of_attempts(table, two, attempts, pass_all is not None, asked, as_json)
        else:
            asked |= {"population": population, "randomised": randomised, "helped": helped_by is not None}
            asked |= {"measure": files.measure_of(table, reading.score)}
            import surefoot as sf

            terminal.show(sf.compare_on_list(table, *two, **asked), as_json=as_json)
        return
    table = label_options.labelled(table, human_labels, labels_method, reading.score)
    again = None if previous is None else files.table([previous], reading)
    found = two_runs.pair_of_runs(table, named, (first, second), previous=(previous, again), pool=pool_runs)
    if found is not None and mode != "files --previous":
        modes.refuse("compare", "files, two runs", given)
    table = files.limited(table, reading.score, lower_is_better)
    wanted = {"gate": gate, "measure": files.measure_of(table, reading.score), **asked,
              "weights": files.weights_of(weights), "target": files.target_of(target),
              "lower_is_better": lower_is_better, "dealt": dealt}  # fmt: skip
    _files(table, named, (first, second), found, by, gate, wanted, paired, (form, raw), cost)


def _what(named: list[str], pairs: str | None, counts: str | None) -> str:
    """What is compared: counts, pairs, tallies or files."""
    if counts is not None and pairs is not None:
        raise ValueError("`--counts` and `--pairs` must not be given together.")
    for option, value in (("--counts", counts), ("--pairs", pairs)):
        if value is not None:
            if named:
                raise ValueError(f"`{option}` must be given alone; got {' '.join(named)} as well.")
            return option
    if not named:
        raise ValueError("`compare` must have two tallies, `--pairs` or files; got nothing. Try 17/20 14/20.")
    if all(map(TALLY.search, named)):
        return "tallies"
    numbers = all(terminal.is_number(word.removesuffix("%")) for word in named)
    if numbers and not any(Path(word).exists() for word in named):
        hint = f" Write {named[0]}/{named[1]} {named[2]}/{named[3]}." if len(named) == 4 else ""
        raise ValueError(f"A tally must be SUCCESSES/ROLLOUTS, such as 17/20; got {' '.join(named)}.{hint}")
    if any(TALLY.search(word) and not Path(word).exists() for word in named):
        raise ValueError(f"`compare` must have two tallies or files, not both; got {' '.join(named)}.")
    return "files"


def _tallies(named: list[str], pairs: str | None) -> tuple[Any, ...]:
    """Two tallies, or one of pairs."""
    if pairs is not None:
        return (compare_tallies.pairs(pairs),)
    if len(named) != 2:
        raise ValueError(f"`compare` must have two tallies, such as 17/20 14/20; got {len(named)}.")
    return tuple(map(terminal.tally, named))


def _of_attempts(
    table: Any, two: tuple[str, str], attempts: int, every: bool, asked: Mapping[str, Any], as_json: bool
) -> None:
    """Compare the chances that any, or all, of several attempts succeed."""
    import surefoot as sf

    tried = sf.compare_pass_rates(table, *two, attempts=attempts, every=every, **asked)
    terminal.show(tried if as_json else (tried.of_first, tried.of_second, tried), as_json=as_json)


def _files(
    table: Any,
    paths: Sequence[str],
    asked: tuple[str | None, str | None],
    two: two_runs.TwoRuns | None,
    by: str | None,
    gate: bool,
    wanted: Mapping[str, Any],
    paired: bool | None,
    output: tuple[str, bool],
    cost: str | None,
) -> None:
    form, raw = output
    if form == "html" and two is None:
        raise ValueError("`--format html` must come with two runs; `surefoot report` makes the page of one.")
    try:
        found = _of_runs(two, wanted, paired) if two else _of_policies(table, paths, asked, by, wanted, paired)
        changed = _changed(two, found, by, wanted) if two else ()
        judged = _levels(two, found, by, wanted) if two and by and gate else found
    except DataError as error:
        if not gate:
            raise
        refused = gate_verdicts.not_comparable(terminal.said(error))
        compare_output.refuse(refused, form)
        gate_verdicts.end(refused, as_json=form != "text")
    pair, less = (found[0].first, found[0].second), wanted["lower_is_better"]
    findings = two.findings if two else files.serious(table, pair, less)
    ends = gate_verdicts.of_comparisons(judged, findings) if gate else None
    price = {name: wanted[name] for name in ("measure", "target", "weights", "margin", "confidence")}
    priced = files.front(table, cost, pair, **price)
    if form == "text":
        compare_output.show(found, paths)
        compare_output.show_changed(changed)
        if priced is not None:
            typer.echo(str(priced))
        files.show_serious(findings)
    else:
        said: dict[str, Any] = {
            "findings": tuple(findings),
            "ends": ends,
            "raw": raw,
            "listed": by is not None and not two,
        }
        said["more"] = {} if priced is None else {"cost": priced.to_dict()}
        compare_output.write(found, form, table=table, two=two, changed=changed, **said)
    gate_verdicts.end(ends, as_json=form != "text")


def _of_policies(
    table: Any,
    paths: Sequence[str],
    asked: tuple[str | None, str | None],
    by: str | None,
    wanted: Mapping[str, Any],
    paired: bool | None,
) -> tuple[Comparison, ...]:
    """Two policies compared, once or task by task."""
    import surefoot as sf

    first, second = files.two_policies(table, paths, *asked)
    if by is not None:
        level = {name: value for name, value in wanted.items() if name != "dealt"}
        found: tuple[Comparison, ...] = sf.compare_by(table, first, second, by=_words(by), **level)
        return found
    return (sf.compare(table, first, second, paired=paired, **wanted),)


def _of_runs(two: two_runs.TwoRuns, wanted: Mapping[str, Any], paired: bool | None) -> tuple[Comparison, ...]:
    """Each policy compared with itself in another run."""
    from surefoot.analysis.changes import change

    typer.echo(f"note: {two.says}", err=True)
    known = {name: value for name, value in wanted.items() if name not in ("dealt", "target", "lower_is_better")}
    return change(two.now, two.before, paired=paired, names=two.names, **known)


def _changed(
    two: two_runs.TwoRuns, found: Sequence[Comparison], by: str | None, wanted: Mapping[str, Any]
) -> tuple[Regression, ...]:
    """What changed in every policy, by benchmark and category; the error is shared among policies."""
    from surefoot.analysis.regressions import regression

    if any(one.judged is not None or not one.comparable for one in found):
        return ()
    level = 1.0 - (1.0 - wanted["confidence"]) / len(found)
    return tuple(
        regression(two.now, two.before, one, names=two.names, by=_words(by), weights=wanted["weights"],
                   confidence=level)
        for one in found
    )  # fmt: skip


def _levels(
    two: two_runs.TwoRuns, found: Sequence[Comparison], by: str, wanted: Mapping[str, Any]
) -> tuple[Comparison, ...]:
    """Every level of every policy, for a gate that each must pass: none is charged for the others."""
    import surefoot as sf
    from surefoot.analysis.changes import both_runs

    level = {name: value for name, value in wanted.items() if name not in ("dealt", "target", "lower_is_better")}
    tables = [both_runs(two.now, two.before, str(one.policy), two.names, one.measure) for one in found]
    return tuple(
        made
        for one, both in zip(found, tables, strict=True)
        for made in sf.compare_by(both, one.first, one.second, by=_words(by), **level)
    )


def _words(by: str | None) -> list[str]:
    return [word.strip() for word in (by or "").split(",") if word.strip()]
