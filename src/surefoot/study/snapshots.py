"""Snapshots beside a log, so that long studies open at once.

What its log amounts to is kept beside the log every so many lines, with the number and the hash of the line it stands
at. That hash is chained over all lines before it, so a snapshot fits one log only. The log stays what counts: a
snapshot that does not stand at the line it names is thrown away, `verify` never reads one, and whatever is asked about
older turns is read from the log.
"""

from __future__ import annotations

import base64
import importlib
import json
import logging
import zlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_args

import numpy as np

import surefoot
from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.numerics.betting import weak_orders
from surefoot.sequential.history import Trail
from surefoot.study.decision import table_of
from surefoot.study.events import Before, Line, chained, word_number
from surefoot.study.state import Fold
from surefoot.study.stores import Keeper, Store, StoreError, keeper_of

FORMAT = 2
STEP = 1000
"""A study of fewer lines has no snapshot; from there on a new one is kept after so many."""
OWN = ("seed", "last", "hashes", "before")
"""What a fold holds that is taken from the log when it is opened, or written in a form of its own."""
Plain = None | bool | int | float | str
LOG = logging.getLogger(__name__)


class MisfitError(StudyError):
    """A snapshot is not one of this log, or cannot be read."""


def kept(fold: Fold, store: Store) -> bool:
    """Keep what a fold amounts to; False where nothing could be kept, which loses nothing.

    Args:
        fold: What the log amounts to, up to a line that is in the store.
        store: Where the log is kept.
    """
    keeper = keeper_of(store)
    if keeper is None or fold.foreign_table:
        return False
    try:
        body = written(fold)
        keeper.keep(fold.version, fold.head, body)
    except (TypeError, StoreError) as error:  # a rule of another package, or a store that is only read
        LOG.debug("surefoot: no snapshot was kept: %s", error)
        return False
    return True


def opened(store: Store) -> Fold | None:
    """What the snapshot and the lines after it amount to; None where the log must be read from its beginning."""
    keeper = keeper_of(store)
    found = None if keeper is None else keeper.snapshot()
    if keeper is None or found is None:
        return None
    try:
        return _continued(keeper, store, *found)
    except MisfitError as error:
        LOG.warning("surefoot: the study's snapshot was thrown away: %s. Its log is read whole.", error)
        try:
            keeper.keep(0, "", b"")
        except StoreError as failure:  # it is only read
            LOG.debug("surefoot: %s", failure)
    except StoreError:
        raise
    except StudyError as error:
        LOG.debug("surefoot: %s", error)  # of a line after it: said when the log is read whole
    return None


def _continued(keeper: Keeper, store: Store, number: int, head: str, body: bytes) -> Fold:
    """The fold of a snapshot, with the lines after it."""
    begun, lines = keeper.lines(1, 1), store.read(number - 2)
    here = lines[1] if len(lines) > 1 and lines[0].number == number - 1 else None
    if not begun or here is None:
        raise MisfitError(f"it stands at line {number}, which the log lacks")
    if here.hash != head or here.hash != chained(lines[0].hash, number, here.event):
        raise MisfitError(f"line {number} of the log is another")
    fold = read(body, begun[0], here)
    for line in lines[2:]:
        if line.hash != Line.after(fold.last, line.event).hash or fold.short_of(event=line.event):
            raise StudyError(f"Line {line.number} must be held against all lines before it.")
        fold.take(line)
    return fold


def written(fold: Fold) -> bytes:
    """A fold without the blocks that its rule has read, as bytes."""
    reached, last = fold.reached, fold.before.turns
    gone = [number for number in fold.blocks if number <= reached]
    turns = last + sum(len(fold.blocks[number]) for number in gone)
    live = {one: getattr(fold, one) for one in (each.name for each in fields(Fold)) if one not in OWN}
    for name in ("turns", "waiting", "results", "attempts", "leases", "had", "crashes"):
        live[name] = {number: value for number, value in live[name].items() if number > turns}
    if set(fold.waiting) != set(live["waiting"]):
        raise TypeError("a turn waits in a block that was read")
    live["blocks"] = {number: value for number, value in fold.blocks.items() if number > reached}
    live["history"], live["_decisions"], live["requests"] = [fold.begun], [fold.decision], {}
    words = {*map(int, fold.before.words), *map(word_number, fold.requests)}
    results = fold.recorded - len(live["results"])
    before = Before(fold.version - 1, turns, reached, results, np.array(sorted(words), np.uint64))
    said = {"format": FORMAT, "surefoot": surefoot.__version__, "lines": fold.version, "head": fold.head}
    text = json.dumps({**said, "before": _plain(before), "fold": _plain(live)}, separators=(",", ":"))
    return zlib.compress(text.encode(), 1)


