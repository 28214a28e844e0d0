"""Tests that no name in a file reaches a terminal, a page or a spreadsheet as anything but text (R24)."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from surefoot.cli.main import COMMANDS, run
from surefoot.core.formatting import CONTROLS, csv_text, from_csv

CLEAR, TURN = "\x1b[2J\x1b[1;1Hnew is better", "new\u202egnp"
FORGED = "FORGED better, p = 0.0001"
TAGS = "<script src=x></script><img src=x onerror=alert(1)>&\"'>"
LATEX = r"\input{/etc/passwd}$x$%"
NAMES = ("new" + CLEAR + LATEX, '=HYPERLINK("x")\x9b31m\x07' + TURN, f"old\n{FORGED}\r{FORGED}{TAGS}")
NEW, OLD, LAST = NAMES
SHOWN = tuple(name.replace("\n", r"\n") for name in NAMES)
"""As a table holds the names: one line each."""


def rows(outcome: str, extra: str = "") -> list[list[str]]:
    header = ["policy", f"scene\n{FORGED}", "start", outcome, "light\x1b[8m", f"note{extra}", f"rater{TAGS}"]
    body = [
        [name, f"@lift{CLEAR}\n{FORGED}{scene}", f"+1+cmd|' /C calc'!A{start}", f"{(start + at + scene) % 3 > 0:d}",
         f"dim\x1b]0;x\x07{start % 2}", "2", f"Ann\n{FORGED}{TAGS}"]
        for at, name in enumerate(NAMES)
        for scene in range(2)
        for start in range(8)
    ]  # fmt: skip
    return [header, *body]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder with a table, one of scores and one of needs, all with hostile names."""
    monkeypatch.chdir(tmp_path)
    for name, outcome in (("hostile.jsonl", "success"), ("scores.jsonl", "score")):
        header, *body = rows(outcome)
        lines = [json.dumps(dict(zip(header, row, strict=True)) | {outcome: float(row[3])}) for row in body]
        Path(name).write_text("\n".join(lines), encoding="utf-8")
    with Path("plain.csv").open("w", encoding="utf-8", newline="") as file:  # a CSV with such lines is refused
        csv.writer(file).writerows([[cell.replace("\n", " ") for cell in row] for row in rows("success")])
    needs = '[gate]\n[[gate.need]]\nmeasure = "success"\nnot_worse_by = 0.15\n'
    Path("needs.toml").write_text(needs, encoding="utf-8")
    return tmp_path


TWO = ("--first", SHOWN[0], "--second", SHOWN[1])
STUDY = ("--store", "study.db", "--policies", "a\x1b[2J,b\x9b3m", "--title", f"T\n{FORGED}{CLEAR}", "--horizon", "10")
CASES: tuple[tuple[str, ...], ...] = (
    ("rate", "hostile.jsonl"),
    ("compare", "hostile.jsonl", *TWO),
    ("compare", "hostile.jsonl", *TWO, "--by", "light\x1b[8m"),
    ("compare", "hostile.jsonl", *TWO, "--format", "github"),
    ("compare", "hostile.jsonl", *TWO, "--gate", "--format", "junit"),
    ("compare", "hostile.jsonl", *TWO, "--json"),
    ("compare", "hostile.jsonl", "--first", "absent" + CLEAR, "--second", SHOWN[1]),
    ("compare", f"no such file{CLEAR}.csv", "other.csv"),
    ("rank", "hostile.jsonl"),
    ("rank", "scores.jsonl"),
    ("rank", "plain.csv"),
    ("best", "hostile.jsonl"),
    ("gate", "hostile.jsonl", "needs.toml", *TWO),
    ("slices", "hostile.jsonl", *TWO),
    ("items", "hostile.jsonl", "-o", "items.csv"),
    ("columns", "hostile.jsonl"),
    ("band", "scores.jsonl", "--policy", SHOWN[0]),
    ("audit", "hostile.jsonl"),
    ("report", "hostile.jsonl", "-o", "page.html", "--title", "hostile" + CLEAR, "--figures", "drawn"),
    ("report", "hostile.jsonl", "-o", "page.md"),
    ("report", "hostile.jsonl", "-o", "page.tex"),
    ("report", "hostile.jsonl", "-o", "page.json"),
    ("report", "scores.jsonl", "-o", "scores.html"),
    ("plan", "compare", "--from", "hostile.jsonl", *TWO, "--gain", "0.2"),
    ("plan", "next", "hostile.jsonl", *TWO, "--budget", "100"),
    ("replay", "hostile.jsonl", *TWO, "--horizon", "20"),
    ("watch", "hostile.jsonl", *TWO, "--horizon", "20", "--once", "--in-start-order"),
    ("labels", "draw", "hostile.jsonl", "--n", "5", "--seed", "7", "-o", "labels.csv"),
    ("study", "create", "plan.toml", *STUDY, "--yes"),
    ("open", f"no such file{CLEAR}.csv", "--no-browser"),
    ("formats",),
    ("demo", "-o", f"absent\x1b[2J{FORGED}/demo.html"),
)  # fmt: skip


