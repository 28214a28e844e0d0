"""What does a report look like as one page?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from surefoot import __version__
from surefoot.analysis.overviews import Overview
from surefoot.core import words
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.reporting import answers, study_pages, style
from surefoot.reporting.bandplots import band_figure
from surefoot.reporting.figures import (
    MOST_ROWS,
    forest_figure,
    heat_figure,
    intervals_figure,
    scores_figure,
    tile_colours,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

    from surefoot.analysis.comparisons import Comparison
    from surefoot.reporting.reports import Report

MOST_BANDS = 4
MOST_COLUMNS = 6
"""With more columns there is no room for a bar beside them."""


def page(report: Report) -> str:
    """The page as HTML."""
    found = report.overview
    kind, text = answers.chip(found)
    chip = {"kind": kind, "text": text} if text else None
    said, notes, sections = list(answers.overview_answer(found)), _table_notes(found), _sections(found)
    study = report.study
    if study is not None and study.finding is not None:
        chip, said = study_pages.chip(study, study.finding), study_pages.study_answers(study, study.finding)
        notes, sections = [study_pages.NOT_THE_VERDICT, *notes], [study_pages.study_section(study), *sections]
    findings = found.audit.findings
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=report.title,
            facts=facts(found),
            chip=chip,
            answers=said,
            deviations=report.deviations,
            serious=[one for one in findings if one.serious],
            mild=[one for one in findings if not one.serious],
            caption=f"Ends rounded outward; {words.percent(found.confidence)} confidence.",
            columns=columns(found),
            rows=[_row(found, place) for place in range(len(found.policies))],
            table_notes=notes,
            sections=sections,
            methods=methods(found),
            assumptions=assumptions(found),
            reading=found.notes,
            command=report.command,
            made=report.made,
            version=__version__,
            fingerprint=found.fingerprint,
            versions=report.versions,
        )
    )


def figures(found: Overview) -> dict[str, Figure]:
    """Every figure that the data give, by name."""
    made = {"policies": intervals_figure(found.policies, found.measure, letters(found))}
    if found.comparisons and len(found.comparisons) <= MOST_ROWS:
        labels = [f"{one.first} v {one.second}" for one in found.comparisons]
        made["gains"] = forest_figure(found.comparisons, labels, _gain_axis(found))
    if found.tasks and len(found.tasks) <= MOST_ROWS:
        title = f"{_gain_axis(found)}: {found.tasks[0].first} v {found.tasks[0].second}"
        made["tasks"] = forest_figure(found.tasks, [one.task or "" for one in found.tasks], title)
    if found.cells:
        made["heat"] = heat_figure(found.cells, found.measure)
    if found.bands:
        values = [(name, band.scores.values) for name, band in zip(_scored(found), found.bands, strict=True)]
        ends = found.bands[0].scores
        made["scores"] = scores_figure(values, letters(found) if found.measure == "score" else (), ends.low, ends.high)
        for name, band in list(zip(_scored(found), found.bands, strict=True))[:MOST_BANDS]:
            made[f"band {name}"] = band_figure(band, what=f"score of {name}")
    return made


def facts(found: Overview) -> str:
    """Where the data came from, in a line."""
    tasks = len({one.task for one in found.cells})
    parts = [
        found.source,
        words.rollouts(found.rollouts),
        f"{len(found.policies):,} policies" if len(found.policies) > 1 else "",
    ]
    parts.append(f"{tasks:,} tasks" if tasks else "")
    return " · ".join(part for part in parts if part)


def columns(found: Overview) -> list[str]:
    """The table's columns after the policy's name."""
    names = []
    if any(one.success for one in found.policies):
        names += ["success rate", "interval", "k/n"]
    if any(one.score for one in found.policies):
        names += ["mean score", "interval", "n"]
    if found.ranking is not None:
        names += ["rank", "letters"] if found.ranking.letters.readable else ["rank"]
    return names


def cells(found: Overview, place: int) -> list[tuple[str, str]]:
    """One policy's row as (kind, text)."""
    one = found.policies[place]
    row: list[tuple[str, str]] = []
    for interval, wanted in (
        (one.success, any(p.success for p in found.policies)),
        (one.score, any(p.score for p in found.policies)),
    ):
        if wanted:
            row += _number_cells(interval)
    if found.ranking is not None:
        at = found.ranking.names.index(one.policy)
        best, worst = found.ranking.ranks[at]
        row.append(("num", f"{best}" if best == worst else f"{best} to {worst}"))
        if found.ranking.letters.readable:
            row.append(("letter", found.ranking.letters.letters[at]))
    return row


def letters(found: Overview) -> tuple[str, ...]:
    """Each policy's letters, in the order of the policies; none when they would not be readable."""
    if found.ranking is None or not found.ranking.letters.readable:
        return ()
    named = dict(zip(found.ranking.names, found.ranking.letters.letters, strict=True))
    return tuple(named[one.policy] for one in found.policies)


def methods(found: Overview) -> list[str]:
    """Which methods were used, and why."""
    shown = [one.of(found.measure) for one in found.policies]
    used = {f"{interval.method} interval for each policy" for interval in shown if interval is not None}
    why = dict.fromkeys(f"{one.first} v {one.second}: {one.why}" for one in found.comparisons[:20])
    bands = {
        f"{band.method} band on the whole distribution of scores, {band.confidence:.3%} each" for band in found.bands
    }
    return [f"{line}." for line in sorted(used)] + list(why) + [f"{line}." for line in sorted(bands)]


