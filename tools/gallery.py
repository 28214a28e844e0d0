"""Draw the pictures of docs/gallery.md by the very lines that the page shows: `python tools/gallery.py`.

The build of the docs calls it; the pictures go to docs/generated/gallery and are not committed, so they cannot lag.
"""

from __future__ import annotations

import contextlib
import doctest
import re
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes

from surefoot.reporting import style

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "generated" / "gallery"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOK = {**style.FIXED, "svg.hashsalt": "gallery", "backend": "agg"}
"""Text stays text, and the same lines give the same file."""


def drawn(page: str, folder: Path) -> None:
    """Run the blocks of a page in this folder, one after the other.

    Raises:
        RuntimeError: A block fails, or prints what the page does not show.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.chdir(folder), mpl.rc_context(LOOK):
        for body in BLOCK.findall(page):
            example, said = doctest.DocTestParser().get_doctest(body, names, PAGE.name, None, None), list[str]()
            example.globs = names  # a copy by default: the blocks of a page share theirs
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append, clear_globs=False)
            if said:
                raise RuntimeError("".join(said))


def cards(folder: Path) -> None:
    """The small pictures on the cards of the first page: the same figures, drawn for the width of a card."""
    from matplotlib.figure import Figure

    import surefoot as sf
    from surefoot.reporting import figures

    def card(name: str, draw: Callable[[Axes], None]) -> None:
        with style.sized(2.6), style.drawing(), mpl.rc_context(LOOK):
            figure = Figure(figsize=(2.6, 1.8), layout="constrained")
            axes = figure.add_subplot()
            draw(axes)
            axes.set(xlabel="", ylabel="")
            figure.savefig(folder / f"card-{name}.svg")

    rates = {"new": sf.stats.wilson(sf.Tally(47, 50)), "old": sf.stats.wilson(sf.Tally(38, 50))}
    rows: list[figures.Row] = [(name, one, f"{one.estimate:.0%}") for name, one in rates.items()]
    card("measure", lambda axes: figures.draw_intervals(axes, rows, ""))
    found = [sf.stats.exact_gain(sf.Tally(17, 20), sf.Tally(other, 20)) for other in (8, 14)]
    gains = [(name, one.interval, one.verdict) for name, one in zip(("pour", "fold"), found, strict=True)]
    card("compare", lambda axes: figures.draw_gains(axes, gains, ""))
    places = [sf.stats.wilson(sf.Tally(count, 50)) for count in (47, 44, 12)]
    ranked: list[figures.Row] = list(zip(("pi-1", "pi-2", "act"), places, ("a", "a", "b"), strict=True))
    card("rank", lambda axes: figures.draw_intervals(axes, ranked, ""))


def main() -> None:
    """All of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    drawn(PAGE.read_text(encoding="utf-8"), FOLDER)
    cards(FOLDER)


if __name__ == "__main__":
    main()
