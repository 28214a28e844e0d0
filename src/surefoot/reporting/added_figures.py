"""Figures that other packages draw from what a table supports, on the page and among a report's figures.

A package adds one by an entry point of `surefoot.figures`: a function from an `Overview` to a matplotlib figure, or to
None where there is nothing to draw. Its docstring's first line is the caption.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from surefoot import _plugins
from surefoot.analysis.overview import Overview

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWN = frozenset(
    [
        "policies",
        "heat",
        "gains",
        "tasks",
        "evidence",
        "scores",
        "failures",
        "times",
        "thirds",
        "ranking",
        "sequence",
    ]  # of a study
)
"""The names of surefoot's own figures, beside "band" and a policy's name."""


def draw_added(found: Overview) -> dict[str, Figure]:
    """The figures of other packages, by name; one that fails is left out."""
    made = {name: _plugins.used("figures", name, partial(_drawn, draw, found)) for name, draw in _all().items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def figure_names() -> tuple[str, ...]:
    """The names of the figures that other packages draw."""
    return tuple(_all())


def captions() -> dict[str, str]:
    """What stands under each figure of other packages, by name."""
    return {name: (draw.__doc__ or name).strip().partition("\n")[0] for name, draw in _all().items()}


def _all() -> dict[str, Callable[[Overview], Any]]:
    return dict(_plugins.added("figures", _admitted))


def _admitted(name: str, draw: Any) -> Callable[[Overview], Any]:
    if name in OWN or name.startswith("band "):
        raise ValueError(f"surefoot has a figure {name!r} already")
    return _plugins.callable_only(name, draw)


def _drawn(draw: Callable[[Overview], Any], found: Overview) -> Figure | None:
    from matplotlib.figure import Figure as Drawing

    figure = draw(found)
    if figure is not None and not isinstance(figure, Drawing):
        raise TypeError(f"it must give a matplotlib figure or None; it gave {type(figure).__name__}")
    return figure
