"""Boundaries of exact rules: shipped, cached or computed.

Common horizons are shipped with the package, others are computed once and kept in the user's cache. Every design is
stored with the number that its error was proved not to exceed, and with a digest that is checked when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
import zipfile
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from surefoot._files import write_whole
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Ints
    from surefoot.numerics.designs.design_search import Report
    from surefoot.numerics.designs.stopped_intervals import Listed, Space
    from surefoot.numerics.designs.stopped_walks import BinaryWalk, Endings, Quits


Family = Literal["binary", "paired"]

HORIZONS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500)
CONFIDENCES = (0.90, 0.95, 0.99)
SEARCHED = 500
"""Longer horizons use the formula, and so do the few short ones for which the search finds nothing."""
LONGEST = 2000
"""At twice this horizon the boundary and one pass over it would need over a gigabyte and minutes."""

SHIPPED = files("surefoot.sequential") / "shipped"
"""Where the designs that come with the package are; `make designs` writes them."""

_FORMAT = 1
_PATIENCE = 1.0  # seconds before progress is shown


class Declared(NamedTuple):
    """What a design is asked to do: `error` in each direction, in both directions or for the first policy only."""

    family: Family
    horizon: int
    error: float
    both: bool

    @property
    def name(self) -> str:
        """The name it is stored under."""
        return f"{self.family}-{self.horizon}-{self.error:.9g}-{'both' if self.both else 'first'}"


class ExactDesign(NamedTuple):
    """A boundary with its certificate.

    Attributes:
        declared: What it was asked to do.
        limits: limits[n, r]: the first policy is decided once its count exceeds this, the second's count being r.
        proved: A number that the error in each direction is proved not to exceed.
        digest: The SHA-256 of the stored boundary.
        constant: The calibrated constant of a formula design; none for a searched one.
    """

    declared: Declared
    limits: Ints
    proved: float
    digest: str
    constant: float | None = None

    def walk(self, *, until: int | None = None) -> BinaryWalk:
        """The walk that the boundary belongs to, followed for all or the first pairs."""
        from surefoot.numerics.designs import stopped_walks

        kind = stopped_walks.PairedWalk if self.declared.family == "paired" else stopped_walks.BinaryWalk
        return kind(until or self.declared.horizon, mirrored=self.declared.both)


@lru_cache(maxsize=64)
def design(declared: Declared) -> ExactDesign:
    """The design: shipped, from the cache, or computed now and cached."""
    packed = SHIPPED / f"{declared.family}.zip"
    found = read(packed, declared) if packed.is_file() else None
    if found is not None:
        return found
    kept = _cache() / f"v{_FORMAT}" / f"{declared.name}.zip"
    try:
        found = read(kept, declared) if kept.exists() else None
    except DataError:
        found = None  # a damaged cache is made again
    if found is None:
        found = compute(declared, report=_Progress(declared))
        keep(kept, [found])
    return found


def compute(declared: Declared, report: Report | None = None) -> ExactDesign:
    """The design, computed now."""
    from surefoot.numerics.designs import design_search, exact_designs, stopped_walks

    made, constant = None, None
    paired = declared.family == "paired"
    if declared.horizon <= SEARCHED:
        search = exact_designs.paired_design if paired else exact_designs.binary_design
        with suppress(design_search.NoBoundaryError):  # few pairs, an outcome of which is as likely as the error
            made = search(declared.horizon, declared.error, mirrored=declared.both, report=report)
    if made is None:
        shape = exact_designs.paired_limits if paired else exact_designs.binary_limits
        kind = stopped_walks.PairedWalk if paired else stopped_walks.BinaryWalk
        walk = kind(declared.horizon, mirrored=declared.both, depth=exact_designs.deep(paired=paired))
        made, constant = exact_designs.formula_design(walk, shape, declared.error, report)
    if made.proved > declared.error:
        raise ArithmeticError(f"The design {declared.name} does not keep its error.")
    stored = _encode(made.limits)
    return ExactDesign(declared, _decode(stored, declared), made.proved, _digest(stored), constant)


def shipped(family: Family) -> list[Declared]:
    """The designs that the package brings along."""
    return [
        Declared(family, horizon, error_of(confidence, both=both), both)
        for horizon in HORIZONS
        for confidence in CONFIDENCES
        for both in (True, False)
    ]


def error_of(confidence: float, *, both: bool) -> float:
    """The error in each direction, to nine digits, so that 1 - 0.95 and 0.05 name one design."""
    return float(f"{(1.0 - confidence) / (2.0 if both else 1.0):.9g}")


def _encode(limits: Ints) -> bytes:
    """Rows 0 ... n after each n = 1 ... horizon, as steps from row to row (small, so that they pack well)."""
    horizon = len(limits) - 1
    rows = [np.diff(np.minimum(limits[n, : n + 1], n), prepend=0) for n in range(1, horizon + 1)]
    return np.concatenate(rows).astype("<i2").tobytes()


def _decode(stored: bytes, declared: Declared) -> Ints:
    horizon = declared.horizon
    steps = np.frombuffer(stored, "<i2").astype(np.int64)
    n, row = np.tril_indices(horizon + 1)
    limits = np.full((horizon + 1, horizon + 1), horizon, np.int64)
    filled = np.zeros((horizon + 1, horizon + 1), np.int64)
    filled[n[1:], row[1:]] = steps
    limits[n[1:], row[1:]] = np.cumsum(filled, axis=1)[n[1:], row[1:]]
    limits.setflags(write=False)
    return limits


def _digest(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()


def read(path: Traversable, declared: Declared) -> ExactDesign | None:
    """The design in this file; none when the file does not hold it.

    Raises:
        DataError: The file is damaged.
    """
    try:
        with path.open("rb") as packed, zipfile.ZipFile(packed) as file:
            entry = json.loads(file.read("index.json")).get(declared.name)
            if entry is None:
                return None
            stored = file.read(declared.name)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise DataError(f"the stored designs cannot be read ({error}).", source=str(path)) from None
    if _digest(stored) != entry["digest"]:
        raise DataError(f"the stored design {declared.name} is damaged: its digest differs.", source=str(path))
    return ExactDesign(declared, _decode(stored, declared), entry["proved"], entry["digest"], entry["constant"])


def keep(path: Path, made: list[ExactDesign]) -> None:
    """Write a file of designs in one step, so that no reader ever sees half of it; a read-only place is left alone."""
    index: dict[str, dict[str, Any]] = {}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for one in made:
            stored = _encode(one.limits)
            index[one.declared.name] = {"proved": one.proved, "digest": _digest(stored), "constant": one.constant}
            file.writestr(zipfile.ZipInfo(one.declared.name, (1980, 1, 1, 0, 0, 0)), stored, zipfile.ZIP_DEFLATED, 9)
        text = json.dumps(index, indent=0)
        file.writestr(zipfile.ZipInfo("index.json", (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED, 9)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())
    except OSError:
        if path.is_relative_to(str(SHIPPED)):
            raise


def _cache() -> Path:
    """Where this user's computed designs are kept."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "surefoot" / "designs"


