"""`surefoot band` and its figure."""

import json

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core import formatting
from tests.support.command_line import said

VALUES = [0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    rows = [f"new,{v}" for v in VALUES] + ["old,0.1", "old,0.2"]
    path.write_text("policy,progress\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_shows_both_bands_beside_what_was_observed(capsys, table):
    assert run(["band", table, "--policy", "new", "--score", "progress", "--at-least", "0.6"]) == 0
    out = capsys.readouterr().out
    worst = sf.stats.band(sf.Scores(VALUES))
    assert "10 scores in [0, 1], mean 0.725." in out
    assert "KS" in out
    assert "tail-tight" in out
    assert "average of the worst 25%" in out
    line = next(line for line in out.splitlines() if line.strip().startswith("mean "))
    assert f"at least {formatting.number(worst.mean_bound(), 'score', 'down')}" in line
    chance = next(line for line in out.splitlines() if "chance of 0.6" in line)
    assert "80.0%" in chance
    assert "at least 43.1%" in chance


def test_numbers_and_plain_files_say_the_same(capsys, tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("\n".join(map(str, VALUES)), encoding="utf-8")
    assert run(["band", *map(str, VALUES), "--json"]) == 0
    typed = json.loads(capsys.readouterr().out)
    assert run(["band", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == typed
    assert sf.Band.from_dict(typed["ks"]) == sf.stats.band(sf.Scores(VALUES))
    assert sf.Interval.from_dict(typed["mean"]) == sf.stats.score_mean(sf.Scores(VALUES))
    assert {row["what"] for row in typed["bounds"]} >= {"mean", "median", "5% quantile"}


def test_a_file_of_any_known_format_is_read(capsys, table, tmp_path):
    assert run(["band", table, "--policy", "new"]) == 0
    named = capsys.readouterr()
    assert "score is guessed to be the column 'progress'" in named.err
    path = tmp_path / "eval.jsonl"
    path.write_text("\n".join(json.dumps({"policy": "new", "score": value}) for value in VALUES))
    assert run(["band", str(path)]) == 0
    assert capsys.readouterr().out == named.out


def test_range_confidence_and_quantiles_are_passed_on(capsys, tmp_path):
    path = tmp_path / "scores.tsv"
    path.write_text("points\n" + "\n".join(str(100 * v) for v in VALUES), encoding="utf-8")
    asked = ["band", str(path), "--high", "100", "--confidence", "0.8", "--quantile", "0.4", "--worst", "0.5", "--json"]
    assert run(asked) == 0
    found = json.loads(capsys.readouterr().out)
    worst = sf.stats.band(sf.Scores([100 * v for v in VALUES], high=100), confidence=0.8)
    bounds = {row["what"]: row["ks"] for row in found["bounds"]}
    assert bounds["40% quantile"] == worst.quantile_bound(0.4)
    assert bounds["average of the worst 50%"] == worst.cvar_bound(0.5)


@pytest.mark.parametrize("name", ["f.svg", "f.png", "f.pdf"])
def test_writes_the_figure(capsys, tmp_path, name):
    path = tmp_path / name
    assert run(["band", *map(str, VALUES), "--figure", str(path), "--using", "tail-tight"]) == 0
    first = path.read_bytes()
    assert run(["band", *map(str, VALUES), "--figure", str(path), "--using", "tail-tight"]) == 0
    assert path.read_bytes() == first
    assert len(first) > 5000


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        (
            "0.5\n1.5\n",
            [],
            65,
            r"row 2: scores must lie in the stated range [0, 1]; got 1.5. State it by --low and --high.",
        ),
        ("0.5\nnan\n", [], 65, "row 2: scores must lie in the stated range"),
        ("0.5\nx\n", [], 65, "row 2: a score must be a number; got 'x'."),
        ("", [], 65, "the file must hold rollouts; it is empty."),
        (
            "a,b\n1,2\n",
            [],
            65,
            "Say which it is: --column success=YOURS, or --column score=YOURS with --low and --high",
        ),
        ("policy,score\nold,1\n", ["--policy", "new"], 65, "`policy` must be 'old'; got 'new'."),
        ("policy,score\nold,1\nnew,1\n", [], 64, "`--policy` must say which policy's scores are meant"),
        ("policy,score\nold,7\n", [], 65, "State the range that the scoring allows, --low and --high"),
        ("policy,score\nold,0,5\n", [], 65, "a row must have as many cells as the header"),
        ("policy\tscore\nold\t0,5\n", [], 65, "Write a decimal point: 0.5."),
        ("policy,scroe\nold,0.5\n", [], 65, "Is 'scroe' the score?"),
        ("policy,success\nold,0.5\n", [], 65, "say --column score=success, with --low and --high"),
        ("0.5\n", ["--quantile", "2"], 64, "`--quantile` must be strictly between 0 and 1; got 2.0."),
        ("0.5\n", ["--low", "1"], 64, "`--low` must be below `--high`"),
        ("0.5\n", ["--using", "dkw", "--figure", "f.svg"], 64, "`--using` must be one of ks, tail-tight; got 'dkw'."),
        ("0.5\n", ["--confidence", "95"], 64, "Write 0.95 for 95%."),
    ],
)
def test_bad_input_is_one_line(capsys, tmp_path, text, words, code, said):
    path = tmp_path / "scores.txt"
    path.write_text(text, encoding="utf-8")
    assert run(["band", str(path), *words]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1
    assert not out


def test_a_band_that_is_asked_for_is_not_silently_another(capsys, tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("0.5\n0.75\n" * 10_001)
    assert run(["band", str(path), "--using", "tail-tight", "--figure", str(tmp_path / "f.svg")]) == 64
    assert "must be at most 20,000 for `tail_tight`" in capsys.readouterr().err
    assert not (tmp_path / "f.svg").exists()


def test_missing_file_and_scores_out_of_range(capsys):
    assert run(["band", "nowhere.csv"]) == 65
    assert "nowhere.csv: there is no such file." in capsys.readouterr().err
    assert run(["band", "0.5", "7"]) == 64
    assert "score 2 is 7" in capsys.readouterr().err
    assert run(["band", "0.5", "scores.txt"]) == 64
    assert "must all be scores; got 'scores.txt'" in capsys.readouterr().err


def test_the_mean_beside_a_band_is_that_of_the_report(tmp_path, capsys):
    rows = "".join(f"a,{task},{score}\n" for task, score in (("x", 0.9), ("y", 0.1)) for _ in range(30))
    path = tmp_path / "results.csv"
    path.write_text("policy,task,score\n" + rows)
    assert run(("band", str(path))) == 0
    assert f"The mean by itself: {sf.mean_score(sf.read(path))}" in capsys.readouterr().out


def test_the_band_that_takes_long_is_left_out_of_many_scores(capsys, monkeypatch):
    monkeypatch.setattr("surefoot.cli.band.MOST_TAIL_TIGHT", 3)
    assert "tail-tight" in said(capsys, "band", "0.2", "0.9", "1.0")[1].lower()
    code, out, _ = said(capsys, "band", "0.2", "0.9", "1.0", "0.75")
    assert (code, "tail-tight" in out.lower()) == (0, False)
