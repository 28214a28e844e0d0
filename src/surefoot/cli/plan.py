"""`surefoot plan`: how many rollouts, before the first?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

import surefoot as sf
from surefoot import _check
from surefoot.cli import files, label_options, modes, plan_best, plan_rank, terminal
from surefoot.core.formatting import rounded
from surefoot.core.interval import Side
from surefoot.sequential import registry
from surefoot.stats import bands
from surefoot.stats.exact_power import Asked
from surefoot.stats.rate_methods import methods
from surefoot.study.plans import usual_futility

if TYPE_CHECKING:
    from surefoot.analysis.gate_plans import Expected
    from surefoot.sequential import Rule
    from surefoot.stats.bound_tightness import Method


app = typer.Typer(help="How many rollouts, before the first one?", no_args_is_help=True, rich_markup_mode=None)
app.command("rank")(plan_rank.rank)
app.command("race")(plan_best.race)
app.command("halve")(plan_best.halve)
app.command("best")(plan_best.best)

CLAIMS: dict[str, Asked] = {"either": "either", "better": "first better", "not-worse": "first not worse"}
BANDS = {name.replace("_", "-"): name for name in ("ks", "tail_tight", "dkw")}


def _intervals() -> dict[str, Method]:
    """The intervals that a plan can be made for: those that are known at any count, and are fit for use."""
    fit = (one for one in methods().values() if one.ends is not None and not (one.drawn or one.to_compare))
    return {one.name: one.using for one in fit}


def _bounds() -> dict[str, Method]:
    """The bounds that a plan can be made for: those that hold whatever the rate."""
    sides: tuple[Side, ...] = get_args(Side)
    return {f"{name}-{side}": one.using for side in sides for name, one in methods(side).items() if one.guaranteed}


@app.command("rate")
def rate(
    half_width: Annotated[float, typer.Argument(help="Half of the width the interval may have: 0.05 for 5 points.")],
    assumed: Annotated[
        float | None, typer.Option("--rate", help="The rate you expect; if left out, the plan holds for any rate.")
    ] = None,
    using: Annotated[str, typer.Option(help=f"Method: {', '.join(_intervals())}.")] = "wilson",
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts make a success rate's interval this narrow?

    Examples:

        surefoot plan rate 0.05

        surefoot plan rate 0.05 --rate 0.9
    """
    method = _check.choice(using, "--using", _intervals())
    plan = sf.plan_rate(half_width, rate=assumed, confidence=confidence, using=method)
    terminal.show(plan, as_json=as_json)
    if not as_json:
        _bought(plan.table, "half-width", plan.rollouts)


@app.command("bound")
def bound(
    tightness: Annotated[
        float | None,
        typer.Option(
            help="How far the bound may be from the true rate on average, whatever the rate: 0.1 for 10 points."
        ),
    ] = None,
    rollouts: Annotated[int | None, typer.Option(help="Rollouts.")] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", "-c", help="Confidence; 0.95 if it and one other are left out.")
    ] = None,
    using: Annotated[str, typer.Option(help=f"Method: {', '.join(_bounds())}.")] = "optimal-lower",
    as_json: terminal.AsJson = False,
) -> None:
    """Confidence, tightness, rollouts: any two give the third.

    Examples:

        surefoot plan bound --tightness 0.1

        surefoot plan bound --rollouts 50

        surefoot plan bound --tightness 0.1 --rollouts 50
    """
    method = _check.choice(using, "--using", _bounds())
    plan = sf.plan_bound(confidence=confidence, tightness=tightness, rollouts=rollouts, using=method)
    terminal.show(plan, as_json=as_json)
    if not as_json:
        _bought(plan.table, "on average within", plan.rollouts)


