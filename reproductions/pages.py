"""How is a printed number held against a computed one, and how does the result become a page?"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reproductions"
FIGURES = FOLDER / "figures"
DATA = ROOT.parent / "shared" / "data"
"""Where other people's rollouts are looked for; they are never part of the project."""
SEED = 20260
BEGIN, END = "<!-- checks -->", "<!-- end checks -->"
HEAD = ["| where | the document prints | surefoot gets | outcome |", "|---|---|---|---|"]


class Outcome(StrEnum):
    """What came of holding a printed number against ours."""

    AGREES = "agrees"
    CHANCE = "agrees within chance"
    ERRATUM = "erratum"
    DIFFERS = "differs"
    CANNOT = "not recomputable"


class Check(NamedTuple):
    """One printed number, table or claim, and what became of it."""

    where: str
    printed: str
    found: str
    outcome: Outcome
    why: str = ""

    def row(self) -> str:
        """The check as a row of a table."""
        said = f"**{self.outcome}**" if self.outcome in (Outcome.ERRATUM, Outcome.DIFFERS) else str(self.outcome)
        return f"| {self.where} | {self.printed} | {self.found} | {said}{': ' + self.why if self.why else ''} |"


class Page(NamedTuple):
    """What a script makes: a page's words and tables, and its checks."""

    name: str
    title: str
    source: str
    body: Sequence[str]
    checks: Sequence[Check]
    seed: int | None = None


Numbers = float | tuple[float, ...]


def number(where: str, printed: Numbers, found: Numbers, *, to: float, erratum: str = "", note: str = "") -> Check:
    """Hold printed numbers against ours: they agree when ours, rounded to the unit `to`, are what is printed.

    Raises:
        ValueError: They differ and no erratum is named, or they agree and one is.
    """
    ours, theirs = _many(found), _many(printed)
    same = len(ours) == len(theirs) and all(abs(a - b) <= to * 0.5000001 for a, b in zip(ours, theirs, strict=True))
    _named(where, same, erratum)
    digits = max(0, -math.floor(math.log10(to) + 1e-9))
    finer = digits + 1 if to < 1 else digits + (1 if any(value % 1 for value in ours) else 0)
    outcome = Outcome.AGREES if same else Outcome.ERRATUM
    return Check(where, _shown(printed, digits), _shown(found, finer), outcome, note if same else erratum)


def claim(where: str, printed: str, found: str, holds: bool, *, erratum: str = "", note: str = "") -> Check:
    """Hold a printed claim against what was computed: `holds` says whether it is so.

    Raises:
        ValueError: It does not hold and no erratum is named, or it holds and one is.
    """
    _named(where, holds, erratum)
    return Check(where, printed, found, Outcome.AGREES if holds else Outcome.ERRATUM, note if holds else erratum)


def sampled(where: str, printed: float, found: float, error: float, *, digits: int, differs: str = "") -> Check:
    """Hold a simulated number against ours; `error` is the standard error of the difference, three of them allowed.

    Raises:
        ValueError: They differ by more and no reason is given, or they do not and one is.
    """
    away = (printed - found) / error
    same = abs(away) <= 3.0
    _named(where, same, differs)
    outcome = Outcome.CHANCE if same else Outcome.DIFFERS
    said = f"{away:+.1f} standard errors" + ("" if same else f"; {differs}")
    return Check(where, f"{printed:.{digits}f}", f"{found:.{digits}f}", outcome, said)


def apart(where: str, printed: str, found: str, why: str) -> Check:
    """A number that comes out otherwise, with the reason, or that none was found."""
    return Check(where, printed, found, Outcome.DIFFERS, why)


def cannot(where: str, printed: str, why: str) -> Check:
    """A number that nobody can compute from what the document and our data hold."""
    return Check(where, printed, "", Outcome.CANNOT, why)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)]


def listing(checks: Sequence[Check]) -> list[str]:
    """The checks as a table."""
    return [*HEAD, *(check.row() for check in checks)]


def figure(name: str, description: str) -> str:
    """The reference to a figure of ours."""
    return f"![{description}](figures/{name}.svg)"


def write(page: Page, *, folder: Path = FOLDER) -> Path:
    """Write a page; the same bytes every time, but for the date."""
    import surefoot

    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    seed = "no chance enters" if page.seed is None else f"seed {page.seed}"
    made = f"Made by `python -m reproductions {page.name}` on {today}, surefoot {surefoot.__version__}, {seed}."
    lines = [f"# {page.title}", "", page.source, "", made, "", *page.body, ""]
    lines += ["## Everything it prints that can be recomputed", "", BEGIN, *listing(page.checks), END, ""]
    target = folder / f"{page.name}.md"
    target.write_text("\n".join(lines), encoding="utf-8")
    return target


def rows(page: str) -> list[str]:
    """The rows of the checks on a written page."""
    body = page.split(BEGIN, 1)[1].split(END, 1)[0]
    return [line for line in body.splitlines() if line.startswith("| ") and line not in HEAD]


def write_index(names: Sequence[str], *, folder: Path = FOLDER) -> Path:
    """Write the list of everything the documents print, from the pages as they are."""
    counts, lists = [], []
    for name in names:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        title, found = text.splitlines()[0].removeprefix("# "), rows(text)
        outcomes = [re.split(r"(?<!\\)\|", row)[4].strip(" *").split(":")[0].strip("* ") for row in found]
        counts.append([f"[{title}]({name}.md)", *(outcomes.count(str(kind)) or "" for kind in Outcome)])
        lists += [f"## {title}", "", *HEAD, *found, ""]
    totals = ["**all**", *(sum(int(row[i + 1] or 0) for row in counts) for i in range(len(Outcome)))]
    lines = [*_INDEX, *table(["document", *Outcome], [*counts, totals]), "", "```{toctree}", ":hidden:", ""]
    lines += [*names, "```", "", *lists]
    target = folder / "index.md"
    target.write_text("\n".join(lines), encoding="utf-8")
    return target


_INDEX = [
    "# The literature, recomputed",
    "",
    "surefoot grew out of five documents: a blog post, two papers, a web page and a glossary entry. Every number, "
    "table",
    "and figure that they print is listed here, with what surefoot computes in its place. `make reproduce` writes "
    "these",
    "pages; every number comes from a command, with its seed and date on the page. The [errata](../errata.md) show "
    "the most",
    "important mistakes with code that runs.",
    "",
    "* **agrees**: our number, rounded as printed, is the printed one; or the claim was computed and holds.",
    "* **agrees within chance**: both are simulated, and they differ by less than three standard errors.",
    "* **erratum**: the document is wrong or misleads, and the line says how.",
    "* **differs**: ours comes out otherwise; the line gives the reason, or says that we found none.",
    "* **not recomputable**: what it would take was not published, or is not in our hands.",
    "",
]


def _named(where: str, same: bool, reason: str) -> None:
    if same and reason:
        raise ValueError(f"`{where}` agrees; take back its erratum: {reason}")
    if not same and not reason:
        raise ValueError(f"`{where}` does not agree; name the erratum.")


def _many(value: Numbers) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)


def _shown(value: Numbers, digits: int) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{one:.{digits}f}" for one in value) + ")"
    return f"{value:.{digits}f}"
