"""A study read like any table: its file, its exported log, its CSV and its Parquet say the same."""

from __future__ import annotations

import sqlite3

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.errors import DataError, StudyError
from surefoot.study.studies import Study
from tests.support.studies import begun, driven, outcomes


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study_of(**changes):
    return driven(
        begun("study.db", blinded=False, horizon=60, futility=0.0, tasks=("mug", "cup"), **changes),
        outcomes(2, new=0.8, old=0.4),
    )


@pytest.mark.parametrize("environments", ["shared", "independent"])
def test_a_study_its_export_and_its_tables_compare_alike(lab, capsys, environments):
    study = study_of(environments=environments)
    study.void(study.fold.turns[3], reason="hardware fault")
    for name in ("study.jsonl", "results.csv", "results.parquet"):
        option = "-o" if name.endswith("l") else "--rollouts"
        assert run(["study", "export", "study.db", option, name]) == 0
    assert "exploratory" in capsys.readouterr().out
    told = sf.compare(study.rollouts(), "new", "old")
    for name in ("study.db", "study.jsonl", "results.csv", "results.parquet"):
        table = sf.read(name)
        found = sf.compare(table, "new", "old")
        assert (found.interval, found.p_value, found.how) == (told.interval, told.p_value, told.how), name
        assert table.polars()["valid"].to_list().count(False) == 2
        assert run(["compare", name, "--first", "new", "--second", "old"]) == 0
    assert "decided by looking" in str(sf.read("study.db").notes[0])


def test_scores_keep_their_range(lab):
    driven(begun("study.db", blinded=False, measure="score", low=0, high=20), lambda turn: 3.0 + (turn.number % 5))
    table = sf.read("study.db")
    assert (table.low, table.high) == (0.0, 20.0)
    assert set(table.polars()["score"]) == {3.0, 4.0, 5.0, 6.0, 7.0}


def test_the_page_of_a_study_is_its_own(lab, capsys):
    study = study_of()
    (lab / "study.jsonl").write_text(study.export())
    for name in ("study.db", "study.jsonl"):
        assert run(["report", name, "-o", "page.html"]) == 0
        assert "Declared: rule 'mixture'" in capsys.readouterr().out
        assert "As if the number of rollouts had been fixed" in (lab / "page.html").read_text()
        assert run(["study", "verify", name]) == 0
    assert run(["report", "study.db", "--margin", "0.1"]) == 64
    assert "`--margin` needs a file of results" in capsys.readouterr().err
    assert run(["report", "study.db", "--unit", "task"]) == 64
    assert "`--unit` needs a file of results" in capsys.readouterr().err


def test_an_export_is_only_read(lab):
    study = study_of()
    (lab / "study.jsonl").write_text(study.export())
    with pytest.raises(StudyError, match="To go on with the study, restore it first"):
        Study.open("study.jsonl").check(["lights"])


def test_in_a_folder_the_table_is_read_and_the_study_named(lab):
    study_of()
    (lab / "all").mkdir()
    (lab / "study.db").rename(lab / "all" / "study.db")
    Study.open("all/study.db").rollouts().polars().write_csv("all/results.csv")
    table = sf.read("all")
    assert len(table) == len(Study.open("all/study.db").fold.results)
    assert "study.db (it is a study's; name its file to read it by itself)" in str(table.notes)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text.replace('"result":true', '"result":false', 1), "does not verify"),
        (lambda text: "\n".join(text.splitlines()[:-3]), "cut off"),
    ],
)
def test_a_log_that_was_changed_is_refused(lab, spoil, said):
    (lab / "study.jsonl").write_text(spoil(study_of().export()))
    with pytest.raises(DataError, match=said):
        sf.read("study.jsonl")


def test_a_blinded_study_and_another_database_are_refused(lab):
    driven(begun("blind.db"), outcomes(1, new=0.9, old=0.1))
    with pytest.raises(DataError, match="blinded"):
        sf.read("blind.db")
    with sqlite3.connect("other.db") as link:
        link.execute("create table episodes (success integer)")
    link.close()
    before = (lab / "other.db").read_bytes()
    with pytest.raises(DataError, match="an SQLite database without a study"):
        sf.read("other.db")
    assert (lab / "other.db").read_bytes() == before


@pytest.mark.parametrize("ending", ["json", "xlsx"])
def test_rollouts_are_written_as_csv_or_parquet_only(lab, capsys, ending):
    study_of()
    assert run(["study", "export", "study.db", "--rollouts", f"results.{ending}"]) == 64
    assert "`--rollouts` must end in .csv or .parquet" in capsys.readouterr().err