def read(body: bytes, begun: Line, here: Line) -> Fold:
    """The fold that `written` wrote.

    Args:
        body: What it wrote.
        begun: The first line of the log, with the seed.
        here: The line at which it stands.

    Raises:
        MisfitError: It was written by another version, or is damaged.
    """
    try:
        said = json.loads(zlib.decompress(body))
        if (said["format"], said["surefoot"]) != (FORMAT, surefoot.__version__):
            raise MisfitError(f"another version of surefoot wrote it ({said['surefoot']})")
        if (said["lines"], said["head"]) != (here.number, here.hash):
            raise MisfitError("it was made for another line")
        fold, live = Fold(), _value(said["fold"])
        if set(live) != {one.name for one in fields(Fold)} - set(OWN):
            raise MisfitError("it was made by other code")
        for name, value in live.items():
            setattr(fold, name, value)
        fold.before = _value(said["before"])
    except (ValueError, KeyError, TypeError, AttributeError, ImportError, IndexError, zlib.error) as error:
        raise MisfitError(f"it is damaged ({type(error).__name__})") from None
    if fold.begun != begun.event:
        raise MisfitError("it is of another study")
    if table_of(fold.plan) != fold.table:
        raise MisfitError("the exact rule's table here is another")
    revealed = "" if fold.unblinded is None else str(fold.unblinded.body["seed"])
    fold.seed = begun.private or Secret(revealed)
    fold.last, fold.hashes = here, bytearray(bytes.fromhex(here.hash))
    return fold


# Values as JSON, each that JSON does not know in an object of one entry that names its kind. Only what surefoot itself
# defines comes back: numbers, texts, its records, tuples and enumerations; nothing is ever run.


def _plain(value: Any) -> Any:
    if value is None or type(value) in get_args(Plain):
        return value
    if isinstance(value, dict):
        return {"map": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if isinstance(value, Trail):
        return {"trail": _text(value.array().tobytes())}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": [value.dtype.str, list(value.shape), _text(value.tobytes())]}
    if isinstance(value, Enum):
        return {"enum": [*_named(type(value)), value.name]}
    if isinstance(value, weak_orders.Family):
        return {"family": list(value.made)}
    if is_dataclass(value):
        return {"record": [*_named(type(value)), {one.name: _plain(getattr(value, one.name)) for one in fields(value)}]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"record": [*_named(type(value)), {name: _plain(getattr(value, name)) for name in value._fields}]}
    for kind, known in LISTS.items():
        if type(value) is known:
            each: Iterable[Any] = sorted(value) if kind in ("set", "frozenset") else value
            return {kind: [_plain(one) for one in each]}
    raise TypeError(f"{type(value).__qualname__} cannot be kept")


LISTS: dict[str, Any] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


def _value(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((kind, told),) = plain.items()
    if kind in LISTS:
        return LISTS[kind]([_value(one) for one in told])
    return {"map": _map, "trail": _trail, "array": _array, "enum": _enum, "family": _family, "record": _record}[kind](
        told
    )


def _map(told: Any) -> dict[Any, Any]:
    return {_value(key): _value(each) for key, each in told}


def _trail(told: Any) -> Trail:
    return Trail(np.frombuffer(base64.b64decode(told), np.float64).tolist())


def _array(told: Any) -> Any:
    kind, shape, text = told
    return np.frombuffer(base64.b64decode(text), np.dtype(kind)).reshape(shape).copy()


def _enum(told: Any) -> Any:
    module, name, member = told
    return _class(module, name)[member]


def _family(told: Any) -> weak_orders.Family:
    return weak_orders.made(*told)


def _record(told: Any) -> Any:
    module, name, values = told
    kind = _class(module, name)
    names = kind._fields if hasattr(kind, "_fields") else [one.name for one in fields(kind)]
    if list(values) != list(names):
        raise TypeError(f"{name} has other fields")
    if hasattr(kind, "_fields"):
        return kind(*map(_value, values.values()))
    made = object.__new__(kind)
    for each, value in values.items():
        object.__setattr__(made, each, _value(value))
    return made


def _named(kind: type) -> tuple[str, str]:
    if not kind.__module__.startswith("surefoot.") or "." in kind.__qualname__:
        raise TypeError(f"{kind.__qualname__} is not surefoot's own")
    return kind.__module__, kind.__qualname__


def _class(module: str, name: str) -> Any:
    """A record, a named tuple or an enumeration of surefoot's; nothing else can be named."""
    if not module.startswith("surefoot."):
        raise TypeError(f"{module} is not surefoot's own")
    kind = getattr(importlib.import_module(module), name)
    if not (isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, tuple | Enum))):
        raise TypeError(f"{name} is no record")
    return kind


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
