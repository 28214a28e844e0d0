"""How does an analysis become a page, a text, a table for a paper, or data?"""

from __future__ import annotations

import json
import platform
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.analysis.overviews import Overview, overview
from surefoot.core.record import Record
from surefoot.rollouts.table import Rollouts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surefoot.analysis.measures import Measure
    from surefoot.analysis.rankings import Progress

KEPT = 1_000
"""Scores beyond this many are left out of the JSON: the data's hash stands for them."""


@dataclass(frozen=True, slots=True)
class Report(Record):
    """Everything one table supports, ready to be written.

    Attributes:
        overview: The results.
        title: What the page is called.
        command: What makes it again.
        made: When it was made (UTC).
        versions: What made it.
        deviations: How a study departed from its plan.
    """

    overview: Overview
    title: str
    command: str
    made: str
    versions: str
    deviations: tuple[str, ...] = ()

    def html(self) -> str:
        """One self-contained page: no network, no JavaScript, light and dark, phone to desktop, prints well."""
        from surefoot.reporting.pages import page

        return page(self)

    def markdown(self) -> str:
        """The answer and its tables as Markdown."""
        from surefoot.reporting.texts import markdown

        return markdown(self)

    def latex(self) -> str:
        """The table of policies for a paper."""
        from surefoot.reporting.texts import latex

        return latex(self)

    def data(self) -> dict[str, Any]:
        """The report as JSON-ready data; long lists of scores are left out."""
        lean: dict[str, Any] = _lean(self.to_dict())
        return lean

    def figures(self) -> dict[str, Figure]:
        """Every figure by name."""
        from surefoot.reporting.pages import figures

        return figures(self.overview)

    def save(self, path: str | Path) -> Path:
        """Write the report as .html, .md, .tex or .json.

        Raises:
            ValueError: The name ends in something else.
        """
        target = Path(path)
        writers = {".html": self.html, ".htm": self.html, ".md": self.markdown, ".tex": self.latex}
        suffix = target.suffix.lower()
        if suffix == ".json":
            text = json.dumps(self.data(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        elif suffix in writers:
            text = writers[suffix]()
        else:
            raise ValueError(f"`path` must end in .html, .md, .tex or .json; got {target.name!r}.")
        target.write_text(text, encoding="utf-8")
        return target

    def __str__(self) -> str:
        from surefoot.reporting.answers import overview_answer

        return " ".join(overview_answer(self.overview))


def report(
    rollouts: Rollouts,
    *,
    title: str = "",
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
    command: str = "",
    progress: Progress | None = None,
) -> Report:
    """What do these rollouts support, on one page?

    Args:
        rollouts: The table.
        title: What the page is called; the data's name when not given.
        measure: "success" or "score" decides; success where the table has it.
        confidence: The confidence of every family of statements.
        margin: A gain that would not matter.
        command: The command that makes the page again, as shown on it.
        progress: Called with pairs done and pairs in all, for a progress bar.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 10, "success": [1] * 8 + [0] * 2}))
        >>> print(sf.report(rollouts))
        new succeeds in 80.0% [49.0%, 94.4%] of rollouts on average (n=10, 95% confidence).
    """
    found = overview(rollouts, measure_of=measure, confidence=confidence, margin=margin, progress=progress)
    return Report(
        overview=found,
        title=title or found.source or "Rollouts",
        command=command or _command(found),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=_versions(),
    )


def _command(found: Overview) -> str:
    if not found.source:
        return "surefoot.report(rollouts).save('report.html')"
    extra = [] if found.confidence == 0.95 else ["--confidence", f"{found.confidence:g}"]
    extra += [] if found.margin == 0.0 else ["--margin", f"{found.margin:g}"]
    return shlex.join(["surefoot", "report", found.source, *extra, "-o", "report.html"])


def _versions() -> str:
    import numpy as np
    import scipy

    return f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}."


def _lean(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("type") == "Scores" and len(value["values"]) > KEPT:
            return {**value, "values": [], "count": len(value["values"])}
        if value.get("type") == "Band" and len(value["points"]) > KEPT:
            value = {**value, "points": [], "uppers": [], "lowers": []}
        return {key: _lean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_lean(item) for item in value]
    return value
