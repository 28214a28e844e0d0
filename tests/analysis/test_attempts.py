"""pass@k from a file: problems are found, clusters counted, two policies compared on the problems that both met."""

import json

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.attempts import AttemptsCompared
from surefoot.cli.main import run


@pytest.fixture
def results(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        (
            model,
            f"p{problem:02}",
            f"d{problem % 6}",
            attempt,
            int(rng.random() < level * (0.4 + 0.2 * (problem % 4))),
        )
        for model, level in (("new", 0.8), ("old", 0.25))
        for problem in range(30)
        for attempt in range(10)
    ]
    frame = pl.DataFrame(rows, schema=["model", "problem_id", "document", "epoch", "success"], orient="row")
    path = tmp_path / "results.csv"
    frame.rename({"problem_id": "item_id"}).drop("document").write_csv(path)
    return path, frame


def test_a_file_gives_each_policys_pass_rate(results, capsys):
    path, frame = results
    assert run(("rate", str(path), "--pass-at", "5", "--json")) == 0
    new, old = json.loads(capsys.readouterr().out)
    tallies = [
        sf.Tally(int(part["success"].sum()), 10)
        for part in frame.filter(model="new").partition_by("problem_id", maintain_order=True)
    ]
    alone = sf.stats.mean_pass_at(tallies, 5)
    assert (new["policy"], new["problems"], new["fewest"]) == ("new", 30, 10)
    assert new["interval"]["low"] == pytest.approx(alone.low)
    assert old["interval"]["high"] < new["interval"]["low"]
    assert new["by"] == ["item_id"]
    assert run(("rate", str(path), "--pass-all", "3")) == 0
    assert "pass^3" in capsys.readouterr().out


def test_two_models_are_compared(results, capsys):
    path, _ = results
    assert run(("compare", str(path), "--first", "new", "--second", "old", "--pass-at", "5")) == 0
    out = capsys.readouterr().out
    assert "new against old" in out
    assert "the first is better" in out
    found = sf.compare_pass_rates(sf.read(path), "old", "new", attempts=5)
    assert found.gain.verdict is sf.Verdict.WORSE
    assert AttemptsCompared.from_dict(found.to_dict()) == found


def test_clusters_of_problems_are_counted(results):
    frame = results[1].rename({"problem_id": "item_id"})
    plain, declared = (sf.pass_rates(sf.read(frame).declare(**said), 5)[0] for said in ({}, {"cluster": "document"}))
    assert plain.by == ("document", "item_id")  # of six documents each is a setting
    alike = [f"d{problem % 6}" for problem in range(30)]
    of = [
        sf.Tally(int(part["success"].sum()), 10)
        for part in frame.filter(model="new").partition_by("item_id", maintain_order=True)
    ]
    wanted = sf.stats.mean_pass_at(of, 5, clusters=alike)
    assert (declared.interval.low, declared.interval.high) == pytest.approx((wanted.low, wanted.high))
    assert declared.interval.method == wanted.method != plain.interval.method


def test_what_cannot_be_judged_is_refused(results, capsys, tmp_path):
    path, frame = results
    assert run(("rate", str(path), "--pass-at", "11")) == 65
    assert "every problem must have at least 11 attempts; 'new' has 10 at item_id 'p00'" in capsys.readouterr().err
    bare = tmp_path / "bare.csv"
    frame.select("model", "success").write_csv(bare)
    assert run(("rate", str(bare), "--pass-at", "2")) == 65
    assert "must tell problems apart" in capsys.readouterr().err
    assert run(("rate", "38/50", "--pass-at", "2")) == 64
    assert "needs a file of results" in capsys.readouterr().err


def test_the_rates_of_a_file(results, capsys):
    assert run(("rate", str(results[0]))) == 0
    out = capsys.readouterr().out
    assert "new: success" in out
    assert "For items like these 30:" in out  # attempts at one item are not independent


@pytest.mark.parametrize(("clusters", "method"), [(1, "pass@2"), (6, "pass@2"), (3, "pass@2, guarded cluster t")])
def test_one_cluster_or_one_for_each_problem_is_as_good_as_none(clusters, method):
    rows = [("new", f"p{place}", f"d{place % clusters}", (place + k) % 3 == 0) for place in range(6) for k in range(4)]
    frame = pl.DataFrame(rows, schema=["policy", "item", "cluster", "success"], orient="row")
    (found,) = sf.pass_rates(sf.read(frame).declare(cluster="cluster"), 2)
    assert found.interval.method.startswith(method)
    (plain,) = sf.pass_rates(sf.read(frame.drop("cluster")), 2)
    assert (found.interval == plain.interval) == (clusters != 3)
    assert found.interval.estimate == pytest.approx(plain.interval.estimate)


def test_policies_without_a_common_problem_or_a_known_success_are_refused():
    rows = [("new", "p0", 1), ("new", "p0", 0), ("old", "p1", 1), ("old", "p1", 1), ("none", "p2", None)]
    rows += [("all", item, 1) for item in ("p0", "p1", "p2")]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "item", "success"], orient="row")).declare(unit="item")
    with pytest.raises(sf.DataError, match="'new' and 'old' must share a problem; they share none"):
        sf.compare_pass_rates(table, "new", "old", attempts=2)
    with pytest.raises(sf.DataError, match="'none' must have a known success; got none"):
        sf.pass_rates(table.where(policy="none"), 2)
    (found,) = sf.pass_rates(table.where(policy="new"), 2)
    assert (found.interval.estimate, found.fewest) == (1.0, 2)  # of two attempts one succeeds, whichever it is
