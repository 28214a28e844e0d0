"""`surefoot plan race`, `plan halve` and `plan best`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from tests.support.command_line import said

CURVE = "0.2,0.35,0.5,0.6,0.68,0.74,0.78,0.8,0.8,0.7"


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "earlier.csv"
    path.write_text("policy,successes,rollouts\na,9,50\nb,40,50\nc,30,50\n")
    return str(path)


def test_a_race_stands_beside_as_many_rollouts_in_equal_numbers(capsys):
    asked = ("plan", "race", "--rates", "0.9,0.5,0.4", "--runs", "100")
    code, out, _ = said(capsys, *asked)
    assert code == 0
    assert "A race of 3 takes" in out
    assert "Assumed: 3 success rates as given." in out
    body = json.loads(said(capsys, *asked, "--json")[1])
    race, equal, fifty = body["plans"]
    assert fifty["design"] == "3 x 50"
    assert race["named"] > 0.9 > equal["named"]
    assert equal["expected_rollouts"] == pytest.approx(race["expected_rollouts"], rel=0.05)


def test_halving_says_its_stages_and_how_good_the_pick_is(capsys):
    asked = ("plan", "halve", "--policies", "20", "--budget", "500", "--curve", CURVE, "--runs", "400")
    out = said(capsys, *asked)[1]
    assert "Stages: 20 x 3, then 10 x 7, then 5 x 14, then 3 x 23, then 2 x 35, then 161 rollouts afresh" in out
    halves, equal, fifty = json.loads(said(capsys, *asked, "--json")[1])["plans"]
    assert fifty["design"] == "20 x 50"
    assert halves["bound"] > equal["bound"]
    assert halves["below"] < 0.02
    assert halves["most"] == equal["most"] == 500


def test_an_earlier_file_is_pulled_together_first(earlier, capsys):
    body = json.loads(said(capsys, "plan", "best", "--from", earlier, "--runs", "20", "--json")[1])
    assert [one["design"] for one in body["plans"]] == ["Halving", "A race", "A race", "3 x 50"]
    means = body["plans"][0]["means"]
    assert 9 / 50 < means[0] < means[2] < means[1] < 40 / 50
    assert "shrunk towards their mean" in body["assumed"]


def test_scores_of_an_earlier_file_are_drawn_from(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("policy,score\n" + "".join(f"{p},{v}\n" for p in "abc" for v in (0.2, 0.5, 3.9)))
    ends = ("--low", "0", "--high", "4")
    code, out, _ = said(capsys, "plan", "race", "--from", str(path), *ends, "--horizon", "20", "--runs", "10")
    assert code == 0
    assert "Assumed: scores drawn from those of scores.csv" in out
    assert "3 x 50" in out
    assert "Too small: one is named with a chance below 80%." in out


def test_what_best_tells_to_run_next_runs(earlier, capsys):
    told = sf.best(sf.read(earlier), confidence=0.9999).next
    for command in told.split("`")[1::2]:
        assert said(capsys, *command.split()[1:], "--runs", "10")[0] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("race",), "One of `--policies`, `--rates` and `--from`"),
        (("race", "--policies", "1"), "`--policies` must be at least 2"),
        (("race", "--policies", "1001"), "`--policies` must be at most 1,000; got 1001"),
        (("race", "--rates", "0.5"), "`--rates` must be 2 or more rates"),
        (("race", "--rates", "0.5,1.5"), "--rates"),
        (("race", "--rates", "0.5,0.6", "--policies", "2"), "`--policies` and `--rates` must not be given"),
        (("race", "--rates", "0.5,0.6", "--curve", "0.5,0.6"), "`--curve` needs `--policies`"),
        (("race", "--policies", "3", "--within", "2"), "`--within` must be above 0 and below 1"),
        (("race", "--policies", "3", "--horizon", "1"), "`--horizon` must be at least 2"),
        (("halve", "--policies", "20", "--budget", "10"), "`--budget` must be at least 143 for 20 policies"),
        (("race", "--policies", "3", "--score", "x"), "`--from`"),
    ],
)
def test_wrong_use_is_told(words, says, capsys):
    code, _, err = said(capsys, "plan", *words)
    assert code == 64
    assert says in err
