"""The files people have: one importer per format, each independent of the others.

An importer is a module with `recognises(head)`, which looks at the beginning of a file and never at its name, with
`load(head)`, which gives its rows as a `Sheet` or raises `DataError`, and with `ABOUT`, which tells users of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

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


NAMES = (
    *("parquet", "arrays", "stable_baselines", "monitor", "lerobot", "inspect_robots", "inspect_logs", "promptfoo"),
    *("openai_evals", "swe_bench", "junit", "lm_eval", "lm_eval_results", "vla_eval", "diffusion_policy"),
    *("step_results", "tracked", "lbm", "roboarena", "roboarena_server", "libero_logs", "fieldtrial", "droid"),
    *("counts", "delimited", "matrix", "wide", "lines"),
)
"""In the order they are asked: those that know a format by its own marks before those that take any table."""


def importers() -> Iterator[Importer]:
    """All of them, in the order they are asked; each is imported when its turn comes."""
    for name in NAMES:
        yield cast(Importer, importlib.import_module(f"{__name__}.{name}"))


def importer_of(head: Head) -> Importer | None:
    """The importer that recognises a file; none when nobody does."""
    return next((importer for importer in importers() if importer.recognises(head)), None)
