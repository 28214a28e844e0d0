"""Options by mode of the commands that answer several questions: `--help`, refusals and a test come from this table."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

from typer.models import OptionInfo

_C = TypeVar("_C", bound=Callable[..., None])

_TRIES = "column where sheet strict policy policies-in unit repeat setting cluster run ignore"
READ = f"{_TRIES} low high"
"""The options that say how files are read."""
LABELS = "human labels-method"
EVERYWHERE = "confidence json"
"""Options that act in every mode, but where one stands with a dash."""

_COMPARED = f"{READ} score first second pool-runs margin"
_WRITTEN = "gate format raw"
_PILOT = "gain score column where low high"
_REPLAYED = "first second horizon claim randomised population rule futility figure low high"
_RANKED = f"{READ} score horizon measure start-order pool-runs pooled"
_GATED = f"{READ} score first second target weights format"
_WATCHED = "first second horizon rule claim randomised start-order in-start-order first-start parallel score low high"
_SIMULATED = "horizon within budget runs seed"
_REPORTED = f"{READ} score output figures width style title pool-runs weights {LABELS} collected margin no-clips"
_NEW_PLAN = (
    "policies title horizon claim rule question within budget levels environments tasks conditions items helped-by "
    "futility"
)
_STUDIED = "workers batch time-limit turns holder rig clips clips-from notify"
_ENTERED = "reason holder duration failure note clip author"

MODES: dict[str, dict[str, str]] = {
    "rate": {
        "tallies": "using lower upper seed",
        "tallies --requires": "",
        "tallies --population": "",
        "files": f"{READ} score pool-runs target weights labels-method",
        "files --human": f"{READ} score pool-runs labels-method",
        "files --pass-at": f"{_TRIES} pool-runs",
        "files --pass-all": f"{_TRIES} pool-runs",
    },
    "compare": {
        "tallies": "using details gate margin",
        "--pairs": "using details gate margin",
        "--counts": "baseline margin",
        "files": f"{_COMPARED} {_WRITTEN} {LABELS} paired dealt target weights lower-is-better",
        "files --by": f"{_COMPARED} {_WRITTEN} {LABELS} target weights lower-is-better",
        "files --cost": f"{_COMPARED} raw paired dealt target weights",
        "files --previous": f"{READ} score margin {_WRITTEN} paired weights by",
        "files --pass-at": f"{_TRIES} first second pool-runs margin",
        "files --pass-all": f"{_TRIES} first second pool-runs margin",
        "files --population": f"{_COMPARED} helped-by randomised",
        "files, two runs": f"{READ} pool-runs score margin {_WRITTEN} {LABELS} paired weights by",
    },
    "rank": {
        "files": f"{READ} score pool-runs margin own-intervals figure target weights lower-is-better {LABELS}",
        "files --cost": f"{READ} score pool-runs margin own-intervals figure target weights",
        "preferences": "column seed prior",
    },
    "slices": {
        "files": f"{READ} score first second by ways claim weights dealt",
        "files --only": f"{READ} score by ways dealt",
    },
    "items": {
        "files": f"{_TRIES} output",
        "files --draw": f"{_TRIES} output seed",
        "files --drawn": _TRIES,
    },
    "gate": {
        "files": f"{_GATED} {LABELS}",
        "files --previous": f"{READ} score target weights format",
        "files, two runs": f"{READ} score target weights format {LABELS}",
    },
    "band": {
        "scores": "low high quantile worst at-least figure using",
        "files": "score policy low high quantile worst at-least figure using",
    },
    "replay": {
        "pairs": _REPLAYED,
        "files": f"{READ} {_REPLAYED} score measure start-order pool-runs pooled",
        "files, many policies": f"{_RANKED} question within futility rule",
    },
    "watch": {
        "a file": f"{_WATCHED} column every",
        "a file --once": f"{_WATCHED} column",
    },
    "report": {
        "files": f"{_REPORTED} previous",
        "a study": "output figures width style no-clips -confidence",
    },
    "plan race": {
        "--policies": f"{_SIMULATED} curve",
        "--rates": _SIMULATED,
        "--from": f"{_SIMULATED} score low high",
    },
    "plan halve": {
        "--policies": "budget runs seed curve",
        "--rates": "budget runs seed",
        "--from": "budget runs seed score low high",
    },
    "plan best": {
        "--policies": f"{_SIMULATED} curve",
        "--rates": _SIMULATED,
        "--from": f"{_SIMULATED} score low high",
    },
    "study create": {
        "a new plan": f"store assume pilot check yes author {_NEW_PLAN}",
        "an existing plan": "store assume pilot check yes author -confidence",
    },
    "study run": {
        "--command": f"{_STUDIED} exit-code",
        "--runner": _STUDIED,
        "--gym": f"{_STUDIED} policy success max-steps video",
    },
    "study record": {
        "a study here": f"{_ENTERED} clips",
        "a served study": _ENTERED,
    },
    "study invite": {
        "a name": "role address tokens author",
        "a name --end": "tokens author",
    },
    "plan compare": {
        "rates": "first second rollouts power margin claim",
        "rates --units": "first second power repeats spread",
        "rates --sequential": "first second rollouts power claim rule horizon futility",
        "rates --second-only": "first-only rollouts power margin claim",
        "--from": f"{_PILOT} first second power",
    },
    "plan rank": {
        "--rates": "horizon futility question rule correlation runs jobs seed",
        "--from": "horizon futility question rule correlation runs jobs seed score low high",
    },
}
"""By command and mode, the options that act there, without their dashes.