@app.command("band")
def band(
    offset: Annotated[float, typer.Argument(help="How far the worst case may lie from what is observed: 0.1.")],
    using: Annotated[str, typer.Option(help=f"Method: {', '.join(BANDS)}.")] = "ks",
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts bring a score's worst case this close?

    Close to what is observed, over the whole distribution.

    Examples:

        surefoot plan band 0.1
    """
    method = getattr(bands, _check.choice(using, "--using", BANDS))
    terminal.show(sf.plan_band(offset, confidence=confidence, using=method), as_json=as_json)


@app.command("mean")
def mean(
    half_width: Annotated[
        float, typer.Argument(help="Half of the width the interval may have, in units of the score.")
    ],
    spread: Annotated[float, typer.Option(help="The standard deviation you expect, from a pilot.")],
    expected: Annotated[
        float | None, typer.Option("--mean", help="The mean you expect; the middle if left out.")
    ] = None,
    low: Annotated[float, typer.Option(help="The lowest score possible.")] = 0.0,
    high: Annotated[float, typer.Option(help="The highest score possible.")] = 1.0,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts make a mean score's interval about this narrow?

    Examples:

        surefoot plan mean 0.05 --spread 0.2
    """
    plan = sf.plan_mean(half_width, spread=spread, mean=expected, low=low, high=high, confidence=confidence)
    terminal.show(plan, as_json=as_json)


@app.command("compare")
@modes.of("plan compare")
def compare(
    first_word: Annotated[
        str | None,
        typer.Option(
            "--first", help="The first policy's rate; leave it out to learn what can be shown. With --from, its name."
        ),
    ] = None,
    second_word: Annotated[
        str | None, typer.Option("--second", help="The second policy's rate, the baseline. With --from, its name.")
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A pilot, a file of any known format: its rates, spread, pairs and epochs are used."
        ),
    ] = None,
    gain: Annotated[
        float | None,
        typer.Option(help="The gain to show, 0.1 for 10 points; the pilot's own if left out."),
    ] = None,
    score: files.Score = None,
    columns: files.Columns = None,
    where: files.Where = None,
    low: files.Low = None,
    high: files.High = None,
    rollouts: Annotated[
        int | None, typer.Option(help="Rollouts of each policy, or pairs; leave out to learn how many.")
    ] = None,
    first_only: Annotated[
        float | None, typer.Option("--first-only", help="The chance that only the first succeeds.")
    ] = None,
    second_only: Annotated[
        float | None, typer.Option("--second-only", help="For pairs: the chance that only the second succeeds.")
    ] = None,
    power: Annotated[
        float | None, typer.Option(help="The chance of the verdict (power); 0.8 unless it is the question.")
    ] = None,
    units: Annotated[
        int | None, typer.Option(help="Units (tasks, scenes) that both policies meet: about units like these.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="How often each policy meets each; 5.")] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="The standard deviation of the gain between units; 0.2 for 20 points."),
    ] = None,
    margin: files.Margin = 0.0,
    claim: Annotated[
        str, typer.Option("--claim", help=f"What will be asked: {', '.join(CLAIMS)}; one side needs fewer rollouts.")
    ] = "either",
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Also show a test that looks after every pair and may stop early.")
    ] = False,
    rule: Annotated[
        str | None,
        typer.Option("--rule", help=f"{', '.join(registry.HOMES)}; the one that fits best if left out."),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="The most pairs; a little above the fixed number if left out.")
    ] = None,
    futility: Annotated[
        float | None,
        typer.Option(help="Stop once the chance of a verdict is below this; as in a new plan if left out."),
    ] = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """How many rollouts tell two policies apart?

    By the exact power of the test that `compare` will run; from a pilot with scores or epochs about, by its interval.

    Examples:

        surefoot plan compare --first 0.9 --second 0.6

        surefoot plan compare --first 0.9 --second 0.6 --claim better

        surefoot plan compare --second 0.7 --rollouts 50

        surefoot plan compare --first 0.85 --second 0.7 --rollouts 20

        surefoot plan compare --first-only 0.25 --second-only 0.05

        surefoot plan compare --first 0.7 --second 0.7 --margin 0.2

        surefoot plan compare --first 0.9 --second 0.6 --sequential --horizon 100

        surefoot plan compare --first 0.7 --second 0.5 --units 20 --repeats 10

        surefoot plan compare --from pilot.csv --first new --second old --gain 0.1

        surefoot plan compare --from pilot.csv --column success=worked --first new --second old
    """
    modes.settled("plan compare", "rates" if pilot is None else "--from", modes.given(compare, locals()))
    if pilot is not None:
        reading = files.Reading(score=score, columns=columns, where=where, low=low, high=high)
        table = files.table([pilot], reading)
        names = files.two_policies(table, [pilot], first_word, second_word)
        _from_pilot(table, names, gain, score, power, confidence, as_json)
        return
    first, second = _rate_of(first_word, "--first"), _rate_of(second_word, "--second")
    if units is not None:
        if first is None or second is None:
            raise ValueError("`--units` must come with both rates, `--first` and `--second`.")
        told = {"repeats": repeats, "spread": spread, "power": power}
        known: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        terminal.show(sf.plan_units(first, second, units=units, confidence=confidence, **known), as_json=as_json)
        return
    asked = _check.choice(claim, "--claim", CLAIMS)
    if sequential and asked == "first not worse":
        raise ValueError("`--claim` must be either or better with `--sequential`; got not-worse.")
    if sequential and (first is None or second is None):
        raise ValueError("`--sequential` must come with both rates, `--first` and `--second`.")
    if (second is None) == (second_only is None):
        raise ValueError("`--second` must be given, or `--second-only` for pairs; one of the two.")
    least: dict[str, Any] = {"power": power, "confidence": confidence, "margin": margin}
    if second_only is not None:
        plan = sf.plan_paired_comparison(first_only, second_only, pairs=rollouts, claim=asked, **least)
    else:
        plan = sf.plan_comparison(first, cast("float", second), rollouts=rollouts, claim=asked, **least)
    if not sequential or first is None or second is None:
        terminal.show(plan, as_json=as_json)
        return
    most = horizon or _horizon_above(plan.rollouts)
    side = "either" if asked == "either" else "first better"
    setting = registry.Setting(horizon=most, confidence=confidence, claim=side)
    named = registry.advised(setting) if rule is None else rule
    setting = replace(setting, futility=usual_futility(named, setting) if futility is None else futility)
    from surefoot.sequential.validity import declared

    stopping = sf.plan_sequential(cast("Rule[Any]", declared(named, setting)), first, second, rng=0)
    if as_json:
        terminal.show_json({"fixed": plan.to_dict(), "sequential": stopping.to_dict()})
        return
    typer.echo(f"Fixed: {plan}")
    typer.echo(f"Sequential: {stopping}")


