"""Tests of `surefoot.table.label_draws`."""

import csv
import json

import polars as pl
import pytest

import surefoot as sf
from surefoot.core.record import Record
from surefoot.table.label_draws import Head
from tests.support.label_files import frame, unlabelled

# --- The draw


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_draw_holds_all_rollouts_of_its_items_blind(epochs):
    draw = sf.draw_labels(unlabelled(frame(epochs)), 20, seed=7)
    assert len(draw.rows) == 20 * 2 * epochs
    assert len({row[1] for row in draw.rows}) == 20
    text = draw.to_csv()
    assert draw.header == ("code", "item", *(("epoch",) if epochs > 1 else ()))
    shown = {cell for row in csv.reader(text.splitlines()[1:]) for cell in row}
    assert not shown & {"a", "b", "success", "policy"}
    policies = [row[-1] for row in draw.key]
    assert policies.count("a") == policies.count("b")
    assert policies != sorted(policies)
    assert len({row[0] for row in draw.rows}) == len(draw.rows)


def test_a_draw_is_a_function_of_the_items_and_the_seed():
    full = frame()
    one = sf.draw_labels(unlabelled(full), 20, seed=7)
    again = sf.draw_labels(unlabelled(full.sample(fraction=1.0, shuffle=True, seed=3)), 20, seed=7)
    assert again == one
    assert sf.draw_labels(unlabelled(full), 20, seed=8).rows != one.rows
    assert sf.draw_labels(unlabelled(full), 21, seed=7).rows != one.rows


def test_every_item_is_drawn_equally_often():
    rollouts = unlabelled(frame(items=10))
    counts = dict.fromkeys((f"q{place}" for place in range(10)), 0)
    for seed in range(400):
        for item in {row[1] for row in sf.draw_labels(rollouts, 3, seed=seed).rows}:
            counts[item] += 1
    assert min(counts.values()) > 85
    assert max(counts.values()) < 155


def test_the_judge_does_not_steer_the_draw():
    full = frame()
    turned = full.with_columns((1 - pl.col("success")).alias("success"))
    assert sf.draw_labels(unlabelled(turned), 20, seed=7).rows == sf.draw_labels(unlabelled(full), 20, seed=7).rows


def test_one_policy_needs_no_codes():
    draw = sf.draw_labels(sf.read(frame().drop("human").filter(pl.col("policy") == "a")), 5, seed=1)
    assert draw.header == ("policy", "item")
    assert draw.key == ()


def test_items_of_one_policy_are_told_by_the_only_column_that_differs_in_every_row_or_is_called_so():
    rows = {"policy": ["a"] * 9, "ref": [f"r{n}" for n in range(9)], "success": [0, 1, 1] * 3}
    assert sf.draw_labels(sf.read(pl.DataFrame(rows)), 3, seed=1).header == ("policy", "ref")
    rows["seen at"] = [f"noon {n}" for n in range(9)]
    with pytest.raises(sf.DataError, match="some column must tell items apart"):
        sf.draw_labels(sf.read(pl.DataFrame(rows)), 3, seed=1)
    assert sf.draw_labels(sf.read(pl.DataFrame(rows)).declare(unit="ref"), 3, seed=1).header == ("policy", "ref")
    rows["question"] = rows.pop("ref")
    assert sf.draw_labels(sf.read(pl.DataFrame(rows)), 3, seed=1).header == ("policy", "item")


def test_items_that_some_policy_lacks_are_not_drawn_from():
    full = frame().filter(~((pl.col("policy") == "b") & pl.col("item").is_in(["q1", "q2"])))
    draw = sf.draw_labels(unlabelled(full), 58, seed=1)
    assert draw.left_out == 2
    assert not {"q1", "q2"} & {row[1] for row in draw.rows}


def test_refusals_of_a_draw():
    with pytest.raises(ValueError, match="`items` must be at most the 60 that every policy has an outcome on; got 61"):
        sf.draw_labels(unlabelled(frame()), 61, seed=1)
    with pytest.raises(sf.DataError, match="some column must tell items apart; none does"):
        sf.draw_labels(sf.read(frame().drop("human", "item")), 5, seed=1)
    with pytest.raises(sf.DataError, match=r"'a' has several of 'q0'\. Number them in an `epoch`"):
        sf.draw_labels(sf.read(frame(2).drop("human", "epoch")), 5, seed=1)
    apart = frame().filter((pl.col("policy") == "a") == (pl.col("item") < "q3"))
    with pytest.raises(sf.DataError, match="some column must tell items apart; none does"):
        sf.draw_labels(unlabelled(apart), 5, seed=1)
    unknown = frame().with_columns(pl.when((pl.col("policy") == "a") == (pl.col("item") < "q3")).then("success"))
    with pytest.raises(sf.DataError, match="a, b must have outcomes on the same items; none has them all"):
        sf.draw_labels(unlabelled(unknown), 5, seed=1)


def test_a_draw_is_written_and_read_back():
    draw = sf.draw_labels(unlabelled(frame()), 20, seed=7)
    assert Record.from_dict(json.loads(json.dumps(draw.to_dict()))) == draw
    assert Head.of(f'"{draw.head}",,,;') == draw.head
    assert Head.of("# something else") is None


@pytest.mark.parametrize("column", ["Item no. (x)", "my_item", "a+b", "x,y;z", 'say "it"', "Größe"])
def test_a_column_of_any_name_is_read_back(column):
    rows = [(policy, f"q{item}", (item + len(policy)) % 2) for policy in ("a", "b") for item in range(30)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", column, "success"], orient="row"))
    draw = sf.draw_labels(table, 10, seed=7)
    assert draw.head.by == (column,)
    assert Head.of(f'"{draw.head}",,') == draw.head
