"""The ranking of a study, the best of several policies, and slices: each as a section of a page, with its figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting, sentences
from surefoot.core.sentences import fill
from surefoot.core.verdict import Verdict
from surefoot.reporting import style
from surefoot.reporting.figures import MOST_ROWS, draw_intervals, draw_whiskers, percent_axis
from surefoot.reporting.style import COLOURS, FAINT, canvas, drawing, letters, narrow, row_height
from surefoot.reporting.tables import cells_of, rows_under, section

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.analysis.best import Best
    from surefoot.analysis.slices import Slice, Slices
    from surefoot.study.ranking import RankedPair, RankedPolicy, StudyRanking
    from surefoot.study.status import Account


LETTERS = "Two {words.policies} share a letter exactly when no difference between them was shown."
DECIDED = "who is better"


def ranking_figure(account: Account, ranking: StudyRanking) -> Figure:
    """Means with their intervals, letters, and the rollouts that each policy took of those it might have."""
    what = "success rate" if account.plan.measure == "success" else "mean score"
    used = [one.rollouts for one in ranking.policies]
    most = account.plan.horizon if ranking.still is None else max(used)
    with drawing():
        figure, axes = canvas(7.2, 1.0 + row_height(len(ranking.policies)) * len(ranking.policies))
        if narrow():
            rows = [
                (one.policy, one.interval, f"{one.letters}  {one.rollouts:,} of {most:,}" if one.letters else _ran(one))
                for one in ranking.policies
            ]
            draw_intervals(axes, rows, what, own=ranking.still is None)
            return figure
        figure.clear()
        axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3.0, 1.3))
        rows = [(one.policy, one.interval, one.letters or one.standing) for one in ranking.policies]
        draw_intervals(axes, rows, what, own=ranking.still is None)
        places = range(len(ranking.policies))
        beside.barh(places, [most] * len(used), height=0.5, color=FAINT, alpha=0.25)
        beside.barh(places, used, height=0.5, color=COLOURS[0])
        look = {"textcoords": "offset points", "va": "center", "fontsize": letters(9, len(used))}
        for place, count in zip(places, used, strict=True):
            beside.annotate(f"{count:,}", (most, place), (4, 0), **look)
        beside.set(xlim=(0, most * 1.3), xlabel=f"rollouts, of {most:,}" if ranking.still is None else "rollouts")
        beside.set_xticks([0, most])
        beside.tick_params(axis="y", length=0, labelleft=False)
        beside.spines["left"].set_visible(False)
    return figure


def ranking_sections(account: Account, figures: dict[str, Any]) -> list[dict[str, Any]]:
    """The sections of the page: where everybody stands, and by how much they differ."""
    ranking = account.finding.ranking if account.finding is not None else None
    if ranking is None:
        return []
    level = formatting.percent(account.plan.confidence)
    if ranking.still is not None:
        return [_race_section(ranking, level, figures)]
    together = f"All claims of who is better hold together at {level}, over all looks. {fill(LETTERS)}"
    header = ["place", "policy", "letters", "rollouts", "joined after", "standing"]
    rows = [_policy_row(one) for one in ranking.policies]
    standing = rows_under("Where each policy stands", header, rows)
    lines = ranking.said if ranking.question.startswith("top ") else [together]
    made = [section("The ranking", list(lines), standing, figures=[figures.get("ranking")])]
    if any(pair.gain is not None for pair in ranking.pairs):
        header = ["first", "second", DECIDED, "gain", f"{level} for all sizes together"]
        pairs = rows_under("Every two policies", header, [pair_row(pair) for pair in ranking.pairs])
        made.append(section("By how much they differ", [_family(ranking, level)], pairs))
    return made


def _race_section(ranking: StudyRanking, level: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Who is out, who runs on, and what each did: intervals that allow for all looks."""
    lines = [*ranking.said, f"The intervals hold for all policies together, at any moment ({level})."]
    late = any(one.joined for one in ranking.policies)
    header = ["standing", "policy", "estimate", level, "rollouts", *(["joined after"] if late else [])]
    rows = []
    for one in ranking.policies:
        joined = [formatting.counted(one.joined, "round") if one.joined else ""] if late else []
        cells = ["", ""] if one.interval is None else list(cells_of(one.interval))
        rows.append([one.standing, one.policy, *cells, f"{one.rollouts:,}", *joined])
    table = rows_under("Where each policy stands", header, rows)
    return section("Halving" if ranking.picks else "The race", lines, table, figures=[figures.get("ranking")])


