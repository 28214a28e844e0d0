"""Drawing items to label, and joining a file of labels to a table: all of it or nothing."""

import csv
import json
import re

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core.record import Record
from surefoot.table.label_draws import Head
from tests.analysis.test_judged_gains import table


def frame(epochs=1, items=60, **more):
    return table(epochs=epochs, items=items, labels=items, **more)


def unlabelled(full):
    return sf.read(full.drop("human"))


def filled(draw, full, tmp_path, *, raters=(), leave=0, change=None):
    """A drawn file as a person would fill it in, with the truth behind each code."""
    behind = {row[0]: row[1:] for row in draw.key}
    names = [{"item": "item", "epoch": "epoch", "task": "task"}[name] for name in draw.header[1:]]
    truth = {(*(str(row[name]) for name in names), row["policy"]): row["human"] for row in full.iter_rows(named=True)}
    lines = draw.to_csv().splitlines()
    rows = list(csv.reader(lines[2:]))
    out = [lines[0], lines[1]]
    for place, row in enumerate(rows):
        value = truth[tuple(behind[row[0]])] if place >= leave else ""
        for rater in raters or ("",):
            said = value if change is None else change(value, rater, place)
            out.append(",".join([*row[:-2], str(said), rater]))
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    return path


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


def test_items_that_some_policy_lacks_are_not_drawn_from():
    full = frame().filter(~((pl.col("policy") == "b") & pl.col("item").is_in(["q1", "q2"])))
    draw = sf.draw_labels(unlabelled(full), 58, seed=1)
    assert draw.left_out == 2
    assert not {"q1", "q2"} & {row[1] for row in draw.rows}


def test_refusals_of_a_draw():
    with pytest.raises(ValueError, match="`items` must be at most the 60 that every policy has an outcome on; got 61"):
        sf.draw_labels(unlabelled(frame()), 61, seed=1)
    with pytest.raises(sf.DataError, match="must tell its items apart"):
        sf.draw_labels(sf.read(frame().drop("human", "item")), 5, seed=1)
    with pytest.raises(sf.DataError, match=r"'a' has several of 'q0'\. Number them in an `epoch`"):
        sf.draw_labels(sf.read(frame(2).drop("human", "epoch")), 5, seed=1)
    apart = frame().filter((pl.col("policy") == "a") == (pl.col("item") < "q3"))
    with pytest.raises(sf.DataError, match="a, b must have outcomes on the same items; none has them all"):
        sf.draw_labels(unlabelled(apart), 5, seed=1)


def test_a_draw_is_written_and_read_back():
    draw = sf.draw_labels(unlabelled(frame()), 20, seed=7)
    assert Record.from_dict(json.loads(json.dumps(draw.to_dict()))) == draw
    assert Head.of(f'"{draw.head}",,,;') == draw.head
    assert Head.of("# something else") is None


# --- The join


@pytest.mark.parametrize("epochs", [1, 3])
def test_codes_find_their_rollouts(epochs, tmp_path):
    full = frame(epochs)
    draw = sf.draw_labels(unlabelled(full), 40, seed=7)
    joined = sf.label(unlabelled(full), filled(draw, full, tmp_path))
    wanted = full.with_columns(pl.when(pl.col("item").is_in([row[1] for row in draw.rows])).then(pl.col("human")))
    assert joined.column("human") == sf.read(wanted).column("human")
    assert joined.labelling.random
    assert (joined.labelling.drawn, joined.labelling.seed) == (40, 7)
    found = sf.judged_gain(joined, "a", "b")
    assert found.drawn
    assert found.gain == sf.judged_gain(sf.read(wanted), "a", "b").gain
    assert "labels drawn" in [note.kind for note in found.notes]


def test_missing_labels_of_a_draw_are_said(tmp_path):
    full = frame()
    draw = sf.draw_labels(unlabelled(full), 40, seed=7)
    joined = sf.label(unlabelled(full), filled(draw, full, tmp_path, leave=3))
    assert not joined.labelling.random
    assert joined.labelling.missing in (2, 3)
    assert "labels missing" in [note.kind for note in sf.judged_gain(joined, "a", "b").notes]


