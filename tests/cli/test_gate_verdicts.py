"""Tests of `surefoot.cli.gate_verdicts`."""

import json

import pytest

from surefoot import Tally, stats
from surefoot.cli.main import run
from tests.support.command_line import said as compare_said
from tests.support.judged_gains import leaning


def test_labels_decide_the_gate(tmp_path, capsys):
    leaning(tmp_path / "runs.csv")
    asked = ["compare", str(tmp_path / "runs.csv"), "--first", "a", "--second", "b", "--gate"]
    assert run(asked) == 1
    said = capsys.readouterr().out
    assert "By the judge alone, not corrected: +" in said
    assert "Gate: failed, worse" in said
    assert run([*asked, "--labels-method", "labels"]) == 1
    assert "Labels alone (guaranteed): as asked." in capsys.readouterr().out
    leaning(tmp_path / "half.csv", both=False)
    assert run([*asked[:1], str(tmp_path / "half.csv"), *asked[2:]]) == 3
    assert "Only a carries human labels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("40/50", "6/50"), 0),
        (("6/50", "40/50"), 1),
        (("17/20", "14/20"), 2),
        (("70/100", "70/100", "--margin", "0.2"), 0),  # the same is not worse
        (("66/100", "70/100", "--margin", "0.2"), 0),
        (("66/100", "70/100", "--margin", "0.1"), 2),
        (("6/50", "40/50", "--margin", "0.2"), 1),
        (("--pairs", "20,12,2,16"), 0),
    ],
)
def test_the_gate_ends_with_its_codes(capsys, words, code):
    assert compare_said(capsys, "compare", *words, "--gate")[0] == code


def test_a_gate_says_when_what_it_cannot_tell_is_how_far_behind(capsys):
    """Shown below zero, not shown below the margin: whether it matters is open, and the user hears both."""
    code, out, _ = compare_said(capsys, "compare", "170/200", "194/200", "--gate", "--margin", "0.1")
    gain = stats.exact_gain(Tally(170, 200), Tally(194, 200), margin=0.1)
    assert gain.interval.low < -0.1 < gain.interval.high < 0.0
    assert code == 2
    last = "Gate: cannot tell (exit code 2). Significantly worse, possibly by less than the margin."
    assert out.splitlines()[-1] == last
    assert compare_said(capsys, "compare", "17/20", "14/20", "--gate")[1].endswith("Gate: cannot tell (exit code 2).\n")


def test_no_gate_passes_on_policies_that_share_no_task(capsys, tmp_path):
    rows = [f"new,x,{int(i < 38)}" for i in range(40)] + [f"old,y,{int(i < 4)}" for i in range(40)]
    path = tmp_path / "results.csv"
    path.write_text("policy,task,success\n" + "\n".join(rows) + "\n")
    code, out, err = compare_said(capsys, "compare", str(path), "--first", "new", "--second", "old", "--gate")
    assert code == 3
    assert "+85.0 points" in out  # shown, as a description
    assert "! one policy a level: 'task' has one level in all rows of a policy: 'x' for 'new', 'y' for 'old'." in out
    assert "not comparable: 'new' and 'old' share no task" in err


def test_no_gate_passes_on_rows_that_were_logged_twice(capsys, logged_twice):
    code, out, err = compare_said(capsys, "compare", *logged_twice, "--gate")
    assert code == 3
    assert "! duplicated rows: Rows that repeat another row in every column: 40." in out
    assert "not comparable: rows repeat others in every column" in err
    assert "! duplicated rows" in compare_said(capsys, "compare", *logged_twice)[1]
    assert "! duplicated rows" in compare_said(capsys, "rank", *logged_twice)[1]


def test_a_gate_on_one_policy_is_not_comparable(capsys, logged_twice):
    assert compare_said(capsys, "compare", logged_twice[0])[0] == 65
    code, out, err = compare_said(capsys, "compare", logged_twice[0], "--gate", "--json")
    assert (code, json.loads(out)["gate"]["code"]) == (3, 3)
    assert "not comparable: Two policies must be there" in err


def _benchmarks(path, fallen=""):
    rows = [
        f"{policy},b{at},{hits},420"
        for policy in ("new", "old")
        for at in range(8)
        for hits in [210 if policy == "new" and f"b{at}" == fallen else 336]
    ]
    path.write_text("policy,benchmark,successes,rollouts\n" + "\n".join(rows) + "\n")
    return str(path)


def test_levels_that_must_all_pass_are_not_charged_for_each_other(capsys, tmp_path):
    """Each passes by itself at 95%, so all do: an intersection needs no correction."""
    asked = ["--first", "new", "--second", "old", "--by", "benchmark", "--gate", "--margin", "0.06"]
    path = _benchmarks(tmp_path / "same.csv")
    assert compare_said(capsys, "compare", path, *asked)[0] == 0
    alone = ["--first", "new", "--second", "old", "--where", "benchmark=b1", "--gate", "--margin", "0.06"]
    assert compare_said(capsys, "compare", path, *alone)[0] == 0


def test_the_level_that_fell_is_named(capsys, tmp_path):
    asked = ["--first", "new", "--second", "old", "--by", "benchmark", "--gate", "--margin", "0.06"]
    code, out, _ = compare_said(capsys, "compare", _benchmarks(tmp_path / "fell.csv", "b3"), *asked)
    assert code == 1
    assert out.splitlines()[-1] == "Gate: failed, worse (exit code 1): b3."


def test_one_false_alarm_among_all_levels_is_paid_for_by_all():
    from surefoot.analysis.comparisons import family_level

    assert family_level(4, 0.95, gate=True)["bounds_at"] == (0.95, 1.0 - (1.0 - 0.95) / 4)


def test_a_gate_does_not_pass_an_average_that_depends_on_a_column(tmp_path, capsys):
    rows = ["policy,task,lighting,success"]
    for policy, day, dim in (("new", 19, 8), ("old", 6, 14)):
        for task in range(4):
            wins = (("day", day), ("dim", dim))
            rows += [f"{policy},t{task},{light},{int(at < won)}" for light, won in wins for at in range(20)]
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    asked = ("compare", str(tmp_path / "runs.csv"), "--first", "new", "--second", "old", "--gate")
    code, out, _ = compare_said(capsys, *asked)
    assert code == 2
    assert "For these 4 tasks: depends on lighting. new - old = +" in out
    assert out.splitlines()[-1] == "Gate: cannot tell (exit code 2): depends on lighting."
    code, out, _ = compare_said(capsys, *asked, "--json")
    body = json.loads(out)
    assert (code, body["verdict"], body["depends_on"], body["gate"]["code"]) == (2, "undecided", "lighting", 2)
    assert body["says"] == "Whether new is better than old depends on lighting."
    code, out, _ = compare_said(capsys, *asked, "--format", "github")
    assert (code, "depends on lighting" in out) == (2, True)
    assert compare_said(capsys, *asked, "--by", "lighting")[0] == 1  # a level is worse: that need is broken
