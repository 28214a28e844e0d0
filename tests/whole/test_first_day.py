"""What a newcomer types on the first day, and what the answer must say."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"act,pick,{seed},{seed % 2}\n" for seed in range(6))
    Path("act.csv").write_text(f"policy,task,seed,success\n{rows}", encoding="utf-8")
    rows = "".join(f"dp,pick,{seed},{'' if seed == 3 else 1}\n" for seed in range(6))
    Path("dp.csv").write_text(f"policy,task,seed,success\n{rows}", encoding="utf-8")
    Path("odd.csv").write_text("who,Success Rate (%)\nact,100\ndp,0\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("compare 17/20 14/20 --margin 5 --gate", 64, "got 5.0. Write 0.05 for 5 points."),
        ("compare act.csv dp.csv --margin 1 --gate", 64, "Write 0.01 for 1 point."),
        ("plan compare --first 0.9 --second 0.9 --margin 10", 64, "Write 0.1 for 10 points."),
        ("plan compare --first 90 --second 60", 64, "`--second` must be between 0 and 1; got 60.0. Write 0.6 for 60%."),
        ("plan compare --first 0.9 --second 0.9", 64, "`--first` must differ from `--second`"),
        ("rate nowhere.csv", 64, "There is no file nowhere.csv."),
        ("rate 76%", 64, "Say of how many rollouts."),
        ("rate 38/50 --requires 60", 64, "`--requires` must be strictly between 0 and 1; got 60.0. Write 0.6 for 60%."),
        ("rate 38/50 --requires 60%", 64, "`--requires` must be a number; got '60%'. Write 0.6 for 60%."),
        ("rate 38/50 -c 95%", 64, "`--confidence` must be a number; got '95%'. Write 0.95 for 95%."),
        ("rate 38/50 --seed=x", 64, "`--seed` must be a whole number; got 'x'."),
        (
            "rate 38/50 --lower --using optimal",
            64,
            "Chance enters this result: give a seed, such as --seed 7",
        ),
        ("compare 17 20 14 20", 64, "got 17 20 14 20. Write 17/20 14/20."),
        ("rates 38/50", 64, "Did you mean 'rate'"),
        ("compare 17/20 act.csv", 64, "two tallies or files, not both; got 17/20 act.csv."),
        ("compare act.csv act.csv", 65, "got one, 'act'. If the files use one name for two, name them: --policy new"),
        ("compare act.csv", 65, "Two policies must be there; got one, 'act'."),
        (
            "compare act.csv dp.csv --first act --second pd",
            65,
            "`--second` must be one of the policies 'act', 'dp'; got",
        ),
        ("compare odd.csv --column who=policy", 64, "got 'who=policy'. Put 'policy' first, your own name last."),
        ("compare odd.csv --column policy", 64, "must be NAME=YOURS, such as policy=method; got 'policy'."),
        ("compare act.csv odd.csv --column policy=who", 65, "This holds for every file."),
    ],
)
def test_a_slip_is_answered_with_what_to_write(folder, capsys, line, code, says):
    assert run(line.split()) == code
    assert says in capsys.readouterr().err


def test_a_hint_can_be_pasted_into_a_shell(folder, capsys):
    assert run(["compare", "odd.csv", "--column", "policy=who", "--column", "success=Success Rate (%)"]) == 65
    assert "say --column score='Success Rate (%)', with --low and --high" in capsys.readouterr().err


def test_columns_that_reading_added_are_not_called_the_users(folder, capsys):
    assert run(["compare", "odd.csv", "act.csv"]) == 65
    assert "'source'" not in capsys.readouterr().err


def test_pairs_without_an_outcome_are_counted(folder, capsys):
    assert run(["compare", "act.csv", "dp.csv"]) == 0
    out = capsys.readouterr().out
    assert "n=5" in out
    assert "1 rollout has no known success and was left out." in out


def test_repeats_are_clusters_whether_a_column_numbers_them_or_not(folder, capsys):
    rows = [(model, item, sample) for model in "ab" for item in range(8) for sample in range(2)]
    text = "".join(f"{model},{item},{sample},{(item + sample) % 2}\n" for model, item, sample in rows)
    Path("llm.csv").write_text(f"policy,condition,sample,success\n{text}", encoding="utf-8")
    assert run(["compare", "llm.csv"]) == 0
    bare = capsys.readouterr().out
    assert "unit condition (8), repeat sample (2)" in bare
    for said in ("--repeat", "--ignore"):
        assert run(["compare", "llm.csv", said, "sample"]) == 0
        assert capsys.readouterr().out.splitlines()[:3] == bare.splitlines()[:3]  # both targets, rates


def test_a_replay_without_scores_names_the_option_for_successes(folder, capsys):
    Path("s.csv").write_text("policy,success,score\na,1,\nb,0,\n", encoding="utf-8")
    assert run(["replay", "s.csv", "--first", "a", "--second", "b", "--measure", "score"]) == 65
    assert "Successes are there: --measure success." in capsys.readouterr().err


def test_a_plan_edited_after_the_start_is_told_what_fixes_it(folder, capsys):
    assert run(["study", "create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--yes"]) == 0
    plan = Path("plan.toml")
    plan.write_text(plan.read_text(encoding="utf-8").replace("horizon = 20", "horizon = 40"), encoding="utf-8")
    capsys.readouterr()
    assert run(["study", "create", "plan.toml", "--yes"]) == 65
    out, err = capsys.readouterr()
    assert out == ""  # no expectations of a plan that will not be fixed
    assert "study.db already holds a study, and its plan is fixed" in err
    assert "`surefoot study amend`" in err
    assert run(["study", "create", "plan.toml", "--store", "other.db", "--yes"]) == 0


def test_a_run_that_is_stopped_says_how_to_go_on(folder, capsys, monkeypatch):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert run(["study", "create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--yes"]) == 0
    with monkeypatch.context() as patched:
        patched.setattr("surefoot.runners.commands.subprocess.Popen", stopped)
        assert run(["study", "run", "study.db", "--command", "true"]) == 130
    assert "the turn was handed back; the same command goes on from there." in capsys.readouterr().err
    assert run(["study", "run", "study.db", "--command", "echo success", "--turns", "1"]) == 0
    assert "turn 1 (" in capsys.readouterr().out


def test_no_margin_makes_every_two_policies_the_same():
    with pytest.raises(ValueError, match="`margin` must be below 1"):
        sf.stats.exact_gain(sf.Tally(1, 20), sf.Tally(19, 20), margin=5)
    frame = pl.DataFrame({"policy": ["a", "a", "b", "b"], "score": [10, 20, 30, 40]})
    scored = sf.read(frame, low=0, high=100)
    assert sf.compare(scored, "a", "b", margin=5).gain.margin == 5.0
    with pytest.raises(ValueError, match="`margin` must be below 100"):
        sf.compare(scored, "a", "b", margin=100)


LAB = """Date,Checkpoint name,Task ,start pos,Succeeded? (Y/N),Progress
3/11,ACT v2,cup,1,Y,1
3/11,old,cup,1,N,0.5
4/11,ACT V2,cup,2,n,0
,,,,,
4/11,old,cup,2,yes,1
"""


def test_a_sheet_kept_by_hand_is_read_as_it_is(folder, capsys):
    Path("lab.csv").write_text(LAB, encoding="utf-8")
    rollouts = sf.read("lab.csv")
    assert rollouts.policies == ("ACT V2", "ACT v2", "old")
    assert (len(rollouts), rollouts.where(policy="old").tally()) == (4, sf.Tally(1, 2))
    assert "Left out, blank: line 5." in map(str, rollouts.notes)
    assert run(["compare", "lab.csv"]) == 64
    assert "'ACT V2' and 'ACT v2' differ by letter case or spaces only" in capsys.readouterr().err
    Path("lab.csv").write_text(LAB.replace("V2", "v2").replace("\n", "\r\n"), encoding="utf-8")
    assert run(["compare", "lab.csv", "--unit", "start pos"]) == 0
    assert "unit start pos (2), paired by start pos" in capsys.readouterr().out
    assert len(sf.read("lab.csv")) == 4


@pytest.mark.parametrize(
    ("old", "new", "words", "says"),
    [
        ("Y,1", "maybe?,1", "", "got 'maybe?'. Leave the cell empty when nobody knows."),
        (
            "4/11,old",
            "4/11,",
            "",
            "row 4, line 6: `policy` (column 'Checkpoint name') must name a checkpoint in every row; got an",
        ),
        ("Date", "A title,,,,,\nDate", "", "Is the header further down? Delete the lines above it."),
        ("", "", "--by Progress", "`--by` must name a column of labels; 'Progress' is the outcome."),
        ("", "", "--column task=Taks", "the column must have the same name in all of them."),
    ],
)
def test_what_a_hand_gets_wrong_is_told_with_its_cure(folder, capsys, old, new, words, says):
    Path("lab.csv").write_text(LAB.replace("V2", "v2").replace(old, new, 1), encoding="utf-8")
    assert run(["compare", "lab.csv", *words.split()]) in (64, 65)
    assert says in capsys.readouterr().err


def test_a_score_outside_its_range_contradicts_nothing():
    frame = pl.DataFrame({"policy": ["a", "a"], "score": [50.0, 100.0], "success": [0, 1]})
    assert [one.about for one in sf.audit(sf.read(frame)).findings if one.serious] == ["a score outside its range"]