class _Progress:
    """One line on a terminal that tells how far a design is, once it takes longer than a second."""

    def __init__(self, declared: Declared) -> None:
        self.declared, self.began = declared, time.monotonic()

    def __call__(self, part: float) -> None:
        if time.monotonic() - self.began < _PATIENCE or not sys.stderr.isatty():
            return
        end = "\n" if part >= 1.0 else ""
        what = f"Computing the exact design for {self.declared.horizon:,} pairs (once; it is kept)"
        sys.stderr.write(f"\r{what}: {part:4.0%}{end}")
        sys.stderr.flush()


_BOXES = 200  # of rates, over which a chance is bounded


@lru_cache(maxsize=16)
def closest(declared: Declared) -> Ints:
    """How near each state is to a verdict at best."""
    from surefoot.numerics.designs import design_search

    return design_search.closest(design(declared).limits)


@lru_cache(maxsize=16)
def quits(declared: Declared, share: float) -> Quits:
    """Where a run is given up: no verdict can be reached any more, or its predictive chance is below `share`."""
    from surefoot.numerics.designs import design_search

    limits, both = design(declared).limits, declared.both
    if not share:
        return design_search.unreachable(limits, mirrored=both)
    return design_search.unlikely(limits, share, mirrored=both, paired=declared.family == "paired")


@lru_cache(maxsize=4)
def endings(declared: Declared, share: float) -> Endings:
    """Every state in which a run can end, given up as `quits` says."""
    from surefoot.numerics.designs import stopped_walks

    made = design(declared)
    return stopped_walks.endings(made.walk(), made.limits, quits(declared, share))


@lru_cache(maxsize=4)
def space(declared: Declared, share: float) -> Space:
    """The same, ready to be summed at any rates."""
    from surefoot.numerics.designs import stopped_intervals

    return stopped_intervals.space(endings(declared, share), paired=declared.family == "paired")


@lru_cache(maxsize=4)
def listed(declared: Declared, share: float) -> Listed:
    """The same, for a list of environments as long as the horizon."""
    from surefoot.numerics.designs.stopped_intervals import Listed

    return Listed(endings(declared, share), declared.horizon)


@lru_cache(maxsize=64)
def certificate(declared: Declared) -> tuple[float, float, float]:
    """Two numbers around the largest error in each direction, and where it is attained."""
    from surefoot.numerics import polynomials
    from surefoot.numerics.designs import stopped_walks

    made = design(declared)
    total = stopped_walks.coefficients(made.walk(), made.limits)
    if declared.family == "paired":
        most = int(np.argmax(total))
        return float(total[most]), made.walk().worst(total), most / declared.horizon
    return polynomials.polynomial_maximum(total)


@lru_cache(maxsize=64)
def strays(declared: Declared, near: float) -> float:
    """At most how likely BETTER is when the second policy is better by `near` or more, whatever the rates.

    The chance rises with the first policy's rate and falls with the second's, so between two rates that the second
    may have it is at most what it is for the first at the one and the second at the other.
    """
    from surefoot.numerics.designs.operating import characteristics

    made = design(declared)
    most = 1.0 if declared.family == "binary" else (1.0 + near) / 2.0
    rates = np.linspace(near, most, _BOXES + 1)
    found = characteristics(made.walk(), made.limits, rates[:-1], rates[1:] - near)
    return float(found.first.sum(axis=1).max()) * (1.0 + 1e-9)


@lru_cache(maxsize=256)
def tail(declared: Declared, pairs: int, row: int, other: int, decided: bool) -> float:
    """The largest chance, over equal policies, of ending at least as far as here.

    A verdict on pairs in shared environments is the further the larger its signed root is, as long as all endings are
    listed; an earlier one is further otherwise, and for independent streams. No verdict comes after all of them.
    """
    from surefoot.numerics.designs import operating, stopped_intervals

    made = design(declared)
    if decided and declared.family == "paired" and declared.horizon <= SEARCHED:
        every = endings(declared, 0.0)
        return stopped_intervals.rooted(every, every.at(pairs, other, row), made.walk())
    return operating.stage_wise(made.walk(until=pairs), made.limits, row, other, decided=decided)