def _rate_of(word: str | None, name: str) -> float | None:
    if word is not None and not terminal.is_number(word):
        raise ValueError(
            f"`{name}` must be a rate such as 0.9; got {word!r}. It is a policy's name with `--from` only."
        )
    return None if word is None else float(word)


def _from_pilot(
    rollouts: sf.Rollouts,
    names: tuple[str, str],
    gain: float | None,
    score: str | None,
    power: float | None,
    confidence: float,
    as_json: bool,
) -> None:
    first, second = names
    measure = files.measure_of(rollouts, score)
    wanted = 0.8 if power is None else power
    plan = sf.plan_from_pilot(rollouts, first, second, gain=gain, measure=measure, power=wanted, confidence=confidence)
    terminal.show(plan, as_json=as_json)
    if plan.epochs and not as_json:
        typer.echo("\nWith more epochs:")
        terminal.table(
            ["epochs", rollouts.words.environments, f"{rollouts.words.rollouts} of both"],
            [[f"{one.epochs}", f"{one.environments:,}", f"{one.rollouts:,}"] for one in plan.epochs],
        )


def _horizon_above(fixed: int) -> int:
    """A horizon whose design is shipped, a quarter above the fixed number: better declared too long than too short."""
    from surefoot.sequential.designs import HORIZONS

    return next((most for most in HORIZONS if most >= 1.25 * fixed), int(1.25 * fixed) + 1)


