"""A report as Markdown, and its table as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.core import formatting, sentences
from surefoot.reporting import answers, page_sections, tables
from surefoot.reporting.page_sections import slice_sections
from surefoot.reporting.rollout_pages import RolloutLinks

if TYPE_CHECKING:
    from surefoot.analysis.overview import Overview
    from surefoot.reporting.reports import ProgressReport, Report

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def markdown(report: Report) -> str:
    """The answer, what to know before relying on it, and the tables."""
    found = report.overview
    study = report.study
    said = _of_study(report) or list(answers.overview_answer(found))
    front = [] if study is not None else answers.overview_front(found)
    lines = [f"# {_md(report.title)}", "", _md(tables.facts(found)), "", *(f"{_md(line)}\n" for line in front)]
    lines += [f"**{_md(said[0])}**", ""]
    lines += [f"{_md(line)}\n" for line in said[1:]]
    lines += [
        f"> **{_md(one.about)}.** {_md(f'{one.says} {one.threatens} {one.remedy}')}\n" for one in found.audit.findings
    ]
    lines += [f"- {_md(str(line))}" for line in report.deviations]
    lines += _md_table(tables.columns(found), tables.policy_rows(found))
    if found.corrections:
        lines += [f"{_md(line)}\n" for line in tables.correction_lines(found)]
        lines += _md_table(*tables.corrections(found))
    if found.best is not None:
        lines += [f"{_md(line)}\n" for line in found.best.lines()]
    if found.comparisons:
        lines += _md_table(tables.COMPARED, [tables.comparison_row(one) for one in found.comparisons])
    for made in slice_sections(found.slices):
        lines += [f"## {_md(made['title'])}", "", *(f"{_md(line)}\n" for line in made["lines"])]
        lines += [] if made["table"] is None else _md_table(made["table"]["header"], made["table"]["rows"])
    if study is not None:
        from surefoot.reporting import study_pages

        conduct = study_pages.conduct_sections(study, {}, RolloutLinks((), scripts=False))
        for section in (*page_sections.ranking_sections(study, {}), *conduct):
            lines += [f"## {_md(section['title'])}", "", *(f"{_md(line)}\n" for line in section["lines"])]
            lines += [] if section["table"] is None else _md_table(section["table"]["header"], section["table"]["rows"])
    roles = tables.roles(found)
    if roles["rows"]:
        lines += [f"{_md(line)}\n" for line in roles["lines"]] + _md_table(roles["header"], roles["rows"])
    lines += ["## For the methods of a paper", "", f"{_md(methods_paragraph(report))}\n"]
    log = "" if report.study is None else f" Log: {report.study.mark}."
    lines += [f"Made {report.made}: `{report.command}`. Data: {found.fingerprint}.{log}", ""]
    return "\n".join(lines)


def _of_study(report: Report) -> list[str]:
    """The answer of a study by its declared rule; empty without one."""
    if report.study is None or report.study.finding is None:
        return []
    from surefoot.reporting.study_pages import study_answers

    return list(study_answers(report.study, report.study.finding))


def progress_markdown(report: ProgressReport) -> str:
    """A blinded study's progress."""
    from surefoot.reporting import study_pages

    first, *more = study_pages.progress_lines(report.study)
    lines = [f"# {_md(report.study.plan.title)}", "", f"**{_md(first)}**", "", *(f"{_md(line)}\n" for line in more)]
    lines += [f"- {_md(str(line))}" for line in report.study.deviations]
    return "\n".join(
        [*lines, "", f"Made {report.made}. Plan {report.study.fingerprint}. Log: {report.study.mark}.", ""]
    )


def latex(report: Report) -> str:
    """The table of policies with its letters, the table of gains, and the methods; every name escaped."""
    found, study = report.overview, report.study
    header, rows = list(tables.columns(found)), [list(row) for row in tables.policy_rows(found)]
    ranking = None if study is None or study.finding is None else study.finding.ranking
    letters = {one.policy: one.letters for one in ranking.policies} if ranking is not None else {}
    if any(letters.values()) and "letters" not in header:
        header, rows = [*header, "letters"], [[*row, letters.get(row[0], "")] for row in rows]
    said = _of_study(report)
    gains = _gains(report)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            *_tabular(header, rows),
            *([r"\par\medskip", *_tabular(*gains)] if gains is not None else []),
            *([r"\par\medskip", _tex(" ".join(said))] if said else []),
            r"\par\medskip",
            _tex(methods_paragraph(report)),
            f"% {formatting.percent(found.confidence)} confidence, ends rounded outward; {_methods(found)}"
            f"surefoot, data {found.fingerprint}",
            "",
        ]
    )


