"""Files as hands leave them: one kind of mistake each, drawn at random, with what the file is meant to say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

from tests.files.test_workbooks import inline, relations
from tests.support.samples import deflated

Table = list[list[str]]
Truth = dict[str, tuple[float, int]]
"""By policy: the sum of its outcomes, and how many are known."""
WORDS = (("1", "0"), ("yes", "no"), ("True", "False"), ("success", "failure"), ("pass", "fail"), ("Y", "N"))
POLICIES = ("pi0", "ACT", "DP", "OpenVLA", "new", "old", "v2.1", "ckpt-40k")
TASKS = ("pour water", "fold towel", "open drawer", "place mug")


@dataclass
class Lab:
    """A table of rollouts before anybody's hand slipped.

    Attributes:
        rng: Chance.
        measure: Whether outcomes are successes or scores.
        policies: Who was run.
        header: The names of the columns: policy, task, trial, outcome.
        rows: A row for each rollout.
        outcomes: The outcome of each row, as it is meant.
    """

    rng: random.Random
    measure: Literal["success", "score"] = "success"
    policies: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    rows: Table = field(default_factory=list)
    outcomes: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = self.rng
        self.policies = rng.sample(POLICIES, rng.choice((2, 2, 3)))
        tasks = rng.sample(TASKS, rng.choice((1, 2, 3)))
        self.header = [rng.choice(("policy", "Policy", "model")), "task", "trial", self.measure]
        yes, no = rng.choice(WORDS)
        for name in self.policies:
            for task in tasks:
                for trial in range(1, rng.choice((4, 5, 8)) + 1):
                    score = rng.randrange(0, 21) / 20 if self.measure == "score" else float(rng.random() < 0.6)
                    said = f"{score:g}" if self.measure == "score" else yes if score else no
                    self.rows.append([name, task, str(trial), said])
                    self.outcomes.append(score)
        if self.measure == "success" and len(set(self.outcomes)) < 2:
            self.rows[0][3], self.outcomes[0] = (no, 0.0) if self.outcomes[0] else (yes, 1.0)

    @property
    def truth(self) -> Truth:
        return {
            name: (
                sum(one for one, row in zip(self.outcomes, self.rows, strict=True) if row[0] == name),
                sum(row[0] == name for row in self.rows),
            )
            for name in self.policies
        }

    @property
    def middle(self) -> int:
        return self.rng.randrange(2, len(self.rows) - 1)


@dataclass(frozen=True)
class Slip:
    """A file with a mistake.

    Attributes:
        name: The file's name.
        content: What is in it.
        truth: What it is meant to say; none where nobody can know, so that it must be refused.
        said: What a note, or an audit's finding, must speak of where the file is read; empty where nothing is odd.
    """

    name: str
    content: bytes
    truth: Truth | None
    said: str = ""


def text(table: Table, mark: str = ",", end: str = "\n") -> bytes:
    def cell(one: str) -> str:
        return f'"{one}"' if mark in one or '"' in one else one

    return "".join(mark.join(map(cell, row)) + end for row in table).encode()


def sheets(*tables: tuple[Table, str, str]) -> bytes:
    """A workbook: of each sheet the cells, its state and what stands after the rows; empty cells are left out."""
    members: dict[str, bytes] = {"_rels/.rels": relations(("rId1", "officeDocument", "xl/workbook.xml"))}
    listed, parts = "", []
    for at, (table, state, after) in enumerate(tables, 1):
        listed += f'<sheet name="S{at}" r:id="rId{at}"{f" state={state!r}" if state else ""}/>'
        parts.append((f"rId{at}", "worksheet", f"/xl/worksheets/s{at}.xml"))
        rows = ""
        for number, row in enumerate(table, 1):
            cells = (inline(f"{chr(65 + place)}{number}", escape(one)) for place, one in enumerate(row) if one)
            rows += f'<row r="{number}">{"".join(cells)}</row>'
        sheet = f"<worksheet><sheetData>{rows}</sheetData>{after}</worksheet>"
        members[f"xl/worksheets/s{at}.xml"] = sheet.encode()
    members["xl/workbook.xml"] = f"<workbook><sheets>{listed}</sheets></workbook>".encode()
    members["xl/_rels/workbook.xml.rels"] = relations(*parts)
    return deflated(members)


def _csv(lab: Lab, rows: Table, said: str = "", **more: str) -> Slip:
    return Slip("lab.csv", text([lab.header, *rows], **more), lab.truth, said)


def _inserted(lab: Lab, row: list[str], at: int | None = None) -> Table:
    place = lab.middle if at is None else at
    return [*lab.rows[:place], row, *lab.rows[place:]]


def header_again(lab: Lab) -> Slip:
    return _csv(lab, _inserted(lab, lab.header), "header")


def header_again_in_another_hand(lab: Lab) -> Slip:
    change = lab.rng.choice((str.upper, str.title, lambda name: f" {name} "))
    return _csv(lab, _inserted(lab, [change(name) for name in lab.header]), "header")


def files_put_together(lab: Lab) -> Slip:
    cut = lab.middle
    return Slip(
        "all.csv", text([lab.header, *lab.rows[:cut]]) + text([lab.header, *lab.rows[cut:]]), lab.truth, "header"
    )


def units_below_the_header(lab: Lab) -> Slip:
    units = lab.rng.choice((["", "", "#", "[0/1]"], ["(name)", "(name)", "(no.)", "(0/1)"], ["", "", "", "(yes/no)"]))
    return _csv(lab, _inserted(lab, units, 0), "units")


def total_at_the_end(lab: Lab) -> Slip:
    word = lab.rng.choice(("TOTAL", "Total", "total:", "Sum", "Overall"))
    return _csv(lab, [*lab.rows, [word, "", "", f"{sum(lab.outcomes):g}"]], "total")


def subtotals(lab: Lab) -> Slip:
    rows: Table = []
    for name in lab.policies:
        own = [(row, one) for row, one in zip(lab.rows, lab.outcomes, strict=True) if row[0] == name]
        rows += [*(row for row, _ in own), ["Subtotal", "", "", f"{sum(one for _, one in own):g}"]]
    return _csv(lab, rows, "total")


def mean_at_the_end(lab: Lab) -> Slip:
    mean = sum(lab.outcomes) / len(lab.outcomes)
    word = lab.rng.choice(("Average", "Mean", "AVG"))
    return _csv(lab, [*lab.rows, [word, "", "", lab.rng.choice((f"{mean:.2f}", f"{mean:.1%}"))]], "total")


def blank_rows(lab: Lab) -> Slip:
    return _csv(lab, _inserted(lab, lab.rng.choice(([""], ["", "", "", ""], ["  ", "", "", " "]))))


def rows_of_dashes(lab: Lab) -> Slip:
    dash = lab.rng.choice(("---", "===", "-"))
    return _csv(lab, _inserted(lab, [dash] * 4))


def a_title_above(lab: Lab) -> Slip:
    title = lab.rng.choice((["Evaluation of 12 May"], ["Lab 3, robot arm", "", "", ""], ["Results", "", "", ""]))
    return Slip("lab.csv", text([title, [""], lab.header, *lab.rows]), lab.truth)


def a_note_below(lab: Lab) -> Slip:
    note = lab.rng.choice(("Note: the gripper was replaced after lunch", "* robot 2 recalibrated", "operator: Ann"))
    return _csv(lab, [*lab.rows, [""], [note, "", "", ""]])


def a_second_table_below(lab: Lab) -> Slip:
    other = [["operator", "room", "start", "end"], ["Ann", "3", "9", "12"], ["Ben", "4", "13", "17"]]
    return _csv(lab, [*lab.rows, ["", "", "", ""], *other])


def a_second_table_of_the_same_kind(lab: Lab) -> Slip:
    return _csv(lab, [*lab.rows[:6], ["", "", "", ""], lab.header, *lab.rows[6:]], "header")


def merged_cells(lab: Lab) -> Slip:
    rows, areas, start = [], [], 2
    for name in lab.policies:
        own = [row for row in lab.rows if row[0] == name]
        rows += [[name if at == 0 else "", *row[1:]] for at, row in enumerate(own)]
        areas.append(f'<mergeCell ref="A{start}:A{start + len(own) - 1}"/>')
        start += len(own)
    content = sheets(([lab.header, *rows], "", f"<mergeCells>{''.join(areas)}</mergeCells>"))
    return Slip("lab.xlsx", content, lab.truth, "merged")


def cells_left_blank_below_a_name(lab: Lab) -> Slip:
    seen: set[str] = set()
    rows = [["" if row[0] in seen else row[0], *row[1:]] for row in lab.rows if not seen.add(f"-{row[0]}")]
    rows = []
    for row in lab.rows:
        rows.append(["" if row[0] in seen else row[0], *row[1:]])
        seen.add(row[0])
    return Slip("lab.csv", text([lab.header, *rows]), None)


def a_hidden_sheet_first(lab: Lab) -> Slip:
    old = [lab.header, *([*row[:3], lab.rows[0][3]] for row in lab.rows)]
    return Slip("lab.xlsx", sheets((old, "hidden", ""), ([lab.header, *lab.rows], "", "")), lab.truth, "sheet")


def names_in_two_cases(lab: Lab) -> Slip:
    return _alike(lab, str.upper if lab.policies[0] != lab.policies[0].upper() else str.lower)


def names_with_look_alike_letters(lab: Lab) -> Slip:
    table = str.maketrans("ADeoP0", "\u0410D\u0435\u043e\u0420\u043e")
    if lab.policies[0].translate(table) == lab.policies[0]:
        lab.rows = [["ACTe", *row[1:]] if row[0] == lab.policies[0] else row for row in lab.rows]
        lab.policies[0] = "ACTe"
    return _alike(lab, lambda name: name.translate(table))


def _alike(lab: Lab, change: Callable[[str], str]) -> Slip:
    """Some rows of a policy under another name: read as two, with a note, or refused."""
    name = lab.policies[0]
    own = [at for at, row in enumerate(lab.rows) if row[0] == name]
    for at in own[::2]:
        lab.rows[at] = [change(name), *lab.rows[at][1:]]
    lab.policies.insert(1, change(name))
    return _csv(lab, lab.rows, "alike")


def names_with_spaces(lab: Lab) -> Slip:
    rows = [[lab.rng.choice((row[0], f"{row[0]} ", f" {row[0]}", f"{row[0]}\u00a0")), *row[1:]] for row in lab.rows]
    return _csv(lab, rows)


def decimal_commas(lab: Lab) -> Slip:
    rows = [[*row[:3], row[3].replace(".", ",")] for row in lab.rows]
    return _csv(lab, rows, mark=lab.rng.choice((";", ",", "\t")))


def dates_as_numbers(lab: Lab) -> Slip:
    day = 45_000 + lab.rng.randrange(900)
    rows = [[*row, str(day + at // 7)] for at, row in enumerate(lab.rows)]
    return Slip("lab.csv", text([[*lab.header, "date"], *rows]), lab.truth)


def percentages_among_fractions(lab: Lab) -> Slip:
    rows = [
        [*row[:3], f"{100 * one:g}%" if at % 3 == 0 else row[3]]
        for at, (row, one) in enumerate(zip(lab.rows, lab.outcomes, strict=True))
    ]
    return _csv(lab, rows)


def percentages_without_their_mark(lab: Lab) -> Slip:
    rows = [
        [*row[:3], f"{100 * one:g}" if at % 2 else row[3]]
        for at, (row, one) in enumerate(zip(lab.rows, lab.outcomes, strict=True))
    ]
    return Slip("lab.csv", text([lab.header, *rows]), None)


def uploaded_twice(lab: Lab) -> Slip:
    doubled = {name: (2 * total, 2 * count) for name, (total, count) in lab.truth.items()}
    return Slip("lab.csv", text([lab.header, *lab.rows, *lab.rows]), doubled, "twice")


def apostrophes_before_cells(lab: Lab) -> Slip:
    return _csv(lab, [[*row[:3], f"'{row[3]}"] if at % 2 else row for at, row in enumerate(lab.rows)])


def outcomes_not_run(lab: Lab) -> Slip:
    word = lab.rng.choice(("", "n/a", "N/A", "NA", "-", "nan"))
    rows, known = [list(row) for row in lab.rows], lab.truth
    for at in lab.rng.sample(range(len(rows)), 2):
        name = rows[at][0]
        rows[at][3] = word
        known[name] = (known[name][0] - lab.outcomes[at], known[name][1] - 1)
    return Slip("lab.csv", text([lab.header, *rows]), known)


def a_misspelt_outcome(lab: Lab) -> Slip:
    rows = [list(row) for row in lab.rows]
    rows[lab.middle][3] = lab.rng.choice(("sucess", "falure", "yess", "ture", "passs", "x"))
    return Slip("lab.csv", text([lab.header, *rows]), None)


def spaces_that_do_not_break(lab: Lab) -> Slip:
    return _csv(lab, [[*row[:3], f"\u00a0{row[3]}\u00a0"] for row in lab.rows])


def saved_by_a_spreadsheet(lab: Lab) -> Slip:
    content = text([lab.header, *lab.rows], mark=lab.rng.choice((";", "\t", ",")), end="\r\n").decode()
    coded = lab.rng.choice((("utf-8-sig", ""), ("utf-16", ""), ("utf-16-le", "\ufeff")))
    return Slip("lab.csv", (coded[1] + content).encode(coded[0]), lab.truth)


def an_index_column(lab: Lab) -> Slip:
    rows = [[str(at), *row] for at, row in enumerate(lab.rows)]
    return Slip("lab.csv", text([["", *lab.header], *rows]), lab.truth)


def empty_columns_beside(lab: Lab) -> Slip:
    return Slip("lab.csv", text([[*row, "", ""] for row in (lab.header, *lab.rows)]), lab.truth)


def a_row_too_short_or_too_long(lab: Lab) -> Slip:
    row = lab.rows[0]
    return Slip("lab.csv", text([lab.header, *_inserted(lab, lab.rng.choice((row[:2], [*row, "again"])))]), None)


SCORES = (decimal_commas, percentages_among_fractions, percentages_without_their_mark)
KINDS: tuple[Callable[[Lab], Slip], ...] = (
    header_again, header_again_in_another_hand, files_put_together, units_below_the_header, total_at_the_end,
    subtotals, mean_at_the_end, blank_rows, rows_of_dashes, a_title_above, a_note_below, a_second_table_below,
    a_second_table_of_the_same_kind, merged_cells, cells_left_blank_below_a_name, a_hidden_sheet_first,
    names_in_two_cases, names_with_look_alike_letters, names_with_spaces, dates_as_numbers, uploaded_twice,
    apostrophes_before_cells, outcomes_not_run, a_misspelt_outcome, spaces_that_do_not_break, saved_by_a_spreadsheet,
    an_index_column, empty_columns_beside, a_row_too_short_or_too_long, *SCORES,
)  # fmt: skip


def slips(kind: Callable[[Lab], Slip], count: int, folder: Path, seed: int = 33) -> Iterator[tuple[Path, Slip]]:
    """So many files of one kind, each in a folder of its own."""
    for number in range(count):
        rng = random.Random(f"{kind.__name__} {number} {seed}")
        made = kind(Lab(rng, "score" if kind in SCORES else "success"))
        path = folder / str(number) / made.name
        path.parent.mkdir()
        path.write_bytes(made.content)
        yield path, made