def _family(ranking: StudyRanking, level: str) -> str:
    """What the sizes promise, apart from the ranking."""
    held = f"all {len(ranking.pairs)} intervals hold together at {level}, over all looks."
    return (
        f"The sizes are a separate family: {held} The claims of who is better hold together at {level} by themselves; "
        "the interval of a claimed pair ends at 0."
    )


def _ran(one: RankedPolicy) -> str:
    return f"{one.standing}, {formatting.rollouts(one.rollouts)}"


def ranking_caption(account: Account) -> str:
    """What the figure shows, and what its words mean."""
    ranking, within = None if account.finding is None else account.finding.ranking, account.plan.within
    if ranking is None or ranking.still is None:
        return "Means with their intervals, for information; letters by the ranking; rollouts used of those planned."
    if ranking.picks:
        return "Means with intervals that hold at any moment. Stopped: in the lower half of a stage."
    settled = "" if within is None else f" Settled: shown at most {within:g} above the one named."
    return f"Means with intervals that hold at any moment. Out: shown not to be the best.{settled}"


def _policy_row(one: RankedPolicy) -> list[str]:
    joined = formatting.counted(one.joined, "round") if one.joined else ""
    now = one.standing or ("runs" if one.running else "")
    return [one.place, one.policy, one.letters, f"{one.rollouts:,}", joined, now]


def pair_row(pair: RankedPair) -> list[str]:
    """Two policies, what is claimed, and the gain with its interval, as cells."""
    said = sentences.CELL[pair.verdict]
    if pair.paused:
        said = "not decidable within the horizon"
    elif pair.verdict is Verdict.UNDECIDED:
        said = "open" if pair.open else "not asked"
    if pair.gain is None:
        return [pair.first, pair.second, said, "", ""]
    return [pair.first, pair.second, said, *cells_of(pair.gain)]


CURVE = 3.6
"""The height of a learning curve, in inches."""
CAPTION = (
    "Filled: may be the best; hollow: shown not to be; ringed: the one picked. "
    "Intervals of {level} for all rows together."
)


def height_of(found: Best) -> float:
    """The height of its figure, in inches."""
    return CURVE if found.steps else 1.0 + style.row_height(len(found.names)) * min(len(found.names), MOST_ROWS)


def best_figure(found: Best) -> Figure:
    """Rates or mean scores with simultaneous intervals, the shortlist marked; a curve where steps are known."""
    with style.drawing():
        figure, axes = style.canvas(7.0, height_of(found))
        draw_best(axes, found)
    return figure


def draw_best(axes: Axes, found: Best) -> None:
    """The same on axes of the reader's own."""
    what = "success rate" if found.measure == "success" else "mean score"
    level, inside = formatting.percent(found.confidence), set(found.shortlist)
    if not found.steps:
        rows = [(name, one, name in inside) for name, one in zip(found.names, found.intervals, strict=True)]
        draw_whiskers(axes, rows[:MOST_ROWS])
        axes.plot(found.intervals[0].estimate, 0, "o", color=style.INK, markersize=13, markerfacecolor="none")
        axes.set_xlabel(style.wrapped(f"{what}, with intervals of {level} for all rows together"))
        percent_axis(axes, "x", found.intervals[0])
        return
    points = sorted(zip(found.steps, found.names, found.intervals, strict=True))
    axes.plot([step for step, _, _ in points], [one.estimate for _, _, one in points], color=style.FAINT, linewidth=1.0)
    for step, name, one in points:
        colour = style.GOOD if name in inside else style.FAINT
        axes.plot([step, step], [one.low, one.high], color=colour, linewidth=1.6)
        inner = colour if name in inside else axes.get_facecolor()
        axes.plot(step, one.estimate, "o", color=colour, markerfacecolor=inner)
    axes.plot(found.steps[0], found.intervals[0].estimate, "o", color=style.INK, markersize=13, markerfacecolor="none")
    axes.set_xlabel(style.wrapped("training steps (filled: may be the best, ringed: the one picked)"))
    axes.set_ylabel(style.wrapped(f"{what}, {level} for all together", 30))
    axes.locator_params(axis="x", nbins=4 if style.narrow() else 8)
    axes.xaxis.set_major_formatter(_short)
    axes.grid(axis="y", color=style.FAINT, alpha=0.25, linewidth=0.7)
    percent_axis(axes, "y", found.intervals[0])