A mode is what the words are, or an option that chooses it, alone or after what it goes with: `files --by`.
"""

WITH = {
    "items": {"draw": "seed output"},
    "band": {"using": "figure"},
    "report": {"width": "figures", "style": "figures"},
    "study report": {"width": "figures", "style": "figures"},
    "study create": {"helped-by": "items"},
    "study serve": {"certificate": "key", "key": "certificate"},
}
"""By command and option, the options that it does nothing without."""

WITHOUT = {
    "watch": {"first-start": "in-start-order", "parallel": "in-start-order", "start-order": "in-start-order"},
    "study create": {"check": "store author yes"},
    "study run": {"batch": "exit-code gym"},
    "study serve": {"host": "lan"},
    "plan race": {"budget": "horizon"},
}
"""By command and option, the options that do nothing beside it."""

NEEDED = {
    "files": "a file of results",
    "tallies": "a tally",
    "rates": "rates (--first 0.9 --second 0.6)",
    "preferences": "a file of preferences",
    "pairs": "a file of pairs",
    "scores": "scores",
}
"""What must be given for a mode, where it is not an option."""

CURES = {
    "report, a study": "Or write its rollouts to a table, and report that: `surefoot study export study.db --rollouts "
    "results.csv`.",
    "study create, an existing plan": "Edit the plan, or name another file.",
}
"""What else can be done about an option that does nothing, by command and mode."""


def of(command: str) -> Callable[[_C], _C]:
    """Let a command refuse options that do nothing, and let its help say with what each acts.

    A command that is asked about one thing only is in the mode that its options choose; one that looks at its words
    first says itself what they are: `settled`.
    """
    bases = {_base(mode) for mode in MODES.get(command, {})}

    def told(function: _C) -> _C:
        own = inspect.signature(function, eval_str=True)

        @functools.wraps(function)
        def same(*words: Any, **values: Any) -> None:
            options = given(same, inspect.signature(same).bind(*words, **values).arguments)
            _refuse_beside(command, options)
            if bases and all(mode.startswith("--") for mode in bases):
                settled(command, _chosen(MODES[command], options), options)
            elif len(bases) == 1:
                settled(command, next(iter(bases)), options)
            function(*words, **values)

        every = [_told(one, command) for one in own.parameters.values()]
        same.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        same.__annotations__ = {one.name: one.annotation for one in every}
        return same  # type: ignore[return-value]

    return told


def given(function: Callable[..., None], values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given other values than their own, without their dashes; `reading` stands for its fields.

    Args:
        function: The command.
        values: Its arguments by name.
    """
    flat = {**values, **{name: getattr(values["reading"], name) for name in _fields(values.get("reading"))}}
    found = {}
    for one in inspect.signature(function).parameters.values():
        option = _option(one)
        value = flat.get(one.name, one.default)
        if option is not None and value != one.default and str(value).strip():
            found[_name(one, option)] = value
    return found


def _chosen(modes: Iterable[str], said: Iterable[str]) -> str:
    """The one of these options that was given: each is a mode of its own."""
    every = list(modes)
    there = [mode for mode in every if mode[2:] in said]
    if len(there) > 1:
        raise ValueError(f"`{there[0]}` and `{there[1]}` must not be given together.")
    if not there:
        named = [f"`{mode}`" for mode in every]
        raise ValueError(f"One of {', '.join(named[:-1])} and {named[-1]} must be given.")
    return there[0]


def _refuse_beside(command: str, options: Iterable[str]) -> None:
    """Refuse an option without what it needs beside it, or beside what takes its place."""
    said = set(options)
    for option, needs in WITH.get(command, {}).items():
        if option in said and (lacking := [one for one in needs.split() if one not in said]):
            raise ValueError(f"`--{option}` needs `--{lacking[0]}`; it does nothing without it.")
    for option, idle in WITHOUT.get(command, {}).items():
        if option in said and (there := [one for one in idle.split() if one in said]):
            raise ValueError(f"`--{there[0]}` must be left out with `--{option}`; it does nothing there.")


