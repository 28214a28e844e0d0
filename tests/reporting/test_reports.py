"""The page: its answer, its honesty, its safety."""

from __future__ import annotations

import json
import re

import html5lib
import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.cli.gate_verdicts import BEHIND
from surefoot.cli.main import run
from surefoot.core import formatting, sentences
from surefoot.reporting import answers

EVIL = '<script>alert("x")</script> & $\\alpha$ %_#{}~^'


def rollouts(names=("new", "old"), levels=(0.9, 0.3), size=20, scores=False) -> sf.Rollouts:
    rng = np.random.default_rng(2)
    rows = [
        (name, task, bool(rng.random() < level), float(rng.integers(0, 6)) / 5)
        for name, level in zip(names, levels, strict=True)
        for task in ("pour", "fold")
        for _ in range(size)
    ]
    frame = pl.DataFrame(rows, schema=["policy", "task", "success", "score"], orient="row")
    return sf.read(frame if scores else frame.drop("score"))


@pytest.fixture(scope="module")
def full() -> sf.Report:
    return sf.report(rollouts(("a", "b", EVIL), (0.9, 0.5, 0.2), scores=True), title=EVIL)


def test_the_page_is_valid_html(full):
    html5lib.HTMLParser(strict=True).parse(full.html())


def test_ids_are_unique(full):
    ids = re.findall(r'\bid="([^"]+)"', full.html())
    assert len(ids) == len(set(ids))


def test_every_string_from_the_data_is_escaped(full):
    page = full.html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<script" not in full.markdown()
    tex = full.latex()
    assert r"\$\textbackslash{}alpha\$ \%\_\#\{\}\textasciitilde{}\textasciicircum{}" in tex


def test_the_page_needs_nothing_from_outside(full):
    page = full.html()
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', page)
    assert "@import" not in page
    assert "url(http" not in page
    assert len(page.encode()) < 1_000_000


def test_the_first_screen_answers(full):
    two = sf.report(rollouts())
    assert two.overview.comparisons[0].verdict is Verdict.BETTER
    assert answers.overview_answer(two.overview)[0] == "new is better than old."
    page = two.html()
    assert page.index("new is better than old.") < page.index("Where each policy stands")


def test_better_is_said_only_when_the_verdict_is():
    for templates in (sentences.SHORT, sentences.CELL, sentences.DECIDED, sentences.NAMED, sentences.OF_ALL):
        for verdict in Verdict:
            said = templates[verdict]
            assert ("better" in said and "Cannot tell" not in said) == (verdict is Verdict.BETTER)
            assert ("worse" in said) == (verdict is Verdict.WORSE)
    for said in (sentences.NOT_WORSE, BEHIND):
        assert not re.search("better|worse", said)


def test_many_policies_are_answered_in_one_breath():
    assert sentences.standing("a", ["b"], []) == "a is better than each of the others."
    assert sentences.standing("a", ["b"], ["c"]) == "a is better than b; it cannot be told from c."
    assert sentences.standing("a", [], ["b", "c"]).startswith("Cannot tell which of 3 policies is best")
    many = sentences.standing("a", list("bcd"), list("efg"))
    assert many == "a is better than 3 of the 6 others; it cannot be told from the other 3."


def test_cannot_tell_is_said_and_not_turned_into_a_winner():
    close = sf.report(rollouts(levels=(0.55, 0.5), size=8))
    assert close.overview.comparisons[0].verdict is Verdict.UNDECIDED
    assert answers.overview_answer(close.overview)[0].startswith("Cannot tell whether")
    assert not re.search(r"is (better|worse) than", close.html().replace("whether new is better than old", ""))


def test_what_must_hold_is_apart_from_what_is_promised(full):
    page = full.html()
    methods, holds = page.split("<h3>Methods</h3>")[1].split("<h3>What must hold</h3>")
    holds = holds.split("</ul>")[0]
    assert "The number of rollouts was fixed beforehand" in holds
    assert "Coverage" not in holds
    assert "The error is" not in holds
    assert "Coverage is close to the confidence, not guaranteed." in methods


def test_one_policy_alone_has_a_page():
    only = sf.report(rollouts(("new",), (0.8,)))
    assert "new succeeds in" in only.html()
    assert only.overview.comparisons == ()


def test_every_number_of_the_dashboard_has_interval_and_size(full):
    page = full.html()
    for one in full.overview.policies:
        rate, tally = one.success, one.success.data[0]
        cells = (
            formatting.number(rate.estimate),
            formatting.span(rate.low, rate.high),
            f"{tally.successes}/{tally.trials}",
        )
        assert "".join(f'<td class="num">{cell}</td>' for cell in cells) in page


