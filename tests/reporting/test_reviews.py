"""Tests of `surefoot.reporting.reviews`: what is written for reviewers and machines, and that nothing in it is live."""

from __future__ import annotations

import random
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.changes import Flips, flips
from surefoot.reporting.reviews import Judged, Review, code_span, gate_junit, gate_markdown, inert, not_comparable
from surefoot.table.findings import Finding
from tests.support.samples import put

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "a|b",
    "`code` ``two``",
    "@everyone see #12",
    "[link](javascript:alert(1))",
    "![pic](http://evil.example/x.png)",
    "line\n\n# heading",
    "http://evil.example",
    "</testcase><system-out>",
    "nul\x00 bell\x07",
]


def rollouts(new: str = "new", old: str = "old", *, items: int = 60, seed: int = 1, item: str = "q") -> sf.Rollouts:
    chance = random.Random(seed)
    rows = [
        {"policy": name, "task": f"t{at % 3}", "condition": f"{item}{at}", "success": chance.random() < rate}
        for at in range(items)
        for name, rate in ((new, 0.9), (old, 0.4))
    ]
    return sf.read(pl.DataFrame(rows))


def review(table: sf.Rollouts, first: str, second: str, gate: Judged | None = None) -> Review:
    found = sf.compare(table, first, second)
    return Review((found,), (flips(table, first, second),), sf.compare_by(table, first, second, by="task"), (), gate)


