"""Two runs side by side: as tables of a terminal, as a comment of a pull request, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import __version__
from surefoot.core import sentences
from surefoot.core.assumptions import holds_if
from surefoot.core.formatting import number, p_value, percent, span, unit
from surefoot.core.verdict import Verdict
from surefoot.reporting import answers
from surefoot.reporting.reviews import LISTED, Judged, code_span, inert, sentence_of

if TYPE_CHECKING:
    from surefoot.analysis.changes import Flips
    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.regressions import Regression, Row
    from surefoot.table.findings import Finding

LONGEST = 40
"""A comment has at most so many lines."""
SHOWN = 20
"""So many rows are shown in a terminal; a page and JSON have all."""
BEST = 3
"""Of those so many at most are rows that became better."""
FEWEST = 4


class Grid(NamedTuple):
    """A table: its header, its cells, and the verdict of every row."""

    header: list[str]
    rows: list[list[str]]
    verdicts: list[Verdict]
    left: int = 0


def gains_grid(found: Sequence[Regression], most: int | None = None) -> Grid:
    """Everything, then every benchmark and category, the worst first; several policies in one table."""
    several, one = len(found) > 1, found[0]
    columns = " / ".join(dict.fromkeys(name for each in found for name in each.columns)) or "what"
    header = [*(["policy"] if several else []), columns, *one.names, f"gain{unit(one.overall.interval.scale)}",
              "interval", "lost", "won", "verdict"]  # fmt: skip
    cells = [(_overall(each), each.overall.verdict, str(each.overall.policy)) for each in found]
    rows = [(each, row) for each in found for row in each.rows]
    rows.sort(key=lambda pair: (_RANK[pair[1].verdict], pair[1].gain.estimate))
    kept = rows
    if most is not None and len(rows) > most:
        better = [pair for pair in rows if pair[1].verdict is Verdict.BETTER][-min(BEST, most - 1) :]
        kept = [*rows[: most - len(better)], *(pair for pair in better if pair not in rows[: most - len(better)])]
    cells += [(_cells(row, each), row.verdict, str(each.overall.policy)) for each, row in kept]
    listed = [[*([policy] if several else []), *row] for row, _, policy in cells]
    return Grid(header, listed, [verdict for _, verdict, _ in cells], len(rows) - len(kept))


_RANK = {Verdict.WORSE: 0, Verdict.UNDECIDED: 1, Verdict.SAME: 1, Verdict.BETTER: 2}


def _overall(found: Regression) -> list[str]:
    one = found.overall
    ends = one.interval
    rates = [number(each.estimate, each.scale) for each in (one.of_first, one.of_second)]
    return ["all", *rates, number(ends.estimate, ends.scale), span(ends.low, ends.high, ends.scale),
            *_counts(found.flipped), sentences.CELL[one.verdict] if one.comparable else "not comparable"]  # fmt: skip


def _cells(row: Row, found: Regression) -> list[str]:
    ends = row.gain
    scale: Any = "rate" if found.overall.measure == "success" else "score"
    rates = [number(rate, scale) for rate in row.rates]
    return [row.name, *rates, number(ends.estimate, ends.scale), span(ends.low, ends.high, ends.scale),
            *_counts(row.flipped), sentences.CELL[row.verdict]]  # fmt: skip


def _counts(flipped: Flips | None) -> list[str]:
    return ["", ""] if flipped is None else [f"{len(flipped.lost):,}", f"{len(flipped.won):,}"]


def prices_grid(found: Sequence[Regression]) -> Grid | None:
    """Cost, tokens, latency and steps beside the outcome; None where no run holds any."""
    several, one = len(found) > 1, found[0]
    rows, verdicts = [], []
    for each in found:
        for price in each.prices:
            said = {Verdict.BETTER: "less: better", Verdict.WORSE: "more: worse"}.get(price.verdict, "cannot tell")
            if price.dominates:
                margin = each.overall.gain.margin
                held = f"not worse by {100 * margin:g} points" if margin else "better"
                held = held if each.overall.measure == "success" or not margin else f"not worse by {margin:g}"
                said = f"less, and {each.overall.measure} {held}"
            rows.append([
                *([str(each.overall.policy)] if several else []), price.measure, f"{price.now:,.4g}",
                f"{price.before:,.4g}", f"{price.ratio:.3g} times", f"[{price.low:.3g}, {price.high:.3g}]",
                "less is better", said,
            ])  # fmt: skip
            verdicts.append(price.verdict)
    if not rows:
        return None
    header = [*(["policy"] if several else []), "mean", *one.names, "ratio", "interval", "direction", "verdict"]
    return Grid(header, rows, verdicts)


def culprits(found: Sequence[Regression]) -> list[str]:
    """What is most surely worse, a sentence for each policy that has such."""
    return [f"{f'{one.overall.policy}: ' if len(found) > 1 else ''}{one}" for one in found if one.culprit is not None]


def how(found: Sequence[Regression], grid: Grid) -> list[str]:
    """How far the tables hold, and what they leave out."""
    one = found[0]
    level, rows = percent(one.confidence), sum(len(each.rows) for each in found)
    lines = []
    if rows:
        each = f" for each {one.words.policy}" if len(found) > 1 else ""
        lines.append(f"{level} that none of the {rows:,} rows below 'all' is called better or worse wrongly{each}.")
    if grid.left:
        lines.append(f"{grid.left:,} more rows: --format html or --json.")
    if any(each.prices for each in found):
        lines.append("Ratios of means hold together; no value was taken to be above twice the largest seen.")
    return [*lines, *dict.fromkeys(note for each in found for note in each.notes)]


def _flip_lines(found: Sequence[Regression], show: Any) -> list[str]:
    """Which items flipped, in the culprit where there is one."""
    lines = []
    for one in found:
        row = one.culprit
        flipped = row.flipped if row is not None and row.flipped is not None else one.flipped
        where = f" in {show(row.name)}" if row is not None else ""
        whose = f"{show(str(one.overall.policy))}: " if len(found) > 1 else ""
        if flipped is None:
            lines.append(f"{whose}No item can be said to have flipped: nothing tells which two belong together.")
        elif not flipped.lost and not flipped.won:
            lines.append(f"{whose}No item flipped, of {flipped.pairs:,}.")
        else:
            parts = [f"{word} {len(some):,}{where}: {_some(some, show)}" for word, some in
                     (("Lost", flipped.lost), ("Won", flipped.won)) if some]  # fmt: skip
            lines.append(f"{whose}{'. '.join(parts)}.")
    return lines


def _some(names: Sequence[str], show: Any) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(show(name) for name in names[:LISTED]) + more


def text(found: Sequence[Regression]) -> tuple[list[str], Grid, Grid | None, list[str]]:
    """What a terminal shows: the culprits, two tables, and what is to be known besides."""
    grid = gains_grid(found, SHOWN)
    return culprits(found), grid, prices_grid(found), [*_flip_lines(found, str), *how(found, grid)]


def markdown(found: Sequence[Regression], findings: Sequence[Finding] = (), gate: Judged | None = None) -> str:
    """A comment for a pull request: the answer, one table with the worst first, the costs, what flipped."""
    badge = f"Gate {sentences.GATE_WORDS[gate.code]}. " if gate is not None else ""
    head = [f"### {badge}{' '.join(_answer(one.overall) for one in found[:3])}"]
    bold = [f"**{inert(line)}**" for line in culprits(found)]
    last = [*_flip_lines(found, code_span)]
    last += [inert(gate.says)] if gate is not None and gate.code else []
    last += [f"What it would take: {inert(str(one.overall.outlook))}" for one in found if one.overall.outlook]
    last += [inert(line) for one in found for line in (*answers.in_front(one.overall), *answers.behind(one.overall))]
    last += [f"**{inert(finding.about)}**: {inert(finding.says)} {inert(finding.remedy)}" for finding in findings]
    prices = prices_grid(found)
    fixed = len(head) + len(bold) + len(found) + 6 + 2 * len(last) + (0 if prices is None else 3 + len(prices.rows))
    grid = gains_grid(found, max(FEWEST, LONGEST - fixed))
    lines = [*head, *bold, "", *_markdown(grid)]
    lines += ["", *_markdown(prices)] if prices is not None else []
    lines += [part for line in last for part in ("", line)]
    parts = [part for one in found for part in (one.overall.why, holds_if(one.overall.gain.assumptions))]
    return "\n".join([*lines, "", f"<sub>{inert(' '.join(dict.fromkeys([*how(found, grid), *parts])))}</sub>", ""])


def _answer(one: Comparison) -> str:
    about = inert(str(one.about)) if one.comparable else ""
    return sentences.about_units(about, sentence_of(one, code_span(one.first), code_span(one.second)))


def _markdown(grid: Grid) -> list[str]:
    names = 1 + (grid.header[0] == "policy")
    lines = [f"| {' | '.join(inert(name) for name in grid.header)} |", f"|{'---|' * len(grid.header)}"]
    for row, verdict in zip(grid.rows, grid.verdicts, strict=True):
        cells = [code_span(cell, cell=True) if at < names else inert(cell) for at, cell in enumerate(row)]
        cells[-1] = f"**{cells[-1]}**" if verdict is Verdict.WORSE else cells[-1]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(found: Sequence[Regression], findings: Sequence[Finding] = (), gate: Judged | None = None) -> str:
    """The page as HTML, with every row."""
    from surefoot.reporting.pages import environment

    grid = gains_grid(found)
    one = found[0]
    said = [line for each in found for line in (sentence_of(each.overall, each.overall.first, each.overall.second),)]
    verdicts = [each.overall.verdict for each in found]
    worst = Verdict.WORSE if Verdict.WORSE in verdicts or any(each.worse() for each in found) else verdicts[0]
    parts = [part for each in found for part in (each.overall.why, holds_if(each.overall.gain.assumptions))]
    p = [p_value(each.overall.p_value) for each in found if each.overall.p_value is not None]
    return (
        environment()
        .get_template("regression.html.j2")
        .render(
            title=f"{one.names[0]} against {one.names[1]}",
            chip={"kind": worst.value, "text": gate.says if gate is not None else sentences.CELL[worst]},
            culprits=culprits(found),
            answers=said,
            facts=f"{', '.join(str(each.overall.about) for each in found[:1])}; {'; '.join(p)}",
            grids=[each for each in (grid, prices_grid(found)) if each is not None],
            flips=_flip_lines(found, str),
            findings=findings,
            how=[*how(found, grid), *dict.fromkeys(parts)],
            version=__version__,
        )
    )


def told(one: Regression) -> dict[str, Any]:
    """Rows and costs as JSON-ready data."""
    return {
        "culprit": one.surest or None,
        "confidence": one.confidence,
        "rows": [
            {
                "where": dict(row.where), "now": row.rates[0], "before": row.rates[1], "n": list(row.rollouts),
                "gain": row.gain.estimate, "low": row.gain.low, "high": row.gain.high, "p_value": row.p_value,
                "verdict": row.verdict.value,
                "lost": None if row.flipped is None else len(row.flipped.lost),
                "won": None if row.flipped is None else len(row.flipped.won),
            }
            for row in one.rows
        ],
        "prices": [
            {
                "measure": each.measure, "better": "lower", "now": each.now, "before": each.before,
                "ratio": each.ratio, "low": each.low, "high": each.high, "verdict": each.verdict.value,
                "cheaper_and_not_worse": each.dominates,
            }
            for each in one.prices
        ],
        "notes": list(one.notes),
    }  # fmt: skip