def test_the_report_goes_to_every_format(full, tmp_path):
    for name in ("r.html", "r.md", "r.tex", "r.json"):
        assert full.save(tmp_path / name).stat().st_size > 100
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["type"] == "Report"
    assert sf.Report.from_dict(data) == full
    with pytest.raises(ValueError, match=r"must end in \.html, \.md, \.tex or \.json"):
        full.save(tmp_path / "r.docx")


def test_every_figure_can_be_written(full, tmp_path):
    from surefoot.reporting import style

    drawn = full.figures()
    assert {"policies", "gains", "tasks", "heat", "scores"} < set(drawn)
    for place, figure in enumerate(drawn.values()):
        for suffix in (".svg", ".png", ".pdf"):
            assert style.save(figure, tmp_path / f"{place}{suffix}").stat().st_size > 1000


def test_the_command_writes_the_page_and_prints_the_answer(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    assert run(["report", str(path), "-o", str(tmp_path / "r.html")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("new is better than old.")
    assert "Wrote" in out
    assert (tmp_path / "r.html").exists()


def test_the_page_says_how_to_make_it_again_only_where_that_is_known(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"policy,success\n{name},1\n{name},0\n")
    one = sf.read(tmp_path / "a.csv")
    assert sf.report(one, confidence=0.9).command == "surefoot report a.csv --confidence 0.9 -o report.html"
    both = sf.read([tmp_path / "a.csv", tmp_path / "b.csv"])  # 'a.csv, b.csv' is no file
    assert sf.report(both).command == "surefoot.report(rollouts).save('report.html')"


def test_a_coverage_plot_draws_every_curve_and_does_not_round_its_promise_up():
    from surefoot.reporting.coverage_figures import coverage_figure

    drawn = coverage_figure([0.1, 0.9], {str(i): [0.9, 1.0] for i in range(6)}, trials=20, confidence=0.999)
    (axes,) = drawn.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list("012345")
    assert axes.get_title(loc="left") == "Exact coverage of 99.9% intervals, n = 20 rollouts"


def test_the_ranking_command_prints_letters(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    assert run(["rank", str(path), "--figure", str(tmp_path / "r.svg")]) == 0
    out = capsys.readouterr().out
    assert re.search(r"new\s+\S+%\s+\[.*\]\s+40\s+1\s+a", out)


def test_a_missing_file_is_one_sentence(capsys):
    assert run(["report", "nowhere.csv"]) == 65
    assert capsys.readouterr().err.count("\n") == 1


def test_pairs_that_share_no_task_are_counted_beside_the_answer():
    rows = [(name, task, i < k) for name, task, k in (("a", "x", 18), ("b", "y", 9), ("c", "x", 2)) for i in range(20)]
    made = sf.report(sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")))
    assert "2 of the 3 pairs: The two share no task" in str(made)


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path):
    made = sf.report(rollouts(("ローボット", "π₀ $x_1$")))
    assert "ローボット" in made.html()
    from surefoot.reporting import style

    for place, figure in enumerate(made.figures().values()):
        style.save(figure, tmp_path / f"{place}.png")


def test_the_change_since_a_previous_run_is_in_every_format():
    now, before = rollouts(levels=(0.9, 0.5)), rollouts(("new",), (0.3,))
    made = sf.report(now, previous=before)
    change = made.overview.changes[0]
    assert (change.first, change.verdict) == ("new (now)", Verdict.BETTER)
    for text in (made.html(), made.markdown(), made.latex()):
        assert "change" in text
        assert "not run before" in text
    assert "new: better" in made.html()


def test_a_page_that_cannot_be_written_is_refused_at_once(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    assert run(["report", str(path), "-o", "page.docx"]) == 64
    assert "`--output` must end in .html" in capsys.readouterr().err
    assert run(["report", str(path), "-o", str(tmp_path / "none" / "page.html")]) == 64
    assert "must be in a folder that exists" in capsys.readouterr().err


def test_the_report_command_shows_change_and_collection(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    page = tmp_path / "page.html"
    asked = ["report", str(path), "-o", str(page), "--previous", str(path), "--collected", "shared"]
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "Change in points: now minus results.csv" in out
    assert '<th scope="col" class="num">change</th>' in page.read_text()


def test_a_page_with_a_margin_says_how_large_it_is_and_how_it_is_read():
    table = rollouts(("new", "old", "none"), (0.9, 0.8, 0.1))
    page = sf.report(table, margin=0.3).html()
    assert "Gains within 30.0 points do not matter." in page
    assert "wholly beyond the margin of 30.0 points, or wholly within it" in page
    assert "touches zero" not in page
    assert "What touches zero is not decided." in sf.report(table).html()