def _short(steps: float, _: float) -> str:
    """20k for 20,000."""
    size, letter = next(((size, letter) for size, letter in ((1e6, "M"), (1e3, "k")) if abs(steps) >= size), (1.0, ""))
    return f"{steps / size:g}{letter}"


def best_section(found: Best, figure: dict[str, Any] | None) -> dict[str, Any]:
    """The section of the page: the answer, the figure, and who may be the best."""
    header = [found.words.policy, "estimate", "interval", "may be the best", "p"]
    p_values = dict(zip((*found.shortlist, *found.shortlisted.out), found.shortlisted.p_values, strict=True))
    inside = set(found.shortlist)
    rows = [
        [name, *cells_of(one), "yes" if name in inside else "no", f"{p_values[name]:.3g}"]
        for name, one in zip(found.names, found.intervals, strict=True)
    ]
    table = rows_under(f"Every {found.words.policy}", header, rows)
    lines = [_with_commands(line) for line in found.lines()]
    return section("Which is the best, and how good is it", lines, table, figures=[figure], opened=False)


def _with_commands(line: str) -> Markup:
    """A line whose commands are seen to be commands, broken between words only."""
    from markupsafe import Markup

    def told(found: re.Match[str]) -> str:
        return f"<code>{' '.join(f'<span>{word}</span>' for word in found[1].split())}</code>"

    return Markup(re.sub("`(surefoot [^`]*)`", told, escape(line)))


def caption(found: Best) -> str:
    """What the figure shows."""
    return CAPTION.format(level=formatting.percent(found.confidence))


HEADER = ("claim", "slice", "gain", "interval", "seen", "p", "note")
MARKS = {Verdict.WORSE: "▼", Verdict.BETTER: "▲"}
WHOLE = "all levels"


def slice_sections(found: Sequence[Slices]) -> list[dict[str, Any]]:
    """The sections of the page: where one policy is better than another and where worse; in one where nothing is."""
    silent = [one for one in found if not one.claimed]
    if len(silent) < 2:
        return [_section(one) for one in found]
    lines = [" ".join([one.head, *one.beside]) for one in silent]
    return [*(_section(one) for one in found if one.claimed), section("Slices that show no difference", lines)]


def _section(found: Slices) -> dict[str, Any]:
    title = f"{found.first}{f' against {found.second}' if found.second else ''}, slice by slice"
    rows = claim_rows(found)
    table = rows_under(f"What is claimed ({len(rows):,})", HEADER, rows) if rows else None
    made = section(title, [found.head, *found.beside], table)
    return {**made, "map": slice_map(found)}


def claim_rows(found: Slices) -> list[list[str]]:
    """Every claimed slice as the cells of a table; one that contains another stands after it and says so."""
    from surefoot.analysis.slices import SOMEWHERE

    shown = [one for one in found.claimed if not one.under]
    ordered = [each for one in shown for each in (one, *(other for other in found.claimed if other.under == one.name))]
    rows = []
    for one in ordered:
        gain, interval = cells_of(one.interval) if one.interval is not None else ("", "")
        inside = "contains one above" if one.under else ""
        inside = "; ".join(filter(None, (inside, SOMEWHERE.format(way=one.verdict) if one.somewhere else "")))
        seen = one.shown(found.measure)
        p = found.said_p(one).removeprefix("p = ").removeprefix("p ")
        rows.append([str(one.verdict), one.name, gain, interval, seen, p, inside])
    return rows


