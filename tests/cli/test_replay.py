"""Tests of `surefoot.cli.replay`."""

import json

import numpy as np

from surefoot.cli.main import run
from surefoot.cli.main import run as surefoot
from tests.support.ranking_replays import outcomes
from tests.support.ranking_replays import table as ranking_replays_table
from tests.support.replays import table


def test_the_command_prints_stops_totals_and_a_figure(tmp_path, capsys):
    table().write_csv(tmp_path / "results.csv")
    figure = tmp_path / "evidence.svg"
    code = surefoot(
        ["replay", str(tmp_path / "results.csv"), "--first", "new", "--second", "old", "--figure", str(figure)]
    )
    out = capsys.readouterr().out
    assert code == 0
    assert "FHM" in out
    assert "saved" in out
    assert figure.read_text().startswith("<?xml")
    assert surefoot(["replay", str(tmp_path / "results.csv"), "--first", "new", "--second", "old", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Replay"


def test_the_command_reads_plain_pairs(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text("first,second\n" + "1,0\n" * 12)
    assert surefoot(["replay", str(path), "--claim", "either"]) == 0
    assert "first v second" in capsys.readouterr().out
    np.save(tmp_path / "pairs.npy", np.array([[1.0, 0.0]] * 12))
    assert surefoot(["replay", str(tmp_path / "pairs.npy")]) == 0
    np.save(tmp_path / "bad.npy", np.zeros(3))
    assert surefoot(["replay", str(tmp_path / "bad.npy")]) == 65
    assert "two columns" in capsys.readouterr().err
    (tmp_path / "bad.npy").write_bytes(b"no array")
    assert surefoot(["replay", str(tmp_path / "bad.npy")]) == 65
    assert "bad.npy: the array must have a readable header" in capsys.readouterr().err
    path.write_text("1,0\n1,x\n")
    assert surefoot(["replay", str(path)]) == 65
    assert "pairs.csv, row 2: a row must hold two scores" in capsys.readouterr().err
    path.write_text("1,0\n2,0\n")
    assert surefoot(["replay", str(path)]) == 64
    assert "the range of the score beforehand: --low and --high." in capsys.readouterr().err
    assert surefoot(["replay", str(tmp_path / "none.csv")]) == 65


def test_the_command_takes_two_files_in_their_order_like_compare(tmp_path, capsys):
    for name in ("new", "old"):
        rows = "".join(f"{seed},{int(name == 'new')}\n" for seed in range(20))
        (tmp_path / f"{name}.csv").write_text(f"seed,success\n{rows}")
    both = [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")]
    assert surefoot(["replay", *both]) == 0
    assert "Pairs to a decision: new against old" in capsys.readouterr().out
    assert surefoot(["replay", *reversed(both)]) == 0
    assert "Pairs to a decision: old against new" in capsys.readouterr().out
    assert surefoot(["replay", *both, "--first", "old"]) == 0
    assert "Pairs to a decision: old against new" in capsys.readouterr().out
    assert surefoot(["replay", *both, "--first", "older"]) == 64
    assert "new, old" in capsys.readouterr().err


def test_the_command_ranks_three_policies(capsys, tmp_path):
    file = tmp_path / "results.csv"
    ranking_replays_table(outcomes((0.9, 0.5, 0.1), 60, 6)).write_csv(file)
    assert run(("replay", str(file))) == 0
    assert "All places are settled" in capsys.readouterr().out
    assert run(("replay", str(file), "--question", "best", "--json", "--horizon", "50")) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rankings"][0]["state"]["rule"]["question"] == "best"
    assert said["rankings"][0]["horizon"] == 50
    assert run(("replay", str(file), "--claim", "either")) == 64
    assert "`--claim` must be left out with many policies" in capsys.readouterr().err
    assert run(("replay", str(file), "--first", "a", "--second", "b")) == 0
    assert "FHM" in capsys.readouterr().out


def test_the_command_replays_a_list_whose_order_was_drawn(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text("".join(f"{int(i % 5 > 0)},{int(i % 5 > 2)}\n" for i in range(60)))
    assert surefoot(["replay", str(path), "--population", "80", "--claim", "either"]) == 64
    assert "11 to 21% of such verdicts were false" in capsys.readouterr().err
    assert surefoot(["replay", str(path), "--population", "80", "--claim", "either", "--randomised"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "On these 80 items first is better (" in out
    assert "It says nothing about other items." in out


def test_the_command_replays_each_task_and_the_measure_that_is_named(tmp_path, capsys):
    rows = [
        f"{policy},{task},{n},{int(policy == 'new')},{0.5 + 0.1 * (policy == 'new')}"
        for task in ("cut", "pour")
        for n in range(12)
        for policy in ("new", "old")
    ]
    path = tmp_path / "results.csv"
    path.write_text("policy,task,seed,success,score\n" + "\n".join(rows))
    asked = ["replay", str(path), "--first", "new", "--second", "old", "--rule", "mixture"]
    assert surefoot([*asked, "--measure", "score"]) == 0
    out = capsys.readouterr().out
    assert "new against old, score, claim 'first better'" in out
    assert "\n all " in out
    assert surefoot([*asked, "--measure", "speed"]) == 64
    assert "`--measure` must be one of success, score; got 'speed'." in capsys.readouterr().err
    figure = tmp_path / "f.svg"
    assert surefoot([*asked, "--pool-runs", "--pooled", "--json", "--figure", str(figure)]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Replay"
    assert figure.exists()


def test_blank_lines_between_pairs_are_passed_over(tmp_path, capsys):
    (tmp_path / "pairs.csv").write_text("first,second\n" + "1,0\n\n" * 12)
    assert surefoot(["replay", str(tmp_path / "pairs.csv"), "--rule", "mixture"]) == 0
    assert "12" in capsys.readouterr().out
