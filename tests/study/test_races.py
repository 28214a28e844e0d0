"""A race as a study: `question = "best"`."""

import random

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import Race
from surefoot.sequential.race import RaceState
from surefoot.study import status
from surefoot.study.conduct import counts_of
from surefoot.study.verification import verified
from tests.support import studies
from tests.support.studies import driven, said_of

MANY = tuple(f"p{i}" for i in range(12))
RATES = {name: 0.9 - 0.07 * i for i, name in enumerate(MANY)}


def begun(**told):
    return studies.begun(**({"rule": None} | told))


def raced(seed=0, rates=RATES, **told):
    rng = random.Random(seed)
    return driven(begun(**({"policies": tuple(rates), "question": "best", "horizon": 300} | told)),
                  lambda turn: rng.random() < rates[turn.policy])  # fmt: skip


def again(study):
    """The same race by the rule alone, fed the rows of each block that counted."""
    fold = study.fold
    plan = fold.plan
    rule = Race(plan.policies, plan.horizon, within=plan.within, budget=plan.budget, binary=True)
    state = rule.start()
    for number in fold.counted:
        state = rule.after_block(state, fold.rows(number))
    return state


@pytest.mark.parametrize("within", [None, 0.1])
def test_a_study_of_twelve_is_the_race_of_its_rounds(within):
    study = raced(3, within=within)
    state = study.fold.decision.state
    assert isinstance(state, RaceState)
    assert state == again(study)
    assert study.fold.decision.ending == "verdict"
    assert study.finished
    assert study.status().claim == "" or not study.fold.blinded
    assert sf.verify(study.store).sound
    sizes = [len(turns) for _, turns in sorted(study.fold.blocks.items())]
    assert sizes[0] == 12 + 1  # the leader runs twice
    assert sizes[-1] < 6
    dropped = [n for n, block in enumerate(study.fold.blocks.values()) if len({t.policy for t in block}) < 12]
    assert dropped  # dropped one by one, at once
    study.unblind(reason="decided")
    assert study.status().claim.startswith(f"{state.named} is ")


def test_two_policies_race_for_the_best():
    study = raced(1, {"a": 0.9, "b": 0.2}, horizon=100)
    assert study.fold.decision.state.named == "a"
    assert (study.plan.unit, study.plan.decides) == ("round", "race")
    assert sf.verify(study.store).sound


def test_few_policies_keep_the_closed_ranking_unless_within_is_said():
    assert sf.Plan(policies=("a", "b", "c"), question="best").rule == "closed"
    assert sf.Plan(policies=("a", "b", "c"), question="best", within=0.05).rule == "race"
    assert sf.Plan(policies=MANY, question="best").rule == "race"


def test_earlier_plans_keep_their_fingerprint():
    plan = sf.Plan(policies=("a", "b"))
    kept = plan.to_dict()
    del kept["within"], kept["budget"]
    assert sf.Plan.from_dict(kept).fingerprint == plan.fingerprint
    assert "within" not in plan.to_toml()
    made = sf.Plan(policies=MANY, question="best", within=0.05)
    assert sf.Plan.from_toml(made.to_toml()) == made


def test_a_policy_joins_and_another_is_withdrawn():
    rng = random.Random(2)
    rates = {"a": 0.8, "b": 0.5, "c": 0.4, "new": 0.9}
    study = begun(policies=("a", "b", "c"), question="best", within=0.05, horizon=400)
    driven(study, lambda turn: rng.random() < rates[turn.policy], 30)
    study.amend({"policies": ["a", "b", "c", "new"]}, reason="one more checkpoint")
    driven(study, lambda turn: rng.random() < rates[turn.policy], 30)
    while (turn := study.next_turn()).policy != "b":
        study.record(turn, rng.random() < rates[turn.policy])
    receipt = study.withdraw("b", reason="its file is damaged")
    assert not receipt.repeated
    assert study.withdraw("b", reason="again").repeated
    voided = study.fold.voids[turn.block]
    assert voided.body["reason"] == "policy withdrawn"
    before = len(study.fold.turns)
    driven(study, lambda turn: rng.random() < rates[turn.policy])
    assert all(turn.policy != "b" for number, turn in study.fold.turns.items() if number > before)
    state = study.fold.decision.state
    assert "b" in state.withdrawn or "b" in state.out
    assert "unless it is b" in state.claim or "b" in state.out
    assert sf.verify(study.store).sound
    study.unblind(reason="decided")
    assert any("b was withdrawn after" in str(one) for one in said_of(study.fold))


