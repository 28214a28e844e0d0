"""Comparisons corrected by human labels, from a table: items, epochs, documents, and when there is no verdict."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.judged_gains import _kappa, judge_gains
from surefoot.core.record import Record
from surefoot.stats import judge_corrected_gain
from surefoot.table.labelling import Labelling
from tests.support.judged_gains import leaning, table


def gaps(frame, column):
    wide = frame.group_by("item", "policy").agg(pl.col(column).mean()).pivot("policy", index="item", values=column)
    return dict(zip(wide["item"], (wide["a"] - wide["b"]).to_list(), strict=True))


@pytest.mark.parametrize(("epochs", "documents"), [(1, 0), (3, 0), (1, 4), (3, 4)])
def test_items_are_means_over_epochs_in_their_documents(epochs, documents):
    frame = table(epochs=epochs, documents=documents)
    found = sf.judged_gain(sf.read(frame), "a", "b")
    judge, human = gaps(frame, "success"), gaps(frame, "human")
    keys = sorted(judge)
    of = [int(key[1:]) // documents for key in keys] if documents else None
    wanted = judge_corrected_gain([judge[key] for key in keys], [human[key] for key in keys], of)
    assert found.gain.interval.low == pytest.approx(wanted.gain.interval.low)
    assert found.gain.interval.high == pytest.approx(wanted.gain.interval.high)
    assert (found.found.items, found.found.labels) == (300, 80)
    assert found.found.documents == wanted.documents
    assert found.labels == 160 * epochs
    assert found.refused is None


def test_epochs_are_counted_whatever_their_column_is_called():
    frame = table(epochs=3, documents=4)
    wanted = sf.judged_gain(sf.read(frame), "a", "b").gain
    for name in ("seed", "trial", "repeat", "attempt"):
        assert sf.judged_gain(sf.read(frame.rename({"epoch": name})), "a", "b").gain == wanted
    assert sf.judged_gain(sf.read(frame.drop("epoch")), "a", "b").gain == wanted


def test_the_order_of_rows_changes_nothing():
    frame = table(epochs=3, documents=4)
    wanted = sf.judged_gain(sf.read(frame), "a", "b")
    for seed in range(5):
        assert sf.judged_gain(sf.read(frame.sample(fraction=1.0, shuffle=True, seed=seed)), "a", "b") == wanted
    assert sf.judged_gain(sf.read(frame.reverse()), "a", "b") == wanted


def test_a_lenient_judge_moves_the_judged_gain_and_not_the_corrected_one():
    frame = table(lean=0.5, rates=(0.55, 0.65), items=600, labels=150)
    rollouts = sf.read(frame)
    judge = np.mean(list(gaps(frame, "success").values()))
    found = sf.judged_gain(rollouts, "a", "b")
    assert judge > 0.05
    assert found.gain.verdict is sf.Verdict.WORSE


def test_scores_are_corrected_on_their_own_scale():
    frame = table(epochs=2).with_columns((10.0 * pl.col("success")).alias("score"), pl.col("human") * 10.0)
    found = sf.judged_gain(sf.read(frame.drop("success"), high=10.0), "a", "b", measure="score")
    plain = sf.judged_gain(sf.read(table(epochs=2)), "a", "b")
    assert found.gain.interval.scale == "score gain"
    assert found.gain.interval.low == pytest.approx(10 * plain.gain.interval.low)
    assert found.alike is None


def test_labels_of_scores_say_nothing_of_success():
    frame = table().with_columns(pl.col("human") * 7.0)
    found = sf.judged_gain(sf.read(frame.filter(pl.col("human").is_null() | (pl.col("human") > 1))), "a", "b")
    assert found is None


def test_no_labels_no_judged_gain():
    assert sf.judged_gain(sf.read(table(labels=0)), "a", "b") is None


def test_labels_of_one_policy_give_its_rate_and_the_tipping_point():
    found = sf.judged_gain(sf.read(table(both=False)), "a", "b")
    assert found.gain is None
    assert found.refused.kind == "labels of one policy"
    values = found.refused.values
    assert (values["policy"], values["other"]) == ("a", "b")
    assert values["off"] == pytest.approx(values["said"] - values["estimate"])
    assert "Only a carries human labels: its gain over b is not known." in str(found)


def test_labels_of_different_items_are_refused():
    frame = table()
    place = pl.col("item").str.strip_prefix("q").cast(pl.Int64)
    mine = ((pl.col("policy") == "a") & (place % 2 == 0)) | ((pl.col("policy") == "b") & (place % 2 == 1))
    frame = frame.with_columns(pl.when(mine).then(pl.col("human")))
    found = sf.judged_gain(sf.read(frame), "a", "b")
    assert (found.gain, found.refused.kind) == (None, "labels of different items")
    assert str(found.refused) == "No item carries labels of both a and b: label both on the same items."


def test_labels_of_one_document_are_refused():
    frame = table().with_columns(pl.lit("d").alias("page"))
    found = sf.judged_gain(sf.read(frame).declare(cluster="page"), "a", "b")
    assert (found.gain, found.refused.kind) == (None, "labels of one cluster")


def test_labels_without_items_are_refused():
    found = sf.judged_gain(sf.read(table().drop("item")), "a", "b")
    assert (found.gain, found.refused.kind) == (None, "labels without items")


def test_labels_that_differ_from_the_rest_give_no_verdict():
    frame = table(labels=300, rates=(0.75, 0.5))
    judge = gaps(frame, "success")
    chosen = [key for key in sorted(judge) if judge[key] == 1][:60]
    frame = frame.with_columns(pl.when(pl.col("item").is_in(chosen)).then(pl.col("human")))
    found = sf.judged_gain(sf.read(frame), "a", "b")
    assert found.refused.kind == "labels unlike the rest"
    assert found.refused.values["z"] > 2.81
    assert found.gain.verdict is sf.Verdict.UNDECIDED
    assert found.found.gain.verdict is sf.Verdict.BETTER
    assert found.needed is None


def test_labels_of_single_policies_beside_pairs_are_counted():
    frame = table(labels=80)
    first = frame.filter(pl.col("human").is_not_null() & (pl.col("policy") == "a"))["item"][0]
    drop = (pl.col("item") == first) & (pl.col("policy") == "b")
    found = sf.judged_gain(sf.read(frame.with_columns(pl.when(~drop).then(pl.col("human")))), "a", "b")
    assert found.found.labels == 79
    assert [note.values for note in found.notes if note.kind == "labels not used"] == [{"count": 1}]


def test_what_the_judge_bought_and_how_many_labels_would_do_are_values():
    found = sf.judged_gain(sf.read(table(labels=60, rates=(0.66, 0.64))), "a", "b")
    assert found.gain.verdict is sf.Verdict.UNDECIDED
    assert found.needed is not None
    kinds = [note.kind for note in found.notes]
    assert kinds == ["labels used", "judge used", "labels declared random"]
    few = sf.judged_gain(sf.read(table(labels=12)), "a", "b")
    assert [note.values["why"] for note in few.notes if note.kind == "judge left out"] == ["few labels"]
    assert few.found.guaranteed
    assert "Labels alone (guaranteed): below 30 labels the judge does not help." in str(few)


def test_every_parameter_matters():
    rollouts = sf.read(table())
    plain = sf.judged_gain(rollouts, "a", "b")
    assert sf.judged_gain(rollouts, "b", "a").gain.estimate == pytest.approx(-plain.gain.estimate)
    assert sf.judged_gain(rollouts, "a", "b", confidence=0.9).gain.interval.width < plain.gain.interval.width
    assert sf.judged_gain(rollouts, "a", "b", margin=0.6).gain.verdict is sf.Verdict.SAME
    assert sf.judged_gain(rollouts, "a", "b", method="labels").found.left_out.value == "asked"


def test_clusters_that_cross_items_make_one_document_of_them():
    frame = table(epochs=2, items=60, labels=40)
    place = pl.col("item").str.strip_prefix("q").cast(pl.Int64)
    crossed = pl.when(pl.col("epoch") == 0).then(place // 2).otherwise((place + 1) // 2 + 1000)
    one = sf.judged_gain(sf.read(frame.with_columns(crossed.cast(pl.String).alias("cluster"))), "a", "b")
    assert one.refused.kind == "labels of one cluster"


def test_it_is_written_and_read_back():
    for frame in (table(), table(both=False)):
        found = sf.judged_gain(sf.read(frame), "a", "b")
        again = Record.from_dict(json.loads(json.dumps(found.to_dict())))
        assert again == found
        assert str(again) == str(found)


def test_labels_decide_a_comparison_and_the_judge_stands_below(tmp_path):
    frame = leaning(tmp_path / "runs.csv")
    by_judge = sf.compare(sf.read(frame.drop("human")), "a", "b")
    found = sf.compare(sf.read(frame), "a", "b")
    assert by_judge.verdict is sf.Verdict.BETTER
    assert found.verdict is sf.Verdict.WORSE
    assert found.uncorrected == by_judge.gain
    assert found.gain == sf.judged_gain(sf.read(frame), "a", "b").gain
    assert found.of_first.estimate < found.of_second.estimate
    assert by_judge.of_first.estimate > by_judge.of_second.estimate
    assert "by the judge" in [note.kind for note in found.notes]
    again = Record.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found


def test_pass_or_fail_is_no_label_of_scores_up_to_ten() -> None:
    rows = [
        (p, f"i{n}", float((3 * n + more) % 11), float(n % 2)) for p, more in (("a", 1), ("b", 0)) for n in range(40)
    ]
    frame = pl.DataFrame(rows, schema=["policy", "item", "score", "human"], orient="row")
    table = sf.read(frame, high=10.0)
    found = sf.judged_gain(table, "a", "b", measure="score")
    assert found is not None
    assert found.found is None
    assert "label on the scale of the scores" in str(found)
    assert sf.human_corrections(table, measure="score") == ()  # and no model's mean of ten points is corrected by them
    assert sf.compare(table, "a", "b", measure="score").of_first == sf.mean_score(table.where(policy="a"))
    ten = sf.judged_gain(sf.read(frame.with_columns(pl.col("human") * 10), high=10.0), "a", "b", measure="score")
    assert ten is not None
    assert ten.found is not None


def test_rollouts_of_no_item_are_left_out():
    frame = table(items=60, labels=40)
    nameless = frame.head(3).with_columns(item=pl.lit(None, pl.String))
    wanted = sf.judged_gain(sf.read(frame), "a", "b")
    assert sf.judged_gain(sf.read(pl.concat([frame, nameless])), "a", "b") == wanted


def test_what_the_judge_says_of_each_item_before_anything_is_labelled():
    rows = [("a", "x", 1), ("a", "x", 0), ("a", "y", 1), ("b", "x", 0), ("b", "y", 1), ("b", "z", 1), ("c", "x", None)]
    read = sf.read(pl.DataFrame(rows, schema=["policy", "item", "success"], orient="row")).declare(unit="item")
    assert judge_gains(read.where(policy=["a", "b"])) == [0.5, 0.0]
    assert judge_gains(read.where(policy=["a", "c"])) == []  # nothing is known of c


def test_kappa_of_two_people_by_hand():
    shared = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 0.0)]
    assert _kappa(shared) == pytest.approx((0.75 - 0.5) / (1 - 0.5))  # by chance 1/2 x 1/4 + 1/2 x 3/4
    assert _kappa(shared[:1]) is None
    assert _kappa([(1.0, 1.0)] * 5) is None  # one label only
    assert _kappa([(float(score), float(score)) for score in range(20)]) == pytest.approx(1.0)
    assert _kappa([(float(score), float(score)) for score in range(21)]) is None  # scores


def test_how_the_labels_came_about_is_said():
    rollouts = sf.read(table(items=60, labels=40))
    how = Labelling("labels.csv", 80, drawn=40, seed=7, raters=2, twice=3, alike=2, shared=((1.0, 1.0), (0.0, 1.0)))
    found = sf.judged_gain(replace(rollouts, labelling=how), "a", "b")
    assert found.drawn
    told = {note.kind: note.values for note in found.notes}
    assert told["labels drawn"] == {"drawn": 40, "seed": 7}
    assert told["several raters"] == {"raters": 2, "twice": 3, "alike": 2, "kappa": pytest.approx(0.0)}
    some = sf.judged_gain(replace(rollouts, labelling=replace(how, missing=5, twice=0)), "a", "b")
    assert not some.drawn
    assert [note.kind for note in some.notes][-1] == "labels missing"
    alone = sf.judged_gain(replace(rollouts, labelling=Labelling("labels.csv", 80, using="labels")), "a", "b")
    assert alone.found.left_out.value == "asked"
    assert [note.kind for note in alone.notes][-1] == "labels declared random"


@pytest.mark.parametrize("low", [0, 1])
def test_labels_of_pass_and_fail_are_not_scores_whatever_the_scale_begins_with(low):
    rows = [(p, f"q{n}", 1 + n % 5, n % 2 if n < 80 else None) for p in ("new", "old") for n in range(200)]
    frame = pl.DataFrame(rows, schema=["policy", "item", "score", "human"], orient="row")
    table = sf.read(frame, low=low, high=5)
    assert sf.judged_gain(table, "new", "old", measure="score").refused.kind == "labels on another scale"
    assert sf.human_corrections(table, measure="score") == ()
