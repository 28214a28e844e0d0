"""Drawing items to label, and joining a file of labels to a table: all of it or nothing."""

import re

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.label_draws import code
from tests.support.label_files import filled, frame, unlabelled

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
    with pytest.raises(
        sf.DataError,
        match=r"policy 'a', item 'q1' fits 3 rollouts\. Say which one in "
        r"the column `epoch`\.",
    ):
        sf.label(unlabelled(frame(3)), path)
    path.write_text("item,epoch,policy,human\nq1,9,a,1\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r"row 1: `epoch` must be in the table: '0', '1', '2'; got '9'"):
        sf.label(unlabelled(frame(3)), path)
    path.write_text("item,policy,human,rater\nq1,a,1,ann\nq1,a,1,ann\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match="row 2: a rollout must be labelled once by 'ann'; row 1 labels it too"):
        sf.label(unlabelled(frame()), path)
    path.write_bytes(b"PK\0\0")
    with pytest.raises(sf.DataError, match="must be a CSV; it is not text"):
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
    with pytest.raises(sf.DataError, match="fits 2 rollouts"):
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


def test_a_label_of_a_rollout_that_was_not_run_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(GOOD, encoding="utf-8")
    lacking = frame().filter((pl.col("item") != "q1") | (pl.col("policy") != "b"))
    with pytest.raises(
        sf.DataError, match=r"row 2: a label must belong to a rollout of the table; policy 'b', item 'q1' fits none"
    ):
        sf.label(unlabelled(lacking), path)
    assert sf.label(sf.read(frame().drop("human").to_pandas()), path).labels == 2


def test_codes_of_a_draw_from_epochs_need_the_epochs(tmp_path):
    path = filled(sf.draw_labels(unlabelled(frame(2)), 5, seed=1), frame(2), tmp_path)
    with pytest.raises(
        sf.DataError, match="must be joined to the table they were drawn from; this one has no 'repeat'"
    ):
        sf.label(unlabelled(frame()), path)


def test_a_draw_from_a_shorter_list_or_with_more_labels_proves_nothing(tmp_path):
    full = frame()
    draw = sf.draw_labels(unlabelled(full), 40, seed=7)
    path = filled(draw, full, tmp_path)
    more = pl.concat([full, full.filter(pl.col("item") == "q1").with_columns(pl.lit("q999").alias("item"))])
    assert sf.label(unlabelled(more), path).labelling.drawn is None
    undrawn = next(item for item in full["item"] if item not in {row[1] for row in draw.rows})
    extra = f"{code(draw.head, 'a', (undrawn,))},{undrawn},1,\n"
    path.write_text(path.read_text(encoding="utf-8") + extra, encoding="utf-8")
    assert (sf.label(unlabelled(full), path).labels, sf.label(unlabelled(full), path).labelling.drawn) == (81, None)


@pytest.mark.parametrize("policies", ["ab", "a"])
def test_items_in_a_column_of_any_name_are_labelled(tmp_path, policies):
    rows = [(policy, f"q {item}", item % 2) for policy in policies for item in range(30)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "my ref", "success"], orient="row"))
    path = tmp_path / "labels.csv"
    path.write_text("policy,my ref,human\na,q 1,1\na,q 2,0\n", encoding="utf-8")
    found = sf.label(table, path).polars().drop_nulls("human")
    assert found.select("policy", "my ref", "human").rows() == [("a", "q 1", 1.0), ("a", "q 2", 0.0)]
    path.write_text("policy,human\na,1\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match="the labels must name the item, as 'my ref' does in the table"):
        sf.label(table, path)