def test_every_command_is_tried():
    assert {words[0] for words in CASES} == set(COMMANDS)


class Tags(HTMLParser):
    """Collects what a browser would run or fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("src") == "x" or any(name.startswith("on") for name in given):
            self.found.append((tag, attrs))


def harmless(path: str, text: str) -> None:
    """Reads every character of an output: nothing in it controls, forges, runs or computes."""
    assert CONTROLS.findall(text) == [], path
    if not path.endswith(".html"):  # where a line end is a space
        assert not re.search(rf"^\W*{FORGED[:6]}", text, re.MULTILINE), path
    if path.endswith(".html"):
        assert Tags(text).found == [], path
    if path.endswith((".svg", ".xml")):
        tree = ElementTree.fromstring(text)
        assert not [one for one in tree.iter() if one.tag.endswith("script") or "onerror" in one.attrib], path
    if path.endswith(".md"):
        assert "<script" not in text, path
        assert "<img src=x" not in text, path
    if path.endswith(".tex"):
        assert r"\input{" not in text, path
        assert "x$%" not in text, path
    if path.endswith(".csv"):
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert [cell for cell in cells if re.match(r"[=+@-](?![\d.]+$)", cell)] == [], path


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", CASES, ids=lambda words: "-".join(word for word in words if word.isalpha())[:40])
def test_no_command_writes_what_is_not_text(words, lab, capsys):
    before = {path: path.stat().st_mtime_ns for path in lab.rglob("*")}
    code = run(list(words))
    printed = capsys.readouterr()
    assert printed.out or printed.err
    named = any("absent" in word or "no such" in word for word in words)
    assert named or code in (0, 1, 2), printed.err
    kind = ".xml" if "junit" in words else ".md" if "github" in words else ".txt"
    harmless(f"out{kind}", printed.out)
    harmless("err.txt", printed.err)
    written = [path for path in lab.rglob("*") if path.is_file() and before.get(path) != path.stat().st_mtime_ns]
    for path in written:
        if path.suffix in (".html", ".svg", ".md", ".tex", ".json", ".csv"):
            harmless(path.name, path.read_text(encoding="utf-8"))
    assert len(written) >= (words[0] in ("report", "items", "labels"))


def test_json_on_the_terminal_holds_the_names(lab, capsys):
    run(["rank", "hostile.jsonl", "--json"])
    assert set(SHOWN) <= set(_texts(json.loads(capsys.readouterr().out)))


def _texts(data):
    """Every text in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            yield from _texts(one)


def test_a_name_is_shown_with_its_escapes(lab, capsys):
    run(["rank", "hostile.jsonl"])
    assert "new\\x1b[2J" in capsys.readouterr().out


@pytest.mark.sample(2)
@pytest.mark.parametrize("command", ["status", "verify", "anchor", "report", "record", "export"])
def test_no_command_on_a_study_writes_what_is_not_text(command, lab, capsys):
    from surefoot.study.studies import Study

    run(["study", "create", "plan.toml", *STUDY, "--yes"])
    study = Study.open("study.db", author=f"Ann\n{FORGED}{CLEAR}")
    turn = study.next_turn(holder=f"arm\n{FORGED}{TAGS}")
    study.record(turn, result=True, note=CLEAR + TAGS, failure="", holder=f"arm\n{FORGED}{TAGS}")
    study.next_turn(holder=f"arm\n{FORGED}{TAGS}")
    study.unblind(reason=f"why\n{FORGED}{CLEAR}")
    capsys.readouterr()
    more = {"record": ["--turn", "99", "--failure"], "report": ["-o", "study.html"]}.get(command, [])
    run(["study", command, "study.db", *more])
    printed = capsys.readouterr()
    assert CONTROLS.findall(printed.out + printed.err) == []
    if command != "export":
        assert not re.search(rf"^\W*{FORGED[:6]}", printed.out + printed.err, re.MULTILINE)
    if command == "report":
        harmless("study.html", Path("study.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-cmd", "@SUM(A1)", "\tx", "'=1", "''=1", "-5", "+3.5", "plain", "'x'"]
)
def test_a_cell_of_a_spreadsheet_computes_nothing_and_comes_back(cell):
    written = next(csv.reader(csv_text([[cell]]).splitlines()))[0]
    assert not re.match(r"[=@\t]", written)
    assert not re.match(r"[-+]", written) or float(written)
    assert from_csv(written) == cell.replace("\t", "\t")


def test_labels_of_hostile_items_join_their_rollouts(lab, capsys):
    assert run(["labels", "draw", "hostile.jsonl", "--n", "5", "--seed", "7", "-o", "labels.csv"]) == 0
    text = Path("labels.csv").read_text(encoding="utf-8")
    head, header, *body = text.splitlines()
    names, *cells = csv.reader([header, *body])
    at = names.index("human")
    for row in cells:
        row[at] = "1"
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(f"{head}\n")
        csv.writer(file).writerows([names, *cells])
    assert run(["compare", "hostile.jsonl", *TWO, "--human", "labels.csv"]) == 0, capsys.readouterr().err