def assumptions(found: Overview) -> list[str]:
    """All that must hold, each once."""
    said: dict[str, None] = {}
    for one in found.policies:
        for interval in (one.success, one.score):
            said |= dict.fromkeys(interval.assumptions if interval else ())
    for comparison in found.comparisons:
        said |= dict.fromkeys(comparison.gain.assumptions)
    for band in found.bands:
        said |= dict.fromkeys(band.assumptions)
    return list(said)


@cache
def environment() -> Environment:
    """Where the pages' templates are, every string escaped."""
    from jinja2 import Environment, PackageLoader

    return Environment(
        loader=PackageLoader("surefoot.reporting"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )


def _number_cells(interval: Interval | None) -> list[tuple[str, str]]:
    if interval is None:
        return [("num", "")] * 3
    data = interval.data[0] if interval.data else None
    size = f"{data.successes:,}/{data.trials:,}" if isinstance(data, Tally) else f"{interval.trials:,}"
    ends = words.span(interval.low, interval.high, interval.scale)
    return [("num", words.number(interval.estimate, interval.scale)), ("num", ends), ("num", size)]


def _row(found: Overview, place: int) -> dict[str, Any]:
    one = found.policies[place]
    shown = one.of(found.measure)
    low, high = 0.0, 1.0
    if shown is not None and shown.data and isinstance(shown.data[0], Scores) and found.measure == "score":
        low, high = shown.data[0].low, shown.data[0].high
    bar = None
    if shown is not None and len(columns(found)) <= MOST_COLUMNS:
        ends = {"low": shown.low, "high": shown.high, "at": shown.estimate}
        bar = {name: f"{200 * (value - low) / (high - low):.2f}" for name, value in ends.items()}
    row = [{"kind": kind, "text": text} for kind, text in cells(found, place)]
    return {"policy": one.policy, "cells": row, "bar": bar}


def _table_notes(found: Overview) -> list[str]:
    notes = []
    if found.ranking is not None:
        if found.ranking.letters.readable:
            notes.append("Two policies share a letter exactly when they cannot be told apart.")
        else:
            notes += found.ranking.letters.notes
    voided = sum(one.void for one in found.policies)
    if voided:
        notes.append(f"{words.rollouts(voided)} declared void and not counted.")
    return notes


def _sections(found: Overview) -> list[dict[str, Any]]:
    drawn = figures(found)
    sections: list[dict[str, Any]] = []
    if found.comparisons:
        sections.append(
            {
                "title": "Which is better" if len(found.comparisons) > 1 else "The gain",
                "figures": [
                    shown_figure(drawn, "gains", "Gain, first minus second. What touches zero is not decided.")
                ],
                "table": {
                    "summary": "Every comparison",
                    "header": ["first", "second", "gain", "interval", "p-value", "verdict"],
                    "rows": [comparison_row(one) for one in found.comparisons],
                },
            }
        )
    if found.tasks:
        pair = f"{found.tasks[0].first} against {found.tasks[0].second}"
        sections.append(
            {
                "title": "Task by task",
                "lines": [
                    f"{pair}, all {len(found.tasks):,} tasks holding together at {words.percent(found.confidence)}."
                ],
                "figures": [shown_figure(drawn, "tasks", "Gain on each task. What touches zero is not decided.")],
                "heat": _heat(found),
            }
        )
    elif found.cells:
        sections.append({"title": "Task by task", "heat": _heat(found)})
    if found.bands:
        bands = [shown_figure(drawn, name, "") for name in drawn if name.startswith("band ")]
        sections.append(
            {
                "title": "The whole distribution of scores",
                "figures": [shown_figure(drawn, "scores", "Each dot is a rollout."), *bands],
            }
        )
    for section in sections:
        section["figures"] = [figure for figure in section.get("figures", []) if figure]
    return sections


def shown_figure(drawn: dict[str, Figure], name: str, caption: str, prefix: str = "figure") -> dict[str, Any] | None:
    """A figure as the page shows it; none if it was not drawn."""
    from markupsafe import Markup

    if name not in drawn:
        return None
    place = f"{prefix}{list(drawn).index(name)}"
    return {"svg": Markup(style.inline_svg(drawn[name], place, caption or name)), "caption": caption}


def comparison_row(one: Comparison) -> list[str]:
    """One comparison as the cells of a table."""
    scale = one.interval.scale
    return [
        one.first,
        one.second,
        words.number(one.interval.estimate, scale) + words.unit(scale),
        words.span(one.interval.low, one.interval.high, scale),
        "" if one.p_value is None else words.p_value(one.p_value).removeprefix("p = ").removeprefix("p "),
        answers.SHORT[one.verdict],
    ]


def _heat(found: Overview) -> dict[str, Any]:
    policies = [one.policy for one in found.policies]
    tasks = list(dict.fromkeys(one.task or "" for one in found.cells))
    known = {(one.task or "", one.policy): one.of(found.measure) for one in found.cells}
    rows = [{"task": task, "cells": [_heat_cell(known.get((task, name))) for name in policies]} for task in tasks]
    what = "Success rate" if found.measure == "success" else "Mean score"
    return {"caption": f"{what} by task, with its interval and n.", "policies": policies, "rows": rows}


def _heat_cell(one: Interval | None) -> dict[str, str] | None:
    if one is None:
        return None
    paper, ink = tile_colours(one)
    return {
        "paper": paper,
        "ink": ink,
        "text": words.number(one.estimate, one.scale),
        "size": f"{words.span(one.low, one.high, one.scale)} n={one.trials:,}",
    }


def _gain_axis(found: Overview) -> str:
    what = "gain in points" if found.measure == "success" else "gain in score"
    return f"{what} ({words.percent(found.confidence)} intervals)"


def _scored(found: Overview) -> list[str]:
    return [one.policy for one in found.policies if one.score is not None]
