"""A report as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from surefoot import __version__
from surefoot.analysis.overview import Overview
from surefoot.core import formatting, sentences
from surefoot.core.assumptions import SIZE_FIXED, Assumed, conditions, promises
from surefoot.core.words import worded
from surefoot.reporting import answers, style, tables
from surefoot.reporting.curve_figures import band_figure, curves_figure
from surefoot.reporting.figures import (
    MOST_ROWS,
    captions,
    draw_added,
    forest_figure,
    heat_figure,
    intervals_figure,
    scores_figure,
)
from surefoot.reporting.page_sections import best_figure, best_section, caption, slice_sections
from surefoot.reporting.rollout_pages import RolloutLinks, rollouts_section
from surefoot.reporting.text_formats import methods_paragraph

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from surefoot.reporting.reports import Report
    from surefoot.study.status import Account

MOST_BANDS = 4
MOST_SCARCE = 12
"""More conditions than this that were met a few times each have no table."""
MOST_LISTED = 3_000
"""A browser is slow with more rows of comparisons than this."""
LONG = 8
"""Tables of so many rows can be searched and sorted."""
FEW = 3


def page(report: Report, *, scripts: bool, clips: Mapping[str, str] | None = None) -> str:
    """The page as HTML."""
    links, found = RolloutLinks(report.rollouts, scripts=scripts), report.overview
    chip = answers.chip(found)
    said, notes, sections = list(answers.overview_answer(found)), tables.notes(found), _sections(found, links)
    study = report.study
    used, needs = methods(found), assumptions(found)
    if study is None:
        needs = [str(worded(SIZE_FIXED, found.words)), *needs]
    elif study.finding is not None:
        from surefoot.reporting import study_pages

        used, needs = [*map(str, study.finding.methods), *used], [*map(str, study.finding.assumptions), *needs]
        chip, said = study_pages.chip(study, study.finding), study_pages.study_answers(study, study.finding)
        notes = [study_pages.NOT_THE_VERDICT, *(one for one in notes if one != sentences.rows_hold(found.confidence))]
        sections = [*study_pages.study_sections(study, links), *sections]
        sections += study_pages.fixed_size_sections(report.fixed_size)
    used = [f"For a paper: {methods_paragraph(report)}", *used]
    findings = found.audit.findings
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=report.title,
            words=found.words,
            long=LONG if scripts and (_long(found, sections) or len(report.rollouts) >= LONG) else 0,
            facts=tables.facts(found),
            chip=chip,
            front=[] if study is not None else answers.overview_front(found),
            answers=said,
            about="" if study is not None else answers.about(found),
            roles=tables.roles(found),
            deviations=report.deviations,
            serious=[one for one in findings if one.serious],
            mild=[one for one in findings if not one.serious],
            caption=_caption(found, study),
            columns=tables.columns(found),
            rows=_policy_rows(found, links),
            rollouts=rollouts_section(report, links, clips),
            scripts=scripts,
            table_notes=notes,
            sections=sections,
            methods=used,
            assumptions=list(dict.fromkeys(needs)),
            reading=found.notes,
            command=report.command,
            made=report.made,
            version=__version__,
            fingerprint=found.fingerprint,
            versions=report.versions,
        )
    )


def _caption(found: Overview, study: Account | None) -> str:
    """What the intervals of the first table are; those of a study do not hold for it, which chose its sizes."""
    together = " for all rows together" if len(found.policies) > 1 else ""
    had = "" if study is None or study.finding is None else ", had their number been fixed beforehand"
    return f"Ends rounded outward; {formatting.percent(found.confidence)} confidence{together}{had}."


def _policy_rows(found: Overview, links: RolloutLinks) -> list[dict[str, Any]]:
    rows, names = [tables.row(found, place) for place in range(len(found.policies))], tables.columns(found)[1:]
    for row in rows:
        for name, cell in zip(names, row["cells"], strict=True):
            cell["links"] = links.of_policy(name, cell["text"], row["policy"])
    return rows


def figures(found: Overview) -> dict[str, Figure]:
    """Every figure that the data give, by name."""
    made = {"policies": intervals_figure(found.policies, found.measure, tables.letters(found))}
    if found.cells:
        made["heat"] = heat_figure(found.cells, found.measure, [one.policy for one in found.policies])
    return made | page_figures(found)


def page_figures(found: Overview) -> dict[str, Figure]:
    """The figures that a page shows; it has tables for the others."""
    made: dict[str, Figure] = {}
    if found.best is not None:
        made["best"] = best_figure(found.best)
    if found.comparisons and len(found.comparisons) <= MOST_ROWS and style.fits(len(found.comparisons)):
        labels = [f"{one.first} v {one.second}" for one in found.comparisons]
        made["gains"] = forest_figure(found.comparisons, labels, _gain_axis(found))
    if found.tasks and len(found.tasks) <= MOST_ROWS and style.fits(len(found.tasks)):
        title = f"{_gain_axis(found)}: {found.tasks[0].first} v {found.tasks[0].second}"
        made["tasks"] = forest_figure(found.tasks, [one.task or "" for one in found.tasks], title)
    if found.curves:
        made["evidence"] = curves_figure(found.curves, " v ".join(one.policy for one in found.policies))
    if found.bands:
        named = list(zip(_scored(found), found.bands, strict=True))
        values = [(name, band.scores.values) for name, band in named]
        letters, ends = tables.letters(found) if found.measure == "score" else (), found.bands[0].scores
        made["scores"] = scores_figure(values, letters, ends.low, ends.high)
        for name, band in named[:MOST_BANDS]:
            made[f"band {name}"] = band_figure(band, what=f"score of {name}")
    return made | draw_added(found)


def methods(found: Overview) -> list[str]:
    """Which methods were used, and why."""
    stated, shown = _stated(found), [one.of(found.measure) for one in found.policies]
    used = {f"{interval.method} interval for each {found.words.policy}" for interval in shown if interval is not None}
    why: dict[str, list[str]] = {}
    for one in found.comparisons:
        reason = one.why if len(found.comparisons) == 1 else one.how
        why.setdefault(reason, []).append(f"{one.first} v {one.second}")
    bands = {
        f"{band.method} band on the whole distribution of scores, {formatting.percent(band.confidence)} each"
        for band in found.bands
    }
    return (
        [f"{line}." for line in sorted(used)]
        + [f"{pairs[0] if len(pairs) == 1 else f'{len(pairs):,} pairs'}: {reason}" for reason, pairs in why.items()]
        + [f"{line}." for line in sorted(bands)]
        + [line.replace(": see `coverage`", "").replace("`", "") for line in promises(stated)]
    )


def assumptions(found: Overview) -> list[str]:
    """All that must hold, each once; not what is promised if it does."""
    return conditions(_stated(found))


def _stated(found: Overview) -> list[Assumed]:
    """What the results say that they rest on and promise, each once."""
    results: list[Any] = [each for one in found.policies for each in (one.success, one.score) if each is not None]
    results += [one.interval for one in found.corrections]
    results += [one.gain for one in found.comparisons]
    results += found.bands
    return list(dict.fromkeys(said for one in results for said in one.assumptions))


@cache
def environment() -> Environment:
    """Where the pages' templates are, every string escaped."""
    from jinja2 import Environment, PackageLoader

    made = Environment(
        loader=PackageLoader("surefoot.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=formatting.finalize,
    )
    made.filters["breakable"] = _breakable
    return made


def _breakable(name: str) -> Markup:
    """A long name that may be broken where its words meet: after a mark, and before a capital."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[_\-/.:])(?=\w)|(?<=[a-z0-9])(?=[A-Z])", name)
    return Markup("<wbr>").join(escape(part) for part in parts)


def _sections(found: Overview, links: RolloutLinks) -> list[dict[str, Any]]:
    drawn = drawn_for_page(lambda: page_figures(found))
    sections: list[dict[str, Any]] = []
    if found.corrections:
        table = tables.rows_under("The judge's rates, and corrected", *tables.corrections(found))
        sections.append(tables.section("Corrected for the judge's errors", tables.correction_lines(found), table))
    if found.best is not None:
        sections.append(best_section(found.best, shown_figure(drawn, "best", caption(found.best))))
    if found.comparisons:
        sections += _comparison_sections(found, drawn)
    sections += slice_sections(found.slices)
    if found.tasks or found.cells:
        sections.append(_task_section(found, links, drawn))
    if found.curves:
        sections.append(_evidence(found, drawn))
    if found.bands:
        line = (
            "A band holds for every score at once, so its bound on the mean is lower than the interval of the "
            "mean alone, in the table above."
        )
        if len(found.bands) > MOST_BANDS:
            line += f" Bands are drawn of {MOST_BANDS} of the {len(found.bands)} {found.words.policies}."
        spread = shown_figure(drawn, "scores", f"How the scores of each {found.words.policy} are spread.")
        bands = [shown_figure(drawn, name, "") for name in drawn if name.startswith("band ")]
        sections.append(tables.section("The whole distribution of scores", [line], figures=[spread, *bands]))
    added = [shown_figure(drawn, name, caption) for name, caption in captions().items() if name in drawn]
    return [*sections, tables.section("More figures", figures=added)] if added else sections


def _comparison_sections(found: Overview, drawn: Mapping[str, Figure]) -> list[dict[str, Any]]:
    several = len(found.comparisons) > 1
    rows = [tables.comparison_row(one) for one in found.comparisons[:MOST_LISTED]]
    which = "Every comparison" if len(rows) == len(found.comparisons) else f"The first {len(rows):,} comparisons"
    compared = tables.rows_under(which, tables.COMPARED, rows) if several else None
    gains = shown_figure(drawn, "gains", f"Gain, first minus second. {answers.reading(found)}")
    title = f"{'Which is better' if several else 'The gain'}, for {answers.about(found)}"
    lines = [
        f"{one.first} against {one.second}: {line}"
        for one in found.comparisons
        if several
        for line in answers.differing_answer(one)
    ]
    if len(rows) < len(found.comparisons):
        all_of = f"{len(rows):,} of the {len(found.comparisons):,} comparisons are listed, the best policies first"
        lines.append(f"{all_of}; a report written as .json or .md has all of them.")
    sections = [tables.section(title, lines, compared, figures=[gains], opened=False)]
    levels = tables.level_rows(found)
    if levels:
        disagree = tables.rows_under("Every level", tables.LEVELS, levels)
        depends = "Each level by itself, at the confidence of the pair; named are columns whose levels disagree."
        sections.append(tables.section("Where the gain depends on a column", [depends], disagree, opened=not several))
    return sections


def _task_section(found: Overview, links: RolloutLinks, drawn: Mapping[str, Figure]) -> dict[str, Any]:
    lines: list[str] = []
    each: list[Any] = []
    if found.tasks:
        pair = f"{found.tasks[0].first} against {found.tasks[0].second}"
        together = f"all {len(found.tasks):,} {found.words.tasks} holding together"
        lines = [f"{pair}, {together} at {formatting.percent(found.confidence)}.", *map(str, found.disagreements)]
        each = [shown_figure(drawn, "tasks", f"Gain on each {found.words.task}. {answers.reading(found)}")]
    scarce = _scarce(found)
    if scarce:
        lines.append(f"Each was met fewer than {tables.FEW} times on average: see the list of rollouts.")
    column = found.split or found.words.task
    title = f"{column[:1].upper()}{column[1:]} by {column[:1].lower()}{column[1:]}"
    by_task = tables.section(title, lines, figures=each)
    return {**by_task, "heat": None if scarce else _heat(found, links)}


def _scarce(found: Overview) -> bool:
    """Whether so many conditions were met so few times that a table of them tells nothing."""
    sizes = [one.trials for each in found.cells if (one := each.of(found.measure)) is not None]
    return len({one.task for one in found.cells}) > MOST_SCARCE and sum(sizes) < tables.FEW * len(sizes)


def _heat(found: Overview, links: RolloutLinks) -> dict[str, Any]:
    """Tasks against policies; the rate of a cell leads to its successes, its size to all of its rollouts."""
    heat = tables.heat(found)
    for row in heat["rows"]:
        for policy, cell in zip(heat["policies"], row["cells"], strict=True):
            if cell is not None and links.rows:
                which = {"policy": policy, "condition" if found.split == "condition" else "task": row["task"]}
                best = "success" if found.measure == "success" else "counted"
                cell |= {"to": links.to(**which, outcome=best), "all": links.to(**which, outcome="counted")}
    return heat


def _evidence(found: Overview, drawn: Mapping[str, Figure]) -> dict[str, Any]:
    each = " each" if len(found.curves) > 1 else ""
    level = (
        f"{formatting.percent(found.confidence)} over all "
        f"looks{f', for each {found.words.task} by itself' if each else ''}"
    )
    lines = [
        f"If the {found.words.rollouts} had been run under the sequential rule {found.curves[0].rule}, on "
        f"{found.measure}, asking which of the two is better, {level}:",
        *(map(str, found.curves) if len(found.curves) <= FEW else ()),
        *found.replayed,
    ]
    figure = shown_figure(drawn, "evidence", "Evidence in recorded order; at the line the rule decides and stops.")
    rows = [
        [one.task or "", f"{len(one.evidence):,}", f"{one.horizon:,}", sentences.CELL[one.verdict]]
        for one in found.curves
    ]
    table = tables.rows_under("Pairs to a decision", [found.called("task"), "pairs used", "of", "verdict"], rows)
    shown = table if len(rows) > FEW else None
    return tables.section("When it could have stopped", lines, shown, figures=[figure], opened=False)


def _long(found: Overview, sections: list[dict[str, Any]]) -> bool:
    tables_of = [section[name]["rows"] for section in sections for name in ("heat", "table") if section.get(name)]
    return any(len(rows) >= LONG for rows in (found.policies, *tables_of))


def drawn_for_page(draw: Callable[[], dict[str, Figure]]) -> dict[str, Figure]:
    """Every figure drawn once, so wide that it can be read on a phone; the page scales it."""
    with style.sized(style.PAGE, page=True):
        return draw()


def shown_figure(drawn: Mapping[str, Figure], name: str, caption: str, prefix: str = "figure") -> dict[str, Any] | None:
    """A figure as the page shows it; none if it was not drawn."""
    from markupsafe import Markup

    if name not in drawn:
        return None
    svg = Markup(style.inline_svg(drawn[name], f"{prefix}{list(drawn).index(name)}", caption or name))
    return {"svg": svg, "caption": caption, "name": name}


def _gain_axis(found: Overview) -> str:
    what = "gain in points" if found.measure == "success" else "gain in score"
    return f"{what} ({formatting.percent(found.confidence)} intervals)"


def _scored(found: Overview) -> list[str]:
    return [one.policy for one in found.policies if one.score is not None]