def settled(command: str, what: str, said: Iterable[str]) -> str:
    """The mode of a command: what its words are, and the option that chooses among what can be asked of them."""
    options = list(said)
    chosen = [mode for mode in MODES[command] if _base(mode) == what != mode and _chooser(mode) in options]
    acting = {option for mode in chosen for option in MODES[command][mode].split()}
    chosen = [mode for mode in chosen if _chooser(mode) not in acting]
    if len(chosen) > 1:
        raise ValueError(f"`--{_chooser(chosen[0])}` and `--{_chooser(chosen[1])}` must not be given together.")
    mode = chosen[0] if chosen else what
    refuse(command, mode, options)
    return mode


def refuse(command: str, mode: str, said: Iterable[str]) -> None:
    """Refuse options that do nothing in a mode: whoever gives one believes that it does."""
    for option in said:
        if mode not in (acting := modes_with(command, option)):
            where, cure = called(mode), CURES.get(f"{command}, {mode}", "")
            out = not acting or _base(mode) in acting
            if out or any(_base(one) == _base(mode) and _chooser(one) == option for one in acting):
                raise ValueError(f"`--{option}` must be left out with {where}; it does nothing there. {cure}".strip())
            needs = _either(acting, option)
            raise ValueError(f"`--{option}` needs {needs}; it does nothing with {where}. {cure}".strip())


def modes_with(command: str, option: str) -> list[str]:
    """The modes of a command that an option acts in, those that it chooses included."""
    return [
        mode
        for mode, options in MODES.get(command, {}).items()
        if option in (*f"{options} {EVERYWHERE}".split(), _chooser(mode)) and f"-{option}" not in options.split()
    ]


def called(mode: str) -> str:
    """How a sentence names a mode: tallies, two runs, or the option that chooses it."""
    return f"`--{_chooser(mode)}`" if _chooser(mode) else mode.rpartition(", ")[2]


@functools.cache
def _base(mode: str) -> str:
    """What the words must be."""
    return mode if mode.startswith("--") else mode.partition(" --")[0].partition(", ")[0]


@functools.cache
def _chooser(mode: str) -> str:
    """The option that chooses a mode; empty where the words do."""
    return mode.partition("--")[2]


def _either(acting: Iterable[str], option: str, *, plain: bool = False) -> str:
    """The modes an option needs, in a row; a mode of what the words are stands for those within it."""
    modes = list(dict.fromkeys(_base(mode) if _chooser(mode) == option else mode for mode in acting))
    outer = [mode for mode in modes if _base(mode) == mode or _base(mode) not in modes]
    names = [called(mode) if plain else NEEDED.get(mode, called(mode)) for mode in outer]
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _told(one: inspect.Parameter, command: str) -> inspect.Parameter:
    """A parameter whose help begins with the modes that its option acts in, where it does not act in all."""
    option = _option(one)
    if option is None:
        return one
    name = _name(one, option)
    beside = [f"--{each}" for each in WITH.get(command, {}).get(name, "").split()]
    acting = modes_with(command, name)
    bases = {_base(mode) for mode in MODES.get(command, {})}
    everywhere = not acting or bases <= set(acting) or any(_chooser(mode) == name == mode[2:] for mode in acting)
    if everywhere and not beside:
        return one
    where = " and ".join(beside) if everywhere else _either(acting, name, plain=True).replace("`", "")
    written = copy.copy(option)
    written.help = f"With {where}: {_lower(option.help or '')}"
    kind = next(each for each in get_args(one.annotation) if not isinstance(each, OptionInfo))
    return one.replace(annotation=Annotated[kind, written])


def _lower(text: str) -> str:
    """A sentence after a colon; a name keeps its capital."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"


def _option(one: inspect.Parameter) -> OptionInfo | None:
    """What typer knows of a parameter's option."""
    if get_origin(one.annotation) is not Annotated:
        return None
    return next((each for each in get_args(one.annotation) if isinstance(each, OptionInfo)), None)


def _name(one: inspect.Parameter, option: OptionInfo) -> str:
    """The option without its dashes: its first long name, or the parameter's."""
    words = (option.default, *(option.param_decls or ()))  # typer keeps the first name in the place of a default
    long = [word.partition("/")[0][2:] for word in words if isinstance(word, str) and word.startswith("--")]
    return long[0] if long else one.name.replace("_", "-")


def _fields(reading: Any) -> tuple[str, ...]:
    return tuple(getattr(reading, "__dataclass_fields__", ()))