def test_only_a_race_loses_a_policy():
    study = begun(policies=("a", "b"))
    with pytest.raises(StudyError, match="can be withdrawn from a race only"):
        study.withdraw("a", reason="broken")
    race = begun(policies=("a", "b"), question="best")
    with pytest.raises(StudyError, match="`policy` must be one of a, b; got 'c'"):
        race.withdraw("c", reason="broken")
    with pytest.raises(StudyError, match="reason"):
        race.withdraw("a", reason=" ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"within": 0.05}, "`within` must be left out unless `question` is 'best'"),
        ({"question": "best", "within": 0.0}, "`within` must be above 0"),
        ({"question": "best", "within": float("nan")}, "within"),
        ({"question": "best", "budget": 3}, "`budget` must be"),
        (
            {"question": "best", "policies": tuple(map(str, range(1001)))},
            "at most 1,000 where the best is asked for, 50 for the best few; got 1,001",
        ),
        ({"question": "best", "policies": ("a", "a", "b")}, "not repeat"),
        ({"question": "best", "policies": ("a", "b"), "rule": "exact"}, "`question` must be 'ranking'"),
    ],
)
def test_bad_plans_are_refused_in_a_sentence(given, words):
    with pytest.raises((ValueError, StudyError), match=words):
        begun(**({"policies": MANY} | given))


def test_an_undo_replays_the_race():
    study = raced(5)
    number = max(study.fold.results)
    score = study.fold.results[number].score
    study.undo(number, reason="wrong key")
    study.record(number, score)
    assert study.fold.decision.state == again(study)


def test_blocks_handed_out_ahead_count_as_they_were_handed_out():
    rng, study = random.Random(4), begun(policies=MANY, question="best", horizon=100)
    while not study.finished:
        turns = study.next_turns(40)
        rng.shuffle(turns)
        for turn in turns:
            if not study.finished:
                study.record(turn, rng.random() < (0.95 if turn.policy == "p3" else 0.4))
    assert study.fold.decision.state.named == "p3"
    assert sf.verify(study.store).sound


def test_a_race_within_a_budget_stops_there():
    study = raced(6, dict.fromkeys(MANY, 0.5), budget=200, horizon=None)
    assert study.finished
    assert study.fold.decision.state.rollouts_used <= 200
    assert study.status().ending in ("horizon", "verdict")


def test_the_finding_of_a_race_is_told_as_data():
    study = raced(7, within=0.1)
    study.unblind(reason="decided")
    found = status.account(study.fold, verified(study.store.read())).finding
    assert found is not None
    ranking = found.ranking
    assert status.StudyFinding.from_dict(found.to_dict()) == found
    assert ranking.policies[0].standing == "named"
    assert ranking.pairs == ()
    assert counts_of(study.fold).counted == study.fold.decision.state.rollouts_used
    text = sf.report(study).html()
    assert "The race" in text
    assert study.fold.decision.state.claim in text


def test_a_race_that_names_none_within_its_horizon_is_not_said_to_be_decided():
    """The first-named policy is out, which is no verdict on who is best."""
    study = raced(1, rates={"low": 0.05, "one": 0.9, "other": 0.9}, horizon=25, rule="race")
    assert study.finished
    assert study.fold.decision.state.out == ("low",)
    assert study.fold.decision.state.named is None
    assert study.status().decision == "stop: nothing more can be decided"


def test_one_within_is_not_called_the_best_on_the_page():
    study = raced(7, within=0.1)
    study.unblind(reason="decided")
    text = sf.report(study).html()
    assert "one within 0.1 of the best is named" in text
    assert ">the best is named<" not in text
    assert "Settled: shown at most 0.1 above the one named." in text
    assert "letters by the ranking" not in text
    assert "confidence for all rows together, had their number been fixed beforehand." in text
    assert "Intervals: 95% for all rows together." not in text  # those of the first table do not hold
    assert "success rate, with intervals of 95%" in text  # those of the race's figure do
    assert "joined after" not in text  # nobody did


def test_halving_says_nowhere_that_one_may_be_the_best():
    rng = random.Random(1)
    study = begun(policies=MANY[:6], question="best", rule="halve", budget=90, horizon=None, blinded=False)
    driven(study, lambda turn: rng.random() < RATES[turn.policy], 40)
    found = status.account(study.fold, verified(study.store.read())).finding
    assert found.ranking.picks
    assert {one.standing for one in found.ranking.policies} == {"running", "stopped"}
    driven(study, lambda turn: rng.random() < RATES[turn.policy])
    found = status.account(study.fold, verified(study.store.read())).finding
    assert found.ranking.policies[0].standing == "picked"
    assert status.StudyFinding.from_dict(found.to_dict()) == found
    text = sf.report(study).html()
    assert "That it is the best is not claimed" in text
    assert "one is picked" in text
    assert not any(words in text for words in ("the best is named", "The race", ">named<", ">out<"))
