"""Tests of `surefoot.cli.label_options`."""

import json

import polars as pl

from surefoot.cli.main import run
from tests.support.judged_gains import leaning


def test_labels_from_a_file_on_every_command(tmp_path, capsys):
    frame = leaning(tmp_path / "all.csv")
    runs = tmp_path / "runs.csv"
    frame.drop("human").write_csv(runs)
    labels = tmp_path / "labels.csv"
    frame.filter(pl.col("human").is_not_null()).select("item", "policy", "human").write_csv(labels)
    two = ["--first", "a", "--second", "b"]
    assert run(["compare", str(runs), *two, "--human", str(labels), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["gain"]["verdict"], found["uncorrected"]["verdict"]) == ("worse", "better")
    assert run(["rate", str(runs), "--human", str(labels)]) == 0
    rated = capsys.readouterr().out
    assert "a: corrected by 200 human labels" in rated
    assert "a by the judge alone, not corrected:" in rated
    assert run(["rate", str(runs), "--human", str(labels), "--json"]) == 0
    assert {one["policy"] for one in json.loads(capsys.readouterr().out)} == {"a", "b"}
    assert run(["rate", str(runs), "--human", str(labels), "--pass-at", "1"]) == 64
    assert run(["rate", "3/4", "--human", str(labels)]) == 64
    assert "`--human` needs a file of results" in capsys.readouterr().err
    assert run(["rank", str(runs), "--human", str(labels)]) == 0
    ranked = capsys.readouterr().out
    assert ranked.index("\n b ") < ranked.index("\n a ")
    assert "corrected by human labels" in ranked
    assert run(["report", str(runs), "--human", str(labels), "-o", str(tmp_path / "page.md")]) == 0
    assert "By the judge alone" in (tmp_path / "page.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert run(["compare", "17/20", "14/20", "--human", str(labels)]) == 64
    assert "`--human` needs a file of results" in capsys.readouterr().err
    assert run(["compare", str(runs), *two, "--labels-method", "labels"]) == 64
    assert "must come with human labels" in capsys.readouterr().err
    assert run(["compare", str(runs), *two, "--human", str(labels), "--labels-method", "best"]) == 64
    labels.write_text("item,policy,human\nq1,nobody,1\n", encoding="utf-8")
    assert run(["compare", str(runs), *two, "--human", str(labels)]) == 65
    assert "labels.csv, row 1: `policy` must be in the table" in capsys.readouterr().err


def test_two_runs_are_corrected_too(tmp_path, capsys):
    frame = leaning(tmp_path / "all.csv")
    for policy, name in (("a", "pr.csv"), ("b", "main.csv")):
        part = frame.filter(pl.col("policy") == policy).with_columns(pl.lit("model").alias("policy"))
        part.drop("human").write_csv(tmp_path / name)
        part.filter(pl.col("human").is_not_null()).select(
            "item", "policy", "human", pl.lit(name).alias("source")
        ).write_csv(tmp_path / f"labels-{name}")
    labels = tmp_path / "labels.csv"
    pl.concat([pl.read_csv(tmp_path / f"labels-{name}") for name in ("pr.csv", "main.csv")]).write_csv(labels)
    asked = ["compare", str(tmp_path / "pr.csv"), str(tmp_path / "main.csv"), "--human", str(labels), "--gate"]
    assert run(asked) == 1
    assert "By the judge alone, not corrected: +" in capsys.readouterr().out


def test_mean_scores_are_corrected_as_rates_are(tmp_path, capsys):
    scores = tmp_path / "scores.csv"
    rows = [
        f"{model},q{n},{1 + n % 4 + (model == 'a')},{1 + n % 4 if n < 120 else ''}"
        for model in "ab"
        for n in range(200)
    ]
    scores.write_text("\n".join(["model,question,score,human", *rows]) + "\n")
    asked = ["rate", str(scores), "--low", "1", "--high", "5"]
    assert run(asked) == 0
    said = capsys.readouterr().out
    assert said.index("a: corrected by 120 human labels 2.500") < said.index(
        "a by the judge alone, not corrected: 3.500"
    )
    assert run([*asked, "--weights", "units"]) == 64
    rows = [f"{model},q{n},{1 + n % 4},{n % 2}" for model in "ab" for n in range(200)]
    scores.write_text("\n".join(["model,question,score,human", *rows]) + "\n")
    assert run(asked) == 0
    assert "By the judge alone: the human labels cannot correct it." in capsys.readouterr().out