def slice_map(found: Slices) -> dict[str, Any] | None:
    """Two columns as a grid of gains, what is claimed marked; none where nothing is claimed."""
    if not found.claimed:
        return None
    ours, other = _two(found)
    known = {frozenset(one.where): one for one in found.slices}
    levels = {column: _levels(found, column) for column in (ours, other) if column}
    across: list[str | None] = [None, *levels.get(other, [])]
    rows = []
    for level in [*levels[ours], None]:
        cells = []
        for beside in across:
            where = frozenset(
                (column, at) for column, at in ((ours, level), (other, beside)) if column and at is not None
            )
            cells.append(_cell(found, known.get(where)))
        rows.append({"level": WHOLE if level is None else level, "cells": cells})
    if not any(rows[-1]["cells"]):
        rows.pop()
    return {
        "caption": _caption(found, ours, other),
        "by": ours,
        "across": other,
        "columns": [WHOLE if one is None else one for one in across],
        "rows": rows,
    }


def _two(found: Slices) -> tuple[str, str]:
    """The two columns that hold most of what is claimed, the one of more levels first; one where there is one."""
    if len(found.columns) < 2:
        return found.columns[0], ""
    claimed = [{column for column, _ in one.where} for one in found.claimed]
    best = max(
        combinations(found.columns, 2), key=lambda pair: sum(len(where) for where in claimed if where <= set(pair))
    )
    one, other = sorted(best, key=lambda column: -len(_levels(found, column)))
    return one, other


def _levels(found: Slices, column: str) -> list[str]:
    return sorted({level for one in found.slices for name, level in one.where if name == column})


def _caption(found: Slices, ours: str, other: str) -> str:
    of = f"{ours} by {other}" if other else ours
    what = f"gain of {found.first} over {found.second}" if found.second else f"{found.first} there less elsewhere"
    points = ", in points" if found.measure == "success" else ""
    marks = "▼ shown to fail more" if not found.second else "▲ shown better, ▼ shown worse"
    return f"{of}: {what}{points}. {marks}; the others show nothing. Empty: few, or the same as another."


def _cell(found: Slices, one: Slice | None) -> dict[str, str] | None:
    if one is None:
        return None
    scale: formatting.Scale = "gain" if found.measure == "success" else "score gain"
    return {
        "kind": one.verdict.value,
        "mark": MARKS.get(one.verdict, ""),
        "text": formatting.number(one.estimate, scale),
        "size": " v ".join(f"{count:,}" for count in one.rollouts),
        "title": f"{one.name}: {one.shown(found.measure)}",
    }


STYLES = {"worse": "color:#b34700;font-weight:650", "better": "color:#0b62a0;font-weight:650"}


def map_html(found: Slices) -> str:
    """The map for a notebook, which has no style sheet of ours."""
    grid = slice_map(found)
    if grid is None:
        return ""
    cell = "text-align:center;padding:.15em .7em;border:1px solid #8884"
    head = "".join(f"<th style='{cell}'>{escape(name)}</th>" for name in (grid["by"], *grid["columns"]))
    body = []
    for row in grid["rows"]:
        cells = [
            "<td></td>"
            if one is None
            else f"<td style='{cell};{STYLES.get(one['kind'], '')}' title='{escape(one['title'], quote=True)}'>"
            f"{one['mark']} {one['text']}</td>"
            for one in row["cells"]
        ]
        body.append(f"<tr><th style='{cell}'>{escape(row['level'])}</th>{''.join(cells)}</tr>")
    return f"<table><caption>{escape(grid['caption'])}</caption><tr>{head}</tr>{''.join(body)}</table>"
