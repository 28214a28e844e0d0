"""Reports: an analysis as a page, a text, a table for a paper, or data."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from surefoot import _check
from surefoot._arguments import weights_once_weigh
from surefoot._files import write_whole
from surefoot.analysis.comparisons import Comparison
from surefoot.analysis.overview import Overview, overview
from surefoot.analysis.rankings import all_pairs
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.words import Words
from surefoot.reporting.rollout_pages import RolloutRow, gathered, rows_of_study, rows_of_table
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surefoot.analysis.comparison_data import Weights
    from surefoot.analysis.rankings import Progress
    from surefoot.study.clips import ClipFolder
    from surefoot.study.deviations import Deviation
    from surefoot.study.state import Fold
    from surefoot.study.status import Account
    from surefoot.study.studies import Study
    from surefoot.study.verification import Verification
    from surefoot.table.rollouts import Measure


FEW = 12
"""Policies of a study of which every two are also compared as if the number of rollouts had been fixed."""
BY_PLAN = ("incomplete pairs", "Simpson's paradox")
"""What an audit says of rounds that lack policies, where the declared rule had dropped them."""
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
        study: What the study says of itself, when the rollouts are a study's.
        rollouts: Every rollout of a study, or of a table that names clips.
        fixed_size: Of a study, every two policies as if the number of rollouts had been fixed beforehand: exploratory.
    """

    overview: Overview
    title: str
    command: str
    made: str
    versions: str
    deviations: tuple[Deviation, ...] = ()
    study: Account | None = None
    rollouts: tuple[RolloutRow, ...] = ()
    fixed_size: tuple[Comparison, ...] = ()

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.1.0 wrote deviations as sentences."""
        from surefoot.study.deviations import from_earlier

        return {**body, "deviations": from_earlier(body.get("deviations", ()))}

    @property
    def words(self) -> Words:
        """What the table calls policies, rollouts, tasks and environments."""
        return self.overview.words

    def html(self, *, scripts: bool = True, clips: Mapping[str, str] | None = None) -> str:
        """One self-contained page: no network, light and dark, phone to desktop, prints well.

        Args:
            scripts: Whether long tables can be searched and sorted; without, the page has no JavaScript at all.
            clips: The address of each clip of a rollout by its path, where the page has a folder of them beside it.
        """
        from surefoot.reporting.pages import page

        return page(self, scripts=scripts, clips=clips)

    def markdown(self) -> str:
        """The answer and its tables as Markdown."""
        from surefoot.reporting.text_formats import markdown

        return markdown(self)

    def methods(self) -> str:
        """Two sentences for the methods of a paper: the design, the rule and its error; then the rollouts."""
        from surefoot.reporting.text_formats import methods_paragraph

        return methods_paragraph(self)

    def latex(self) -> str:
        """The tables of policies and of gains, and the methods, for a paper."""
        from surefoot.reporting.text_formats import latex

        return latex(self)

    def data(self) -> dict[str, Any]:
        """The report as JSON-ready data; long lists of scores are left out."""
        lean: dict[str, Any] = _lean(self.to_dict())
        return lean

    def figures(self, *, width: float | None = None, style: str | None = None) -> dict[str, Figure]:
        """Every figure by name.

        Args:
            width: In inches; 3.4 for one column of a paper. As wide as a page when left out.
            style: A style of matplotlib; your own settings hold when left out.
        """
        from surefoot.reporting import style as look
        from surefoot.reporting.pages import figures
        from surefoot.reporting.study_pages import study_figures

        with look.sized(width, style=style):
            return figures(self.overview) | (study_figures(self.study) if self.study is not None else {})

    def save(self, path: str | Path, *, clips: bool = True) -> Path:
        """Write the report as .html, .pdf, .md, .tex or .json; a PDF is printed by the browser that is here.

        Args:
            path: The file. Clips of rollouts are copied into a folder beside a page: ``report.clips`` of
                ``report.html``.
            clips: Whether they are.

        Raises:
            ValueError: The name ends in something else.
        """
        target = Path(path)
        if clips and self.rollouts and target.suffix.lower() in (".html", ".htm"):
            return write_whole(target, self.html(clips=gathered(self.rollouts, target.with_suffix(".clips"))))
        return _save(self, path)

    def __str__(self) -> str:
        from surefoot.reporting.answers import overview_answer, overview_front
        from surefoot.reporting.study_pages import study_answers

        if self.study is not None and self.study.finding is not None:
            return " ".join(study_answers(self.study, self.study.finding))
        return " ".join((*overview_front(self.overview), *overview_answer(self.overview)))


@dataclass(frozen=True, slots=True)
class ProgressReport(Record):
    """What a blinded study may show: progress, whether to go on, and deviations; nothing of any policy.

    Attributes:
        study: What the study says of itself.
        made: When it was made (UTC).
    """

    study: Account
    made: str

    def html(self, *, scripts: bool = True) -> str:  # noqa: ARG002
        """One self-contained page; it has no scripts."""
        from surefoot.reporting.study_pages import progress_page

        return progress_page(self.study, self.made)

    def markdown(self) -> str:
        """The same as Markdown."""
        from surefoot.reporting.text_formats import progress_markdown

        return progress_markdown(self)

    def data(self) -> dict[str, Any]:
        """The same as JSON-ready data."""
        return self.to_dict()

    def save(self, path: str | Path) -> Path:
        """Write the report as .html, .md or .json.

        Raises:
            ValueError: The name ends in something else.
        """
        return _save(self, path)

    def __str__(self) -> str:
        from surefoot.reporting.study_pages import progress_lines

        return " ".join(progress_lines(self.study))


def _save(made: Report | ProgressReport, path: str | Path) -> Path:
    target = Path(path)
    writers = {".html": made.html, ".htm": made.html, ".md": made.markdown}
    if isinstance(made, Report):
        writers[".tex"] = made.latex
    suffix = target.suffix.lower()
    if suffix == ".json":
        text = formatting.json_text(made.data()) + "\n"
    elif suffix in writers:
        text = writers[suffix]()
    elif suffix == ".pdf":
        return write_whole(target, pdf(made.html()))
    else:
        known = ".html, .pdf, .md, .tex or .json" if ".tex" in writers else ".html, .pdf, .md or .json"
        raise _check.refused("path", f"end in {known}", target.name)
    return write_whole(target, text)


@overload
def report(
    rollouts: Rollouts,
    *,
    title: str = ...,
    measure: Measure | None = ...,
    weights: Weights = ...,
    confidence: float = ...,
    margin: float = ...,
    previous: Rollouts | None = ...,
    command: str = ...,
    progress: Progress | None = ...,
) -> Report: ...
@overload
def report(rollouts: Study, *, title: str = ..., command: str = ...) -> Report | ProgressReport: ...
@weights_once_weigh
def report(
    rollouts: Rollouts | Study,
    *,
    title: str = "",
    measure: Measure | None = None,
    weights: Weights = "units",
    confidence: float = 0.95,
    margin: float = 0.0,
    previous: Rollouts | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Report | ProgressReport:
    """What do these rollouts support, on one page?

    Of a study, its own verdict by the rule it declared comes first, with every deviation; while it is blinded, only its
    progress is told. Its plan fixes measure, confidence and margin.

    Args:
        rollouts: The table, or a study.
        title: What the page is called; the data's name when not given.
        measure: "success" or "score" decides; success where the table has it.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        confidence: The confidence of every family of statements.
        margin: A gain that would not matter.
        previous: A previous run of the same policies, to show what changed since.
        command: The command that makes the page again, as shown on it.
        progress: Called with pairs done and pairs in all, for a progress bar.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 10, "success": [1] * 8 + [0] * 2}))
        >>> print(sf.report(rollouts))
        new succeeds in 80.0% [49.0%, 94.4%] of rollouts (n=10, 95% confidence).
    """
    if not isinstance(rollouts, Rollouts):
        from surefoot.study.studies import Study
        from surefoot.study.verification import verify

        if isinstance(rollouts, Study):
            rollouts.refresh()
            checked = verify(rollouts.store, clips=False)
            return study_report(rollouts.fold, checked, title=title, command=command, clips=rollouts.clips)
    found = overview(
        rollouts,
        measure_of=measure,
        weights=weights,
        confidence=confidence,
        margin=margin,
        previous=previous,
        progress=progress,
    )
    return Report(
        overview=found,
        title=title or found.source or "Rollouts",
        command=command or _command(found),
        made=_now(),
        versions=_versions(),
        rollouts=rows_of_table(rollouts, found.measure),
    )


def study_report(
    fold: Fold, verification: Verification, *, title: str = "", command: str = "", clips: ClipFolder | None = None
) -> Report | ProgressReport:
    """What does a study amount to? Its declared rule's word, its deviations, and then what its rollouts look like.

    Args:
        fold: What its log amounts to.
        verification: What checking the log found.
        title: What the page is called; the plan's title when not given.
        command: The command that makes the page again, as shown on it.
        clips: Where the clips of its rollouts are kept.

    Raises:
        StudyError: Nothing was recorded yet.
    """
    from surefoot.study.decision import RankingDecision
    from surefoot.study.result_table import rollouts_of, slices_at_stop
    from surefoot.study.status import account

    told = account(fold, verification)
    if told.blinded:
        return ProgressReport(told, _now())
    plan = fold.plan
    table = rollouts_of(fold)
    level: dict[str, Any] = {"confidence": plan.confidence, "margin": plan.margin}
    # No verdict but the declared rule's: comparisons of a fixed size have no place beside it.
    found = overview(table, measure_of=plan.measure, compared=False, **level)
    found = replace(found, slices=slices_at_stop(fold))
    if isinstance(fold.decision, RankingDecision):  # its rule drops policies, so rounds lack them by plan
        kept = tuple(one for one in found.audit.findings if one.about not in BY_PLAN)
        found = replace(found, audit=replace(found.audit, findings=kept))
    counted = [one.policy for one in found.policies if one.of(plan.measure) is not None]
    fixed = all_pairs(table, measure=plan.measure, **level) if 1 < len(counted) <= FEW else ()
    made = command or "surefoot.report(study).save('report.html')"
    return Report(
        found, title or plan.title, made, _now(), _versions(), told.deviations, told, rows_of_study(fold, clips), fixed
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _command(found: Overview) -> str:
    if not found.source or ", " in found.source:  # several files: which, only whoever read them knows
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
        if value.get("type") == "Report" and len(value["rollouts"]) > KEPT:
            value = {**value, "rollouts": []}
        if value.get("type") == "Band" and len(value["points"]) > KEPT:
            value = {**value, "points": [], "uppers": [], "lowers": []}
        return {key: _lean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_lean(item) for item in value]
    return value


BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
SECONDS = 120.0
FLAGS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"),
    *("--disable-component-update", "--disable-sync", "--no-pdf-header-footer"),
)


def pdf(page: str) -> bytes:
    """A page as PDF; every section is there, also those that are closed on the screen."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise ValueError(
            "A PDF must be printed by a browser, and none is here: install Chromium or Chrome, or write .html and "
            "print it."
        )
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder:
        source, target = Path(folder) / "report.html", Path(folder) / "report.pdf"
        write_whole(source, page)
        alone = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()  # root has no other way
        asked = [browser, *FLAGS, *alone, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        try:
            subprocess.run([*asked, source.as_uri()], capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"The browser must print within {SECONDS:.0f} seconds; it did not.") from None
        if not target.exists():
            raise ValueError(f"{Path(browser).name} must be able to print; it wrote nothing. Write .html and print it.")
        return target.read_bytes()