def rendered(markdown: str) -> str:
    """As a Markdown renderer with tables shows it, HTML let through."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True}).enable("table")
    return str(parser.render(markdown))


def test_the_comment_says_what_a_reviewer_needs() -> None:
    text = review(rollouts(), "new", "old", Judged(0, "passed")).markdown()
    first, *rest = text.splitlines()
    assert first.startswith("### Gate passed. For conditions like these 60: `new` is better than `old`: by at least ")
    assert rest[1].startswith("Gain **+")
    assert "| `t0` | " in text
    assert "**Won " in text
    assert "Read as: unit condition (60), setting task (3), paired by condition." in text
    assert len(text.splitlines()) < 25


def test_an_open_question_says_what_it_would_take() -> None:
    text = review(rollouts(items=6), "new", "old", Judged(2, "Gate: cannot tell (exit code 2).")).markdown()
    assert text.startswith("### Gate cannot tell. For conditions like these 6: cannot tell: the gain may be anything ")
    assert "What it would take: " in text
    assert "Gate: cannot tell (exit code 2)." in text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_the_comment(name: str) -> None:
    table = rollouts(new=name, item=name)
    page = rendered(
        review(table, table.policies[0] if table.policies[0] != "old" else table.policies[1], "old").markdown()
    )
    assert not [tag for tag in ("<img", "<a ", "<script", "<system") if tag in page]
    assert page.count("<h1>") == 0
    assert page.count("<h3>") == 1
    assert page.count("<tr>") == 3 + 4  # no row of a table was split or lost
    assert "@everyone" not in page or "<code>@everyone" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_free_text_is_inert(text: str) -> None:
    page = rendered(inert(f"said of {text} here"))
    assert not [tag for tag in ("<img", "<a ", "<code", "<h1", "<em", "<strong") if tag in page]
    assert page.count("<p>") == 1
    assert "@everyone" not in page
    assert "#12" not in page
    assert "http://evil" not in page


def test_spans() -> None:
    assert code_span("a") == "`a`"
    assert code_span("`a`") == "`` `a` ``"
    assert code_span("a|b", cell=True) == "`a\\|b`"
    assert code_span("  a \n b ") == "`a b`"
    assert len(code_span("x" * 500)) == 82


@pytest.mark.parametrize("name", ["new", *HOSTILE])
def test_the_suite_is_well_formed_and_read_back(tmp_path: Path, name: str) -> None:
    table = rollouts(new=name)
    first = next(one for one in table.policies if one != "old")
    for code, kind in ((0, None), (1, "failure"), (2, "failure"), (3, "error")):
        text = review(table, first, "old", Judged(code, f"why {name}", () if code == 3 else (code,))).junit()
        root = ElementTree.fromstring(text)
        assert [child.tag for child in root.iter()] == ["testsuite", "testcase", kind or "system-out"]
        assert "For conditions like these 60" in str(root[0][0].text)
        back = sf.read(put(tmp_path, f"gate{code}.xml", text))
        assert back.column("success") == ((1 if code == 0 else 0),)
        assert back.findings == ()


def test_a_refusal_has_every_form() -> None:
    assert not_comparable("no <task>", "github") == "### Gate not comparable.\n\nno &lt;task&gt;\n"
    assert 'errors="1"' in not_comparable("no <task>", "junit")


def test_several_comparisons_are_a_table() -> None:
    table = rollouts()
    found = sf.compare_by(table, "new", "old", by="task")
    flipped = tuple(flips(table.where(task=str(one.task)), "new", "old") for one in found)
    text = Review(found, flipped, (), (), None).markdown()
    assert text.startswith("### 3 comparisons\n")
    assert rendered(text).count("<tr>") == 4


def test_means_of_several_epochs_are_pairs_too() -> None:
    # the comment and the JSON of a gate said "not paired" of questions that were answered several times
    chance = random.Random(2)
    rows = [
        {"model": name, "question": f"q{at}", "epoch": epoch, "correct": int(chance.random() < rate)}
        for name, rate in (("new", 0.8), ("old", 0.6))
        for at in range(20)
        for epoch in (1, 2, 3)
    ]
    table = sf.read(pl.DataFrame(rows))
    found = Review((sf.compare(table, "new", "old"),), (flips(table, "new", "old"),), (), (), None)
    assert ", 20 pairs)" in found.markdown()
    assert "Of 60 pairs of " in found.markdown()
    assert found.short()[0]["paired"] is True


def test_what_can_make_it_wrong_is_quoted_and_no_flip_is_said() -> None:
    finding = Finding("odd <rows>", "3 rows are odd.", "The rate may be wrong.", "Look at them.")
    found = sf.compare(rollouts(items=6), "new", "old", gate=True)
    text = Review((found,), (Flips((), (), 6),), (), (finding,)).markdown()
    assert "> **odd &lt;rows&gt;**: 3 rows are odd. Look at them." in text
    assert "No item flipped, of 6." in text
    assert "No item can be said to have flipped: nothing tells which two rollouts" in Review((found,)).markdown()
    (short,) = Review((found,)).short()
    assert "flipped" not in short
    assert short["bounds"]["confidence"] == 0.95


def sharing_no_task() -> sf.Rollouts:
    """Two policies without a task in common, and one that ran all: so the table shows that tasks are met by several."""
    met = {"new": ("cut", "slice"), "old": ("pour", "stir"), "mid": ("cut", "slice", "pour", "stir")}
    rows = [(name, task, at % 2) for name, tasks in met.items() for task in tasks for at in range(8)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))


def test_policies_that_share_no_task_are_not_judged() -> None:
    text = Review((sf.compare(sharing_no_task(), "new", "old"),)).markdown()
    assert text.startswith("### `new` and `old` share no task: the gain only describes the data, and no gate passes.")


def test_the_tasks_that_changed_least_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.reporting.reviews.MOST_TASKS", 1)
    assert "\n\n2 more tasks changed less.\n" in review(rollouts(items=12), "new", "old").markdown()


def test_names_from_files_are_shown_and_never_rendered():
    level = "a|b `x` @all <script>"
    rows = [(policy, level, int(at < 50)) for policy in ("new", "old") for at in range(100)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "benchmark", "success"], orient="row"))
    found = sf.gate(table, [{"by": "benchmark", "not_worse_by": 0.01}], first="new", second="old")
    row = next(line for line in gate_markdown(found).splitlines() if line.startswith("| open"))
    assert '``success on "a\\|b `x` @all <script>" not worse by 1 points``' in row
    assert "<script>" not in gate_junit(found)
    assert "more rollouts of each" in row
