"""`surefoot report --figures --width --style`, and the same of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli.main import run
from surefoot.cli.report import inches
from tests.support.reports import rollouts
from tests.support.study_commands import create


@pytest.mark.parametrize(("word", "wide"), [("3.4in", 3.4), ("86mm", 86 / 25.4), ("8.6cm", 8.6 / 2.54), ("7", 7.0)])
def test_a_width_is_read_in_any_unit(word: str, wide: float) -> None:
    assert inches(word) == pytest.approx(wide)


def test_figures_are_written_as_wide_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{policy},{int(n % 10 < level)}" for policy, level in (("new", 8), ("old", 5)) for n in range(20)]
    (tmp_path / "r.csv").write_text("policy,success\n" + "\n".join(rows))
    said = ["report", str(tmp_path / "r.csv"), "-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "f")]
    assert run([*said, "--width", "3.4in", "--style", "ggplot"]) == 0
    assert f"Wrote the figures to {tmp_path / 'f'}" in capsys.readouterr().out
    assert 'width="244.8pt"' in (tmp_path / "f" / "policies.svg").read_text()
    assert run([*said, "--width", "wide"]) == 64
    assert "`--width` must be a width such as 3.4in or 86mm; got 'wide'" in capsys.readouterr().err


def test_the_command_writes_the_page_and_prints_the_answer(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    assert run(["report", str(path), "-o", str(tmp_path / "r.html")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For these 2 settings (task): new is better than old.\n")
    assert "Wrote" in out
    assert (tmp_path / "r.html").exists()


def test_a_missing_file_is_one_sentence(capsys):
    assert run(["report", "nowhere.csv"]) == 65
    assert capsys.readouterr().err.count("\n") == 1


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


def test_a_study_given_to_report_has_its_own_page_written(here, capsys):
    create(capsys)
    assert run(["report", "study.db"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("Wrote report.html\n")
    assert run(["study", "report", "study.db", "-o", "own.html"]) == 0
    assert capsys.readouterr().out == out.replace("report.html", "own.html")
    assert "0 rollouts were run of at most 40" in (here / "report.html").read_text()


def test_a_study_given_to_report_takes_no_option_that_its_plan_declared(here, capsys):
    create(capsys)
    assert run(["report", "study.db", "--collected", "shared"]) == 64
    assert "`--collected` needs a file of results" in capsys.readouterr().err
    assert not (here / "report.html").exists()