def _tabular(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(_tex(name) for name in header) + r" \\",
        r"\midrule",
        *(" & ".join(_tex(cell) for cell in row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _gains(report: Report) -> tuple[list[str], list[list[str]]] | None:
    """Every gain with its interval and verdict: a study's own, or those of a table."""
    found, study = report.overview, report.study
    if study is None or study.finding is None:
        rows = [tables.comparison_row(one) for one in found.comparisons]
        return (tables.COMPARED, rows) if rows else None
    header = ["first", "second", "verdict", "gain", "interval"]
    if study.finding.ranking is not None:
        rows = [page_sections.pair_row(pair) for pair in study.finding.ranking.pairs if pair.gain is not None]
        return (header, rows) if rows else None
    if study.finding.interval is None:
        return None
    said = sentences.CELL[study.finding.verdict]
    return header, [[*study.plan.policies[:2], said, *tables.cells_of(study.finding.interval)]]


def methods_paragraph(report: Report) -> str:
    """Two sentences for the methods of a paper: the design and the rule with its error; then the rollouts."""
    from surefoot import __version__

    found, study = report.overview, report.study
    names = formatting.some_names([one.policy for one in found.policies], most=len(found.policies))
    error, many = formatting.percent(1.0 - found.confidence), formatting.rollouts(found.rollouts, found.words)
    if study is None or study.finding is None:
        levels = tables.levels_shown(found)
        where = f" on {levels}" if levels else ""
        how = sorted({str(one.how).removeprefix("Method: ").rstrip(".") for one in found.comparisons})
        by = f": {'; '.join(how)}" if how else ""
        what = "Success was" if found.measure == "success" else "Mean scores were"
        family = "for all comparisons together" if len(found.comparisons) > 1 else "of a false difference"
        return (
            f"We ran {many} of {names}{where}. {what} compared at a chance of {error} {family}{by} "
            f"(surefoot {__version__})."
        )
    plan, known = study.plan, study.counts
    drawn = {
        "shared": f"all {found.words.policies} of a {plan.unit} met the same environment",
        "stratified": f"the {found.words.policies} of a {plan.unit} met the same task",
        "independent": f"each {found.words.rollout} drew its own environment",
        "one": "all met one environment",
    }[plan.environments]
    blind = "blinded and in random order" if plan.blinded else "in random order"
    used = str(known) if known is not None else many
    amended = " (exploratory: the plan was amended)" if study.exploratory else ""
    return (
        f"{names} were run in {plan.unit}s, {blind}; {drawn}, and the sequential rule {plan.rule} of surefoot "
        f"{__version__}, declared beforehand, looked after every {plan.unit}, with a chance of at most {error} of any "
        f"false claim over all looks{amended}. {used}"
    )


def _md_table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(_md(cell) for cell in row) + " |" for row in (header, *rows)]
    return ["", lines[0], "|" + "---|" * len(header), *lines[1:], ""]


def _md(text: str) -> str:
    plain = re.sub(r"([\\`*_\[\]|#])", r"\\\1", formatting.visible(text).replace("&", "&amp;")).replace("\n", " ")
    return plain.replace("<", "&lt;").replace(">", "&gt;")


def _tex(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in formatting.visible(text).replace("\n", " "))


def _methods(found: Overview) -> str:
    """The method of every interval in the table, for the caption."""
    columns = (
        ("success rate", [one.success for one in found.policies]),
        ("score", [one.score for one in found.policies]),
    )
    named = [(what, sorted({one.method for one in each if one is not None})) for what, each in columns]
    return "".join(f"{what} by {' and '.join(methods)}; " for what, methods in named if methods)