def test_a_draw_from_another_list_is_only_declared(tmp_path):
    full = frame()
    path = filled(sf.draw_labels(unlabelled(full), 40, seed=7), full, tmp_path)
    text = path.read_text(encoding="utf-8")
    changed = tmp_path / "changed.csv"
    head, rest = text.split("\n", 1)
    changed.write_text("\n".join([re.sub(r"code", "code", head), rest]), encoding="utf-8")
    assert sf.label(unlabelled(full), changed).labelling.drawn == 40
    plain = tmp_path / "plain.csv"
    plain.write_text("item,policy,human\nq1,a,1\nq1,b,0\nq2,a,1\nq2,b,1\n", encoding="utf-8")
    assert sf.label(unlabelled(full), plain).labelling.drawn is None


def test_raters_are_averaged_and_their_agreement_is_said(tmp_path):
    full = frame()
    draw = sf.draw_labels(unlabelled(full), 30, seed=7)
    path = filled(
        draw, full, tmp_path, raters=("ann", "bo"),
        change=lambda value, rater, place: 1 - value if rater == "bo" and place % 10 == 0 else value,
    )  # fmt: skip
    how = sf.label(unlabelled(full), path).labelling
    assert (how.raters, how.twice, how.alike) == (2, 60, 54)
    assert len(how.shared) == 60
    found = sf.judged_gain(sf.label(unlabelled(full), path), "a", "b")
    assert [note.values["alike"] for note in found.notes if note.kind == "several raters"] == [54]
    assert [0.6 < note.values["kappa"] < 0.95 for note in found.notes if note.kind == "several raters"] == [True]
    assert "90% of those alike" in str(found)


def test_the_method_is_fixed_when_labels_are_joined(tmp_path):
    full = frame()
    path = filled(sf.draw_labels(unlabelled(full), 40, seed=7), full, tmp_path)
    joined = sf.label(unlabelled(full), path, method="labels")
    assert sf.judged_gain(joined, "a", "b").found.left_out.value == "asked"
    with pytest.raises(ValueError, match="`method` must be one of judge, labels"):
        sf.label(unlabelled(full), path, method="narrower")


