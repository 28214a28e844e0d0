"""Tests of `surefoot.cli.labels`."""

import json

from surefoot.cli.main import run
from tests.support.label_files import frame

# --- The command


def test_the_command_draws_and_does_not_overwrite(tmp_path, capsys):
    frame(2).drop("human").write_csv(tmp_path / "runs.csv")
    out = tmp_path / "labels.csv"
    asked = ["labels", "draw", str(tmp_path / "runs.csv"), "--n", "10", "--seed", "7", "-o", str(out)]
    assert run(asked) == 0
    said = capsys.readouterr().out
    assert "10 items of 60 drawn at random, seed 7: 40 rollouts to label." in said
    assert "judge agrees on" in said
    first = out.read_text(encoding="utf-8")
    assert len(first.splitlines()) == 42
    assert (tmp_path / "labels.key.csv").exists()
    assert run(asked) == 64
    assert "must not overwrite" in capsys.readouterr().err
    assert run([*asked[:-3], "8", *asked[-2:], "--force"]) == 0
    assert out.read_text(encoding="utf-8") != first


def test_labels_are_drawn_in_the_words_of_the_file(tmp_path, capsys):
    rows = [f"{model},q{n},{n % 2}" for model in ("a", "b") for n in range(8)]
    (tmp_path / "runs.csv").write_text("model,question,correct\n" + "\n".join(rows), encoding="utf-8")
    out = tmp_path / "labels.csv"
    assert run(["labels", "draw", str(tmp_path / "runs.csv"), "--n", "3", "--seed", "7", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "6 samples to label" in said
    assert "which model is behind each code" in said
    assert "rollout" not in said


def test_labels_are_drawn_into_a_folder_that_exists(tmp_path, capsys):
    out = tmp_path / "none" / "labels.csv"
    assert run(["labels", "draw", "runs.csv", "--n", "3", "--seed", "7", "-o", str(out)]) == 64
    assert "`--output` must be in a folder that exists; there is no" in capsys.readouterr().err


def test_labels_of_one_policy_need_no_key_and_the_draw_is_json_too(tmp_path, capsys):
    rows = [f"{model},q{n},{n % 2}" for n in range(8) for model in ("a", "b")][:-1]
    (tmp_path / "runs.csv").write_text("model,question,correct\n" + "\n".join(rows), encoding="utf-8")
    out = tmp_path / "labels.csv"
    asked = ["labels", "draw", str(tmp_path / "runs.csv"), "--seed", "7", "-o", str(out), "--n"]
    assert run([*asked, "1"]) == 0
    assert "1 item could not be drawn: some model has no outcome there." in capsys.readouterr().out
    asked += ["3", "--force", "--where", "model=a"]
    assert run(asked) == 0
    assert "behind each code" not in capsys.readouterr().out
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "LabelDraw"
