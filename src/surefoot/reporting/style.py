"""The style of all figures: in print, on dark screens, for colour-blind readers.

Text and axes are drawn in one ink colour; on a page that ink becomes the page's own text colour.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot._files import whole_file
from surefoot.core.formatting import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1a1d21"
FAINT = "#8a8f98"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6A00")
"""Okabe and Ito's colours, in an order whose neighbours differ in lightness too."""
GOOD, BAD, UNSURE = "#0072B2", "#D55E00", FAINT
PAGE_COLOURS = {GOOD: "good", BAD: "bad"}
"""Colours that a page replaces by its own, lighter ones when it is dark."""

NARROW = 5.0
"""In a figure less wide than this, in inches, names stand above the bars and numbers under them."""
PAGE = 4.0
"""The width of a figure of a page: its letters can be read on a phone."""
LARGER = 1.25
"""A narrow figure is shown up to so many times as large as it was drawn."""
GOLDEN = 0.618
"""A figure for a paper is at most so much of its width high."""
LEAST = 4.8
"""Points of the smallest letters of a figure for a paper; rows that need smaller ones are not drawn."""
DOTS = 300
OVER_GRID = "_over_grid"
"""The label of a text that stands on the grid's lines; the stroke keeps it out of legends."""

FIXED: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar sign in a policy's name is a dollar sign
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
    "ps.fonttype": 42,
}
"""What a figure needs whatever its look."""

RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


_width: ContextVar[float | None] = ContextVar("width", default=None)
_style: ContextVar[str | None] = ContextVar("style", default=None)
_page: ContextVar[bool] = ContextVar("page", default=False)


@contextmanager
def sized(width: float | None = None, *, style: str | None = None, page: bool = False) -> Iterator[None]:
    """Draw figures this wide, in inches, and in this style of matplotlib; for a page as high as needed."""
    if width is not None and not 2.0 <= width <= 20.0:
        raise _check.wrong("width", f"be between 2 and 20 inches; got {width:g}.", width)
    if style is not None:
        from matplotlib.style import available

        if style not in (*available, "default"):
            raise _check.refused("style", f"be one of matplotlib's styles, such as {available[0]!r}", style)
    before = _width.set(width), _style.set(style), _page.set(page)
    try:
        yield
    finally:
        _width.reset(before[0])
        _style.reset(before[1])
        _page.reset(before[2])


def narrow() -> bool:
    """Whether figures are drawn for one column."""
    return (_width.get() or NARROW) < NARROW


def stacked() -> bool:
    """Whether names stand above the bars and numbers under them: on a phone, whose page scrolls."""
    return narrow() and _page.get()


def row_height(rows: int) -> float:
    """Inches for each of so many rows."""
    if _page.get():
        return 0.56
    return min(0.37, (GOLDEN * (_width.get() or 7.0) - (0.5 if narrow() else 0.7)) / max(1, rows))


def letters(usual: float, rows: int = 1) -> float:
    """Points of letters that are usually so large: smaller in one column of a paper, and where many rows are drawn."""
    if _page.get():
        return usual
    return min(usual * (0.75 if narrow() else 1.0), 72.0 * row_height(rows) * 0.78)


def fits(rows: int) -> bool:
    """Whether so many rows can be drawn in letters that can be read."""
    return letters(9.0, rows) >= LEAST


def wrapped(text: str, most: int = 46) -> str:
    """A sentence beside a figure, in lines that fit into one column where it is that wide."""
    return "\n".join(textwrap.wrap(text.replace("\n", " "), most)) if narrow() else text


def canvas(width: float, height: float, *, golden: bool = True) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes, in inches; `sized` may ask for another width. Use it inside `drawing`.

    For a paper it is at most as high as the golden ratio allows, unless it is one that needs more.
    """
    from matplotlib.figure import Figure

    wide = _width.get() or width
    high = height if _page.get() or not golden else min(height, GOLDEN * wide)
    figure = Figure(figsize=(wide, high), layout="constrained")
    return figure, figure.add_subplot()


@contextmanager
def drawing() -> Iterator[None]:
    """The settings every figure is drawn with: ours, but for what the reader's own settings or the style say."""
    import matplotlib as mpl

    style = _style.get()
    if style is None:
        theirs = {key for key in RC if mpl.rcParams[key] != mpl.rcParamsDefault[key]}
        ours = {**RC, "font.size": letters(RC["font.size"])}
        with mpl.rc_context({**{key: value for key, value in ours.items() if key not in theirs}, **FIXED}):
            yield
        return
    from matplotlib.style import context

    with context(style), mpl.rc_context(FIXED):
        yield


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an SVG element to put into a page: named, described, and in the page's own ink."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with _quietly(), mpl.rc_context({**FIXED, "svg.hashsalt": name}):
        _place(figure)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = visible(buffer.getvalue())
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = text.replace(INK, "currentColor").replace("#000000", "currentColor")
    for colour, variable in PAGE_COLOURS.items():
        text = re.sub(rf"(stroke|fill): {colour}", rf"\1: var(--{variable}, {colour})", text, flags=re.IGNORECASE)
    width = re.search(r'width="([\d.]+)pt"', text)
    text = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", text, count=1)
    larger = LARGER if figure.get_figwidth() < NARROW else 1.0
    most = f"{float(width.group(1)) * 4 / 3 * larger:.0f}" if width else "700"
    label = f'<svg role="img" aria-label="{escape(visible(description))}" style="max-width:{most}px"'
    return text.replace("<svg", label, 1)


def _place(figure: Figure) -> None:
    """Place the figure's parts now: to place them itself, matplotlib would draw all of them once more, for nothing."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)  # letters are measured as SVG draws them
    alone = figure.axes[0] if len(figure.axes) == 1 else None
    if alone is not None and any(text.get_label() == OVER_GRID for text in alone.texts):
        wide, high = figure.get_size_inches()  # all words but those of the x axis stand inside: nothing to measure
        below = 0.32 + 0.17 * (alone.get_xlabel().count("\n") + 1)
        figure.set_layout_engine(None)
        figure.subplots_adjust(left=0.14 / wide, right=1.0 - 0.24 / wide, bottom=below / high, top=1.0 - 0.05 / high)
    elif (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def save(figure: Figure, path: str | Path) -> Path:
    """Write the figure as .svg, .png or .pdf, by the ending of its name, the same bytes every time."""
    import matplotlib as mpl

    target = Path(path)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
    kind = target.suffix.lower()
    if kind not in dates:
        raise _check.refused("path", "end in .svg, .png or .pdf", target.name)
    look = mpl.rc_context({**FIXED, "svg.hashsalt": "surefoot"})
    _clear_behind_words(figure)
    with _quietly(), look, whole_file(target) as file:
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind[1:], dpi=DOTS, metadata=dates[kind])
        file.write(visible(drawn.getvalue().decode()).encode() if kind == ".svg" else drawn.getvalue())
    return target


def _clear_behind_words(figure: Figure) -> None:
    """Names and numbers over a grid hide it, in a file; in a page the page's own style does that."""
    for axes in figure.axes:
        for text in axes.texts:
            if text.get_label() == OVER_GRID:
                text.set_bbox({"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 0.4})


@contextmanager
def _quietly() -> Iterator[None]:
    """A name in a script that the font lacks is the reader's font's business: an SVG keeps it as text."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        yield
