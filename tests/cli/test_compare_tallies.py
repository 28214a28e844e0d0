"""Tests of `surefoot.cli.compare_tallies`."""

import json

import pytest

from surefoot import PairTally, Tally, stats
from surefoot.cli import compare_tallies
from surefoot.errors import DataError
from tests.support.command_line import said


def test_pairs_are_typed_as_four_counts():
    assert compare_tallies.pairs("20, 12,2,16") == PairTally(both=20, first_only=12, second_only=2, neither=16)
    with pytest.raises(ValueError, match="must be BOTH,FIRST,SECOND,NEITHER"):
        compare_tallies.pairs("20,12,2")
    with pytest.raises(DataError, match="-2"):
        compare_tallies.pairs("20,12,-2,16")


def test_lines_give_the_answer_the_rates_and_what_it_rests_on():
    gain = stats.exact_gain(Tally(17, 20), Tally(14, 20))
    shown = compare_tallies.lines(gain, stats.outlook(gain))
    assert len(shown) == 5
    assert shown[0].startswith("For rollouts like these: cannot tell. first - second = +15.0 points, 95% interval")
    assert shown[1].startswith("  first 17/20 85.0%")
    assert compare_tallies.lines(gain, None) == [*shown[:3], shown[4]]


def test_every_method_that_the_help_names_answers(capsys):
    for name in compare_tallies.TALLIES:
        compare_tallies.answer((Tally(17, 20), Tally(8, 20)), name, False, False, 0.0, 0.95, False)
    for name in compare_tallies.PAIRS:
        compare_tallies.answer((PairTally(20, 12, 2, 16),), name, False, False, 0.0, 0.95, False)
    assert len(capsys.readouterr().out.splitlines()) >= len(compare_tallies.TALLIES + compare_tallies.PAIRS)


def test_counts_compare_every_policy_with_its_baseline(capsys, tmp_path):
    code, out, _ = said(capsys, "compare", "--counts", "rt2-vc1")
    assert code == 0
    assert out.count("better") == 3
    path = tmp_path / "counts.csv"
    path.write_text("policy,successes,rollouts\nbase,5,20\nnew,18,20\nother,6,20\n")
    data = json.loads(said(capsys, "compare", "--counts", str(path), "--json")[1])
    assert data[0]["baseline"] == "base"
    assert [one["verdict"] for one in data[0]["members"]] == ["better", "undecided"]
    named = json.loads(said(capsys, "compare", "--counts", str(path), "--baseline", "new", "--json")[1])
    assert named[0]["baseline"] == "new"
    path.write_text("policy,successes,rollouts\nbase,25,20\n")
    code, _, err = said(capsys, "compare", "--counts", str(path))
    assert code == 65
    assert "row 1: `successes` must be at most" in err  # the header is no row, as in every other message
    for text, wrong in (
        ("base,5,20\nnew,x,20\n", "row 2: `successes` must be a whole number, 0 or more; got 'x'."),
        ("base,5,20\n", "a group must hold at least two policies; none does."),
        ("base,5,20\nbase,6,20\n", "row 2: `policy` must be named once per group; got 'base' twice in 'all'."),
        ("base,5,20\n,6,20\n", "row 2: a row must have `policy`, `successes` and `rollouts`."),
    ):
        path.write_text(f"policy,successes,rollouts\n{text}")
        code, _, err = said(capsys, "compare", "--counts", str(path))
        assert code == 65
        assert wrong in err


@pytest.mark.parametrize(
    "text",
    [
        "policy,result\nbase,5/20\nnew,18/20\n",
        "name;k;n\nbase;5;20\nnew;18;20\n",
        "arm,rate,n\nbase,25%,20\nnew,90%,20\n",
    ],
)
def test_counts_are_read_in_every_form(capsys, tmp_path, text):
    (tmp_path / "counts.csv").write_text(text)
    (found,) = json.loads(said(capsys, "compare", "--counts", str(tmp_path / "counts.csv"), "--json")[1])
    assert found["baseline"] == "base"
    plain = stats.against_baseline({"base": Tally(5, 20), "new": Tally(18, 20)}, "base").to_dict()
    assert found["members"] == plain["members"]


def test_a_rate_that_n_cannot_give_is_told(capsys, tmp_path):
    (tmp_path / "counts.csv").write_text("arm,rate,n\nbase,25%,20\nnew,91%,20\n")
    code, out, _ = said(capsys, "compare", "--counts", str(tmp_path / "counts.csv"))
    assert code == 0
    assert "counts.csv, row 2: no count of 20 rollouts gives 91%" in out.split("\n! ")[1]


def test_a_table_without_policies_or_without_the_baseline_in_a_group_is_refused(capsys, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("task,successes,rollouts\ncut,5,20\n")
    code, _, err = said(capsys, "compare", "--counts", str(path))
    assert (code, "counts.csv, row 1: a row must have `policy`, `successes` and `rollouts`." in err) == (65, True)
    path.write_text("task,policy,k,n\ncut,base,5,20\ncut,new,9,20\npour,other,5,20\npour,new,9,20\nfold,new,2,4\n")
    code, _, err = said(capsys, "compare", "--counts", str(path), "--baseline", "base")
    assert (code, "`--baseline` must be a policy of every group; 'pour' has no 'base'." in err) == (65, True)
    code, out, _ = said(capsys, "compare", "--counts", str(path))
    assert (code, "fold" in out) == (0, False)  # a group of one has nothing to compare with
