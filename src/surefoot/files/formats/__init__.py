"""The files people have: one importer per format, each independent of the others.

An importer is a module with `recognises(head)`, which looks at the beginning of a file and never at its name, with
`load(head)`, which gives its rows as a `Sheet` or raises `DataError`, and with `ABOUT`, which tells users of it. Other
packages add one by an entry point of `surefoot.formats`: such a module, or an object that has the same.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

from surefoot import _plugins

if TYPE_CHECKING:
    from surefoot.files.importers import About, Sheet
    from surefoot.files.recognising import Head


class Importer(Protocol):
    """What every module here offers."""

    ABOUT: About

    def recognises(self, head: Head) -> bool:
        """Whether the file is of this format."""

    def load(self, head: Head) -> Sheet:
        """The rows of the file."""


TEXTS = ("monitor", "lbm", "roboarena", "libero_logs", "robomimic", "fieldtrial", "droid")
MARKED = {
    "packed": ("parquet", "arrays", "stable_baselines", "inspect_logs", "study_logs"),
    "json": (
        *("lerobot", "inspect_robots", "inspect_logs", "promptfoo", "openai_evals", "swe_bench", "lm_eval"),
        *("lm_eval_results", "vla_eval", "diffusion_policy", "step_results", "tracked", "roboarena_server"),
        *("harbor", "tau_bench", "helm", "py_irt", "maniskill", "calvin", "robomimic", "study_logs"),
    ),
    "xml": ("junit", *TEXTS),
    "text": TEXTS,
}
"""Formats known by their own marks, by what their files begin with (`Head.kind`), in the order they are asked."""

TABLES = ("counts", "delimited", "matrix", "wide", "lines")
"""Formats that take any table; asked after all others."""

NAMES = tuple(dict.fromkeys((*itertools.chain(*MARKED.values()), *TABLES)))


def importers(kind: str | None = None) -> Iterator[Importer]:
    """All of them, or those that a file of this kind may be of, in the order they are asked; imported in their turn.

    Those of other packages are asked before any table.
    """
    yield from map(_own, NAMES[: -len(TABLES)] if kind is None else MARKED[kind])
    yield from _plugins.added("formats", _admitted).values()
    yield from map(_own, TABLES)


def importer_of(head: Head) -> Importer | None:
    """The importer that recognises a file; none when nobody does."""
    return next((importer for importer in importers(head.kind) if importer.recognises(head)), None)


@functools.cache
def _own(name: str) -> Importer:
    return cast(Importer, importlib.import_module(f"{__name__}.{name}"))


class _Added:
    """An importer of another package; one whose `recognises` fails recognises nothing from then on."""

    def __init__(self, name: str, importer: Importer) -> None:
        self.name, self.importer, self.ABOUT, self.load = name, importer, importer.ABOUT, importer.load

    def recognises(self, head: Head) -> bool:
        return bool(_plugins.used("formats", self.name, lambda: self.importer.recognises(head)))


def _admitted(name: str, importer: Any) -> Importer:
    from surefoot.files.importers import About

    if name in NAMES:
        raise ValueError(f"surefoot has a format {name} already")
    _plugins.lacking(importer, ("ABOUT", "recognises", "load"))
    if not isinstance(importer.ABOUT, About):
        raise TypeError(f"its ABOUT must be a surefoot.files.importers.About; it is {importer.ABOUT!r}")
    return _Added(name, importer)
