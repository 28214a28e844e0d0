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
"""Options that act in every mode."""

_COMPARED = f"{READ} score first second pool-runs margin"
_WRITTEN = "gate format raw"
_PILOT = "gain score column where low high"

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

NEEDED = {
    "files": "a file of results",
    "tallies": "a tally",
    "rates": "rates (--first 0.9 --second 0.6)",
    "preferences": "a file of preferences",
}
"""What must be given for a mode, where it is not an option."""


def of(command: str) -> Callable[[_C], _C]:
    """Let the help of a command's options begin with the modes that they act in."""

    def told(function: _C) -> _C:
        every = [_told(one, command) for one in inspect.signature(function, eval_str=True).parameters.values()]

        @functools.wraps(function)
        def same(*words: Any, **given: Any) -> None:
            function(*words, **given)

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
        if option is not None and one.name in flat and flat[one.name] != one.default:
            found[_name(one, option)] = flat[one.name]
    return found


def settled(command: str, what: str, said: Iterable[str]) -> str:
    """The mode of a command: what its words are, and the option that chooses among what can be asked of them.

    Raises:
        ValueError: Two such options were given, or an option that does nothing in this mode.
    """
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
    """Refuse options that do nothing in a mode: whoever gives one believes that it does.

    Raises:
        ValueError: One was given; it names what the option needs, and the mode.
    """
    for option in said:
        if mode not in (acting := modes_with(command, option)):
            where = called(mode)
            if _base(mode) in acting or any(_base(one) == _base(mode) and _chooser(one) == option for one in acting):
                raise ValueError(f"`--{option}` must be left out with {where}; it does nothing there.")
            raise ValueError(f"`--{option}` needs {_either(acting, option)}; it does nothing with {where}.")


def modes_with(command: str, option: str) -> list[str]:
    """The modes of a command that an option acts in, those that it chooses included."""
    return [
        mode
        for mode, options in MODES[command].items()
        if option in (*f"{options} {EVERYWHERE}".split(), _chooser(mode))
    ]


def called(mode: str) -> str:
    """How a sentence names a mode: tallies, two runs, or the option that chooses it."""
    return f"`--{_chooser(mode)}`" if _chooser(mode) else mode.rpartition(", ")[2]


def _base(mode: str) -> str:
    """What the words must be."""
    return mode if mode.startswith("--") else mode.partition(" --")[0].partition(", ")[0]


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
    acting = modes_with(command, name)
    bases = {_base(mode) for mode in MODES[command]}
    if not acting or bases <= set(acting) or any(_chooser(mode) == name == mode[2:] for mode in acting):
        return one
    written = copy.copy(option)
    written.help = f"With {_either(acting, name, plain=True).replace('`', '')}: {_lower(option.help or '')}"
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