def _bought(rows: tuple[tuple[int, float], ...], what: str, chosen: int) -> None:
    typer.echo("\nWith more or fewer:")
    terminal.table(
        ["rollouts", f"{what} (points)", ""],
        [
            [f"{size:,}", f"{rounded(100 * value, 1, 'up'):.1f}", "<- this plan" if size == chosen else ""]
            for size, value in rows
        ],
    )


@app.command("gate")
def gate(
    needs: Annotated[Path, typer.Argument(metavar="NEEDS.toml", help="The needs, as for `surefoot gate`.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=VALUE",
            help="What is expected: a rate, success=0.8; of both policies, success=0.85/0.8; a mean and its standard "
            "deviation, duration=45,20. Repeatable.",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=COUNT", help="How many levels a column has: benchmark=12. Repeatable."),
    ] = None,
    rollouts: Annotated[
        int | None, typer.Option(help="Rollouts of each policy, on each level; leave out to learn how many.")
    ] = None,
    power: Annotated[float, typer.Option(help="The chance of passing that is wanted.")] = 0.8,
    as_json: terminal.AsJson = False,
) -> None:
    """How likely does a release pass, and which need costs most?

    Examples:

        surefoot plan gate release.toml --expect success=0.8 --levels benchmark=12

        surefoot plan gate release.toml --expect success=0.8 --expect duration=45,20 --rollouts 500
    """
    expected = {name: _expected(word) for name, word in _named(expect, "--expect", "success=0.8").items()}
    counts = {}
    for name, word in _named(levels, "--levels", "benchmark=12").items():
        if not word.isdecimal() or not int(word):
            raise ValueError(f"`--levels` must be a column and a number, such as benchmark=12; got {name}={word}.")
        counts[name] = int(word)
    plan = sf.plan_gate(needs, expected, levels=counts, rollouts=rollouts, power=power)
    terminal.show(plan, as_json=as_json)


def _named(words: list[str] | None, option: str, example: str) -> dict[str, str]:
    found = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise ValueError(f"`{option}` must be a name and a value, such as {example}; got {word!r}.")
        found[name] = value
    return found


def _expected(word: str) -> Expected:
    from surefoot.analysis.gate_plans import Expected

    values, _, spread = word.partition(",")
    first, _, second = values.partition("/")
    for part in filter(None, (first, second, spread)):
        if not terminal.is_number(part):
            raise ValueError(f"`--expect` must be numbers, such as success=0.85/0.8 or duration=45,20; got {word!r}.")
    return Expected(float(first), float(second) if second else None, float(spread) if spread else None)


@app.command("next")
@files.reads
def plan_next(
    paths: files.Paths,
    budget: Annotated[int, typer.Option("--budget", help="Rollouts to buy, of both policies together.")],
    first: Annotated[str | None, typer.Option(help="The policy that the gain is about.")] = None,
    second: Annotated[str | None, typer.Option(help="The policy it is compared with.")] = None,
    human_labels: label_options.Human = None,
    labels_method: label_options.Method = None,
    label_price: Annotated[float, typer.Option("--label-price", help="What a label costs, in rollouts.")] = 1.0,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """What to buy next: more questions, or more rollouts of the same?

    The width of the interval that each purchase would give, about units like these; the best one is named.

    Examples:

        surefoot plan next results.csv --budget 2000

        surefoot plan next results.csv --first new --second old --budget 200

        surefoot plan next judged.csv --human labels.csv --label-price 5 --budget 2000
    """
    table = label_options.labelled(files.table(paths, reading), human_labels, labels_method, reading.score)
    names = files.two_policies(table, paths, first, second)
    what = files.measure_of(table, reading.score)
    found = sf.plan_next(table, *names, budget=budget, measure=what, label_price=label_price, confidence=confidence)
    terminal.show(found, as_json=as_json)