GOOD = "item,policy,human\nq1,a,1\nq1,b,0\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"labels\.csv: the file of labels must be a CSV with a header and rows; it is empty\."),
        ("item,policy\nq1,a\n", r"labels\.csv: the labels must be in a `human` column; got 'item', 'policy'\."),
        ("policy,human\na,1\n", r"must name the item, as 'item' does in the table; the file has"),
        ("item,human\nq1,1\n", r"must name the policy in a `policy` column: the table holds a, b\."),
        (GOOD + "q999,a,1\n", r"labels\.csv, row 3: `item` must be in the table: .*; got 'q999'\."),
        (GOOD + "q2,c,1\n", r"labels\.csv, row 3: `policy` must be in the table: 'a', 'b'; got 'c'\."),
        (GOOD + "q1,a,0\n", r"labels\.csv, row 3: a rollout must be labelled once; row 1 labels it too\. Say who"),
        (GOOD + "q2,a,1.5\n", r"labels\.csv, row 3: `human` must lie between 0 and 1; got '1\.5'\."),
        (GOOD + "q2,a,perhaps\n", r"labels\.csv, row 3: `human` must be a number, yes or no; got 'perhaps'\."),
        (GOOD + "q2,a,nan\n", r"row 3: `human` must lie between 0 and 1; got 'nan'\."),
        (GOOD + "q2,a\n", r"labels\.csv, row 3: every row must have the 3 cells of the header; got 2\."),
        ("item,policy,human\nq1,a,\n", r"at least one row must have a label in `human`; got none\."),
        ("code,human\nabc,1\n", r"must keep the first line that surefoot labels draw wrote; it is missing\."),
    ],
)
def test_bad_files_are_refused_whole(text, says, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(sf.DataError, match=says):
        sf.label(unlabelled(frame()), path)


def test_more_refusals(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(sf.DataError, match="must not hold human labels when a file of them is given"):
        sf.label(sf.read(frame()), path)
    with pytest.raises(sf.DataError, match=r"item 'q1', policy 'a' is 3 rollouts\. Say which in `epoch`\."):
        sf.label(unlabelled(frame(3)), path)
    path.write_text("item,epoch,policy,human\nq1,9,a,1\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"row 1: `epoch` must be in the table: '0', '1', '2'; got '9'"):
        sf.label(unlabelled(frame(3)), path)
    path.write_text("item,policy,human,rater\nq1,a,1,ann\nq1,a,1,ann\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match="row 2: a rollout must be labelled once by 'ann'; row 1 labels it too"):
        sf.label(unlabelled(frame()), path)
    path.write_bytes(b"PK\0\0")
    with pytest.raises(sf.DataError, match="must be a CSV; it is no text"):
        sf.label(unlabelled(frame()), path)
    draw = sf.draw_labels(unlabelled(frame()), 5, seed=1)
    path.write_text(f"{draw.head}\ncode,human\nffff,1\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"row 1: `code` must be one that was drawn from this table; got 'ffff'"):
        sf.label(unlabelled(frame()), path)


def test_labels_of_scores_have_the_range_of_the_scores(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item;policy;human\nq1;a;7,5\n".replace(",", "."), encoding="utf-8")
    scored = sf.read(
        frame().drop("human").with_columns((pl.col("success") * 10.0).alias("score")).drop("success"), high=10.0
    )
    assert sf.label(scored, path).labels == 1
    with pytest.raises(sf.DataError, match=r"`human` must lie between 0 and 1; got '7\.5'"):
        sf.label(unlabelled(frame()), path)


def test_tasks_tell_items_of_one_name_apart(tmp_path):
    full = pl.concat([frame().with_columns(pl.lit(task).alias("task")) for task in ("cut", "pour")])
    path = tmp_path / "labels.csv"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(sf.DataError, match="is 2 rollouts"):
        sf.label(unlabelled(full), path)
    path.write_text("task,item,policy,human\ncut,q1,a,1\npour,q1,a,0\n", encoding="utf-8")
    assert sf.label(unlabelled(full), path).labels == 2


def test_two_runs_of_one_policy_are_drawn_blind_and_joined(tmp_path):
    full = frame()
    for policy, name in (("a", "pr.csv"), ("b", "main.csv")):
        run_of = full.filter(pl.col("policy") == policy).with_columns(pl.lit("model").alias("policy"))
        run_of.drop("human").write_csv(tmp_path / name)
    rollouts = sf.read([tmp_path / "pr.csv", tmp_path / "main.csv"])
    draw = sf.draw_labels(rollouts, 40, seed=7)
    assert draw.header == ("code", "item")
    assert "main.csv" not in draw.to_csv()
    assert draw.head.by == ("condition", "source")
    assert sorted({row[-1] for row in draw.key}) == ["main.csv", "pr.csv"]
    truth = {(row["item"], {"a": "pr.csv", "b": "main.csv"}[row["policy"]]): row["human"] for row in full.to_dicts()}
    behind = {row[0]: truth[row[1], row[3]] for row in draw.key}
    path = tmp_path / "labels.csv"
    lines = [f"{row[0]},{row[1]},{behind[row[0]]}," for row in draw.rows]
    path.write_text("\n".join([str(draw.head), "code,item,human,rater", *lines]), encoding="utf-8")
    joined = sf.label(rollouts, path)
    assert joined.labelling.random
    told = joined.polars().filter(pl.col("human").is_not_null())
    assert told.height == 80
    for row in told.to_dicts():
        assert row["human"] == truth[row["condition"], row["source"]]


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
