"""How many rollouts a ranking will take, in Python and on the command line."""

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core.record import Record
from surefoot.sequential import ClosedRanking, RankingRule, simulate_ranking

NAMES = ("a", "b", "c")
RULE = ClosedRanking(NAMES, 60, binary=True)


def test_a_plan_is_the_rule_simulated():
    plan = sf.plan_ranking(RULE, [0.9, 0.5, 0.1], rng=3, runs=50)
    scores = np.random.default_rng(3).random((50, 60, 3)) >= 1.0 - np.array([0.9, 0.5, 0.1])
    done = simulate_ranking(RULE, scores)
    assert plan.expected_rollouts == done.mean_rollouts
    assert plan.complete == done.complete.mean()
    assert plan.each == tuple(done.rollouts.mean(axis=0))
    used = np.sort(done.rollouts.sum(axis=1))
    assert (plan.half, plan.most_often) == (used[24], used[44])
    assert plan.standard_error == pytest.approx(used.std() / 50**0.5)
    assert plan.most == 180
    assert plan.saving == 1.0 - plan.expected_rollouts / 180
    assert Record.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert "if the means are 0.9, 0.5, 0.1 (50 simulated studies, seed 3)." in str(plan)


def test_what_changes_a_plan():
    base = sf.plan_ranking(RULE, [0.9, 0.5, 0.45], rng=1, runs=80)
    assert sf.plan_ranking(RULE, [0.9, 0.5, 0.45], rng=2, runs=80) != base
    tied = sf.plan_ranking(RULE, [0.9, 0.5, 0.45], rng=1, runs=80, correlation=0.7)
    assert tied.expected_rollouts != base.expected_rollouts
    thrifty = ClosedRanking(NAMES, 60, binary=True, futility=0.1)
    assert sf.plan_ranking(thrifty, [0.9, 0.5, 0.45], rng=1, runs=80).expected_rollouts < base.expected_rollouts
    assert base.found > base.complete
    holm = sf.plan_ranking(RankingRule(NAMES, 60, binary=True), [0.9, 0.5, 0.45], rng=1, runs=80)
    assert holm.expected_rollouts > base.expected_rollouts
    assert sf.plan_ranking(RULE, [0.5, 0.5, 0.5], rng=1, runs=10).found == 1.0  # nothing to find


def test_scores_and_pilots():
    rule = ClosedRanking(NAMES, 60, low=0.0, high=10.0)
    pilot = sf.Scores([8.0, 9.0, 10.0], low=0.0, high=10.0)
    plan = sf.plan_ranking(rule, [pilot, {2.0: 0.5, 6.0: 0.5}, 0.1], rng=1, runs=20)
    assert plan.means == pytest.approx((9.0, 4.0, 1.0))
    assert plan.complete > 0.9
    assert "one simulated study" in str(sf.plan_ranking(RULE, [0.9, 0.5, 0.1], rng=1, runs=1))


def test_progress_is_told_and_blocks_do_not_matter():
    seen = []
    rule = ClosedRanking(("a", "b", "c", "d", "e", "f"), 5, binary=True)
    plan = sf.plan_ranking(rule, [0.9] * 6, rng=1, runs=130, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (130, 130)
    assert len(seen) > 1
    assert plan == sf.plan_ranking(rule, [0.9] * 6, rng=1, runs=130)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": 3}, "`rule` must be a rule that ranks, such as ClosedRanking"),
        ({"policies": [0.9, 0.5]}, "`policies` must hold one for each of 3 names; got 2"),
        ({"policies": [0.9, 0.5, 2.0]}, r"`policies\[2\]` must be between 0 and 1"),
        ({"runs": 0}, "`runs` must be at least 1"),
        ({"correlation": -0.2}, "`correlation` must be from 0 to below 1"),
        ({"rng": None}, "`rng` must be a numpy Generator or a whole-number seed"),
    ],
)
def test_refusals(change, words):
    given = {"rule": RULE, "policies": [0.9, 0.5, 0.1], "rng": 1, "runs": 5, **change}
    with pytest.raises((ValueError, TypeError), match=words):
        sf.plan_ranking(given.pop("rule"), given.pop("policies"), **given)


# --- The command -----------------------------------------------------------------------------------------


def said(capsys, *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_shows_the_plan_among_its_neighbours(capsys):
    code, out, err = said(capsys, "plan", "rank", "--rates", ".9,.7,.5", "--horizon", "40", "--runs", "30")
    assert (code, err) == (0, "")
    assert "rollouts on average" in out
    rows = [line.split() for line in out.splitlines() if line.strip()[:1].isdigit()][1:]
    assert [row[:2] for row in rows] == [["20", "off"], ["40", "off"], ["40", "0.05"], ["40", "0.1"], ["80", "off"]]
    assert [row[0] for row in rows if row[-2:] == ["this", "plan"]] == ["40"]


def test_the_command_gives_the_plan_as_json(capsys):
    words = ("plan", "rank", "--rates", "0.9,0.5,0.1", "--horizon", "60", "--runs", "40", "--futility", "0.1", "--json")
    _, out, _ = said(capsys, *words, "--question", "best", "--correlation", "0.3", "--confidence", "0.9", "--seed", "5")
    rule = ClosedRanking(
        ("policy 1", "policy 2", "policy 3"), 60, confidence=0.9, binary=True, question="best", futility=0.1
    )
    assert json.loads(out) == sf.plan_ranking(rule, [0.9, 0.5, 0.1], rng=5, runs=40, correlation=0.3).to_dict()


def test_a_pilot_in_place_of_rates(capsys, tmp_path):
    pilot = tmp_path / "pilot.csv"
    rows = [
        f"{name},{score}"
        for name, scores in (("new", (0.9, 0.8)), ("old", (0.1, 0.3)), ("poor", (0.0,)))
        for score in scores * 6
    ]
    pilot.write_text("policy,score\n" + "\n".join(rows))
    words = ("plan", "rank", "--from", str(pilot), "--horizon", "30", "--runs", "10", "--json")
    _, out, _ = said(capsys, *words, "--low", "0", "--high", "1")
    plan = json.loads(out)
    assert plan["means"] == pytest.approx([0.85, 0.2, 0.0])
    assert plan["rule"]["names"] == ["new", "old", "poor"]
    pilot.write_text("policy,success\n" + "\n".join(["new,1", "new,1", "old,0", "old,1", "poor,0"] * 5))
    plan = json.loads(said(capsys, *words)[1])
    assert plan["means"] == [1.0, 0.5, 0.0]
    assert plan["rule"]["binary"] is True


def test_seventeen_policies_are_ranked_by_holm_and_told_so(capsys):
    rates = ",".join(["0.9"] * 9 + ["0.1"] * 8)
    code, out, _ = said(capsys, "plan", "rank", "--rates", rates, "--horizon", "20", "--runs", "5")
    assert code == 0
    assert "More than 16 policies are ranked by Holm's ranking. Up to 16, by closed ranking" in out
    code, out, _ = said(capsys, "plan", "rank", "--rates", rates, "--horizon", "60", "--futility", "0.1", "--runs", "5")
    assert code == 0
    assert "0.1" in out


def test_the_best_few_and_a_baseline_are_planned(capsys):
    rates = "0.9,0.9,0.5,0.5,0.5,0.5,0.5,0.5,0.5"
    for question in ("top 2", "against policy 1"):
        words = ("--question", question, "--horizon", "60", "--runs", "20")
        code, out, err = said(capsys, "plan", "rank", "--rates", rates, *words)
        assert code == 0, err
        assert "rollouts on average" in out


def test_many_processes_give_the_same_plan(capsys):
    pytest.importorskip("joblib")
    words = ("plan", "rank", "--rates", "0.9,0.5,0.4,0.3,0.2,0.1", "--horizon", "8", "--runs", "30", "--json")
    assert said(capsys, *words, "--jobs", "2")[1] == said(capsys, *words)[1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "One of `--rates` and `--from` must be given."),
        (("--rates", "0.9,0.7"), "`--rates` must hold three policies or more; got 2. For two: surefoot plan compare"),
        (("--rates", "0.9,x"), "`--rates` must be three or more rates"),
        (("--rates", "90,70,50"), "Write 0.9 for 90%."),
        (("--rates", "0.9,0.7,0.5", "--horizon", "0"), "`--horizon` must be at least 1"),
        (("--rates", "0.9,0.7,0.5", "--futility", "0.7"), "`--futility` must be from 0"),
        (("--rates", "0.9,0.7,0.5", "--question", "worst"), "`--question` must be one of ranking, best"),
    ],
)
def test_the_command_refuses(capsys, more, words):
    code, _, err = said(capsys, "plan", "rank", *more)
    assert code == 64
    assert words in err
