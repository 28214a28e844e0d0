"""What a plan is, how it is written and read, and what it will take."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import ExactBinary, FiniteHorizonMixture
from surefoot.study.amendments import BINDING, binding
from surefoot.study.decision import decision_of, rule_of
from surefoot.study.events import broken
from surefoot.study.plans import Plan
from tests.support.studies import begun

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(str.strip)
NAMES = st.lists(TEXT, max_size=3, unique=True).map(tuple)


@st.composite
def plans(draw):
    score = draw(st.booleans())
    fields = {
        "policies": draw(st.lists(TEXT, min_size=2, max_size=4, unique=True).map(tuple)),
        "title": draw(st.text(st.characters(exclude_categories=("Cs",)), max_size=20)),
        "claim": draw(st.sampled_from(("either", "first better"))),
        "confidence": draw(st.floats(0.5, 0.999)),
        "horizon": draw(st.integers(1, 2000)),
        "margin": draw(st.sampled_from((0.0, 0.05))),
        "futility": draw(st.sampled_from((None, 0, 0.02, 0.2))),
        "environments": draw(st.sampled_from(("shared", "independent", "stratified"))),
        "tasks": draw(NAMES),
        "conditions": draw(NAMES),
        "blinded": draw(st.booleans()),
        "time_limit": draw(st.none() | st.floats(0.1, 1e6)),
        "reset": draw(st.text(st.characters(exclude_categories=("Cs",)), max_size=20)),
        "void_reasons": draw(NAMES),
    }
    if score:
        low, width = draw(st.floats(-100, 100)), draw(st.floats(0.1, 100))
        fields |= {"measure": "score", "low": low, "high": low + width}
        fields |= draw(st.sampled_from(({}, {"levels": (low, low + width)})))
    return Plan(**fields)


@given(plans())
@settings(max_examples=150)
def test_a_written_plan_reads_back_the_same(plan):
    again = Plan.from_toml(plan.to_toml())
    assert again == plan
    assert again.fingerprint == plan.fingerprint
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_blank_reset_is_nothing_to_do():
    assert Plan(policies=("new", "old"), reset=" \r").task("").reset == ()


def test_a_written_plan_explains_every_field():
    text = Plan(policies=("new", "old")).to_toml()
    for line in ('policies = ["new", "old"]', "# tasks = [", "# time_limit = 90.0", 'rule = "exact"', "horizon = 50"):
        assert line in text
    assert text.count("#") > 20
    assert "levels" not in text
    assert "# levels = [0.0, 0.5, 1.0]" in Plan(policies=("new", "old"), measure="score").to_toml()


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "exact"),
        ({"environments": "shared"}, "exact"),
        ({"horizon": 501}, "mixture"),
        ({"margin": 0.05}, "mixture"),
        ({"measure": "score"}, "mixture"),
        ({"policies": ("a", "b", "c")}, "closed"),
        ({"policies": tuple("abcdefgh")}, "closed"),
        ({"policies": tuple("abcdefgh"), "question": "top 3"}, "closed"),
        ({"policies": tuple(map(str, range(17)))}, "holm"),
        ({"rule": "nscore"}, "nscore"),
    ],
)
def test_a_rule_that_fits_is_chosen(fields, rule):
    assert Plan(**{"policies": ("new", "old"), **fields}).rule == rule


@pytest.mark.parametrize(
    ("fields", "futility"),
    [
        ({}, 0.02),
        ({"claim": "first better"}, 0.005),
        ({"measure": "score"}, 0.02),
        ({"rule": "wsr", "claim": "first better"}, 0.005),
        ({"rule": "savi"}, 0.0),
        ({"rule": "fixed"}, 0.0),
        ({"policies": ("a", "b", "c")}, 0.0),
        ({"futility": 0}, 0.0),
        ({"futility": 0.05}, 0.05),
    ],
)
def test_a_new_plan_declares_futility_where_its_rule_can_stop_for_it(fields, futility):
    plan = Plan(**{"policies": ("new", "old"), **fields})
    assert plan.futility == futility
    assert decision_of(plan).rule.futility == futility if len(plan.policies) == 2 else True
    assert f"futility = {futility}" in plan.to_toml()


def test_a_plan_of_an_earlier_version_declares_none():
    plan = Plan(policies=("new", "old"), futility=0)
    kept = plan.to_dict()
    del kept["futility"]
    assert Plan.from_dict(kept) == plan == Plan.from_toml('policies = ["new", "old"]')
    assert Plan.from_dict(kept).fingerprint == plan.fingerprint != Plan(policies=("new", "old")).fingerprint
    assert plan.amended({"horizon": 60}).futility == 0.0


@pytest.mark.parametrize("fields", [{"rule": "savi"}, {"rule": "fixed"}])
def test_futility_of_a_rule_that_cannot_is_refused(fields):
    with pytest.raises(StudyError, match="futility"):
        decision_of(Plan(**{"policies": ("new", "old"), "futility": 0.02, **fields}))


def test_the_fingerprint_is_of_the_content():
    one = Plan(policies=("new", "old"), low=0, high=1, confidence=0.95)
    assert one.fingerprint == Plan(policies=["new", "old"], low=0.0, high=1.0).fingerprint
    assert one.fingerprint == Plan(policies=("new", "old"), horizon=np.int64(50)).fingerprint
    for change in ({"horizon": 51}, {"title": "other"}, {"confidence": 0.951}, {"policies": ("old", "new")}):
        assert one.amended(change).fingerprint != one.fingerprint


@pytest.mark.parametrize(("confidence", "said"), [(0.999, "99.9%"), (0.975, "97.5%"), (0.99996, "99.996%")])
def test_a_plan_claims_no_more_confidence_than_it_has(confidence, said):
    plan = Plan(policies=("new", "old"), confidence=confidence, rule="mixture")
    assert f"mixture rule at {said}, at most 50 pairs, independent environments." in str(plan)
    assert "at most 50 rounds" in str(Plan(policies=("a", "b", "c")))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"policies": ("new",)}, "at least two policies"),
        ({"policies": "new"}, "list of non-empty names"),
        ({"policies": ("new", "new")}, "not repeat a name"),
        ({"policies": ("new", " ")}, "non-empty names"),
        ({"policies": ("new", "\ud800")}, "whole Unicode text"),
        ({"horizon": 0}, "`horizon` must be at least 1"),
        ({"horizon": 10.5}, "whole number"),
        ({"confidence": 95}, "Write 0.95 for 95%"),
        ({"claim": "better"}, "`claim` must be one of"),
        ({"rule": "best"}, "`rule` must be one of"),
        ({"environments": "random"}, "`environments` must be one of"),
        ({"environments": "one", "tasks": ("a", "b")}, "must not be 'one' with 2 tasks"),
        ({"low": 0.2}, "must be left out when `measure` is 'success'"),
        ({"measure": "score", "low": 1.0, "high": 0.0}, "`low` must be below `high`"),
        ({"measure": "score", "levels": (0.5, 0.0)}, "`levels` must rise"),
        ({"measure": "score", "levels": (0.5, 2.0)}, "`levels` must rise within"),
        ({"measure": "score", "levels": (0.5,)}, "at least two"),
        ({"measure": "score", "levels": 3}, "list of scores"),
        ({"blinded": 1}, "true or false"),
        ({"time_limit": 0}, "above 0"),
        ({"title": 3}, "`title` must be a str"),
        ({"futility": 0.3}, "`futility` must be between 0 and 0.2; got 0.3"),
        ({"futility": -0.01}, "`futility` must be between 0 and 0.2"),
        ({"futility": "never"}, "`futility` must be a number"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Plan(**{"policies": ("new", "old"), **fields})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policies = [", "must be TOML"),
        ('title = "x"', "must name its `policies`"),
        ('policies = ["a", "b"]\nhorzon = 3', "known fields only; got horzon"),
        ('policies = ["a", "b"]\nhorizon = "many"', "cannot be used"),
        ('policies = ["a", "b"]\nlevels = 3', "cannot be used"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(text, said):
    with pytest.raises(StudyError, match=said):
        Plan.from_toml(text)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"measure": "score", "rule": "exact"}, "must take scores"),
        ({"environments": "shared", "rule": "savi"}, "must hold for shared environments"),
        ({"policies": ("a", "b", "c"), "rule": "exact"}, "take 3 policies; got 'exact'. Use 'closed' or 'holm'"),
        ({"policies": ("a", "b", "c"), "claim": "first better"}, "must be 'either' and 0 for a ranking"),
        ({"rule": "exact", "margin": 0.1}, "margin"),
        ({"rule": "exact", "horizon": 2}, "at least"),
    ],
)
def test_a_rule_that_cannot_decide_the_plan_is_refused_before_it_begins(fields, said):
    with pytest.raises(StudyError, match=said):
        sf.Study.create(Plan(**{"policies": ("new", "old"), **fields}), ":memory:")


@pytest.mark.parametrize(
    ("result", "value"), [(True, 1.0), (False, 0.0), (1, 1.0), (0, 0.0), (1.0, 1.0)], ids=["yes", "no", "1", "0", "1.0"]
)
def test_successes_are_understood(result, value):
    assert Plan(policies=("a", "b")).value(result) == value


@pytest.mark.parametrize("result", [2, 0.5, "true", None, float("nan"), -1, [1]])
def test_what_is_no_success_or_failure_is_refused(result):
    with pytest.raises(StudyError, match="true or false"):
        Plan(policies=("a", "b")).value(result)


def test_scores_are_held_to_range_and_rubric():
    plan = Plan(policies=("a", "b"), measure="score", low=-1.0, high=1.0, levels=(-1.0, 0.0, 1.0))
    assert plan.value(0) == 0.0
    for result in (True, float("nan"), float("inf"), 1.5, "1"):
        with pytest.raises(StudyError, match="score in"):
            plan.value(result)
    with pytest.raises(StudyError, match="rubric's levels -1, 0, 1"):
        plan.value(0.5)


def test_what_binds_is_what_the_verdict_rests_on():
    assert {"rule", "claim", "confidence", "horizon", "low", "high", "levels", "margin", "policies", "tasks"} <= set(
        BINDING
    )
    assert not {"title", "reset", "void_reasons"} & set(BINDING)


def test_logs_of_earlier_schemas_are_read_as_they_were_declared():
    assert binding(("tasks", "title", "time_limit", "horizon"), 2) == ["horizon"]
    assert binding(("tasks", "title", "time_limit", "horizon"), 3) == ["tasks", "time_limit", "horizon"]


def test_every_rule_is_declared_with_its_parameters():
    plan = Plan(policies=("a", "b"), horizon=30, confidence=0.9, claim="first better")
    rule = rule_of(plan)
    assert (type(rule), rule.horizon, rule.confidence, rule.claim) == (ExactBinary, 30, 0.9, "first better")
    scored = Plan(policies=("a", "b"), measure="score", low=0.0, high=5.0, margin=0.5, horizon=30)
    rule = rule_of(scored)
    assert (type(rule), rule.low, rule.high, rule.margin) == (FiniteHorizonMixture, 0.0, 5.0, 0.5)


def test_numpy_results_are_results():
    study = begun()
    study.record(study.next_turn(), np.bool_(True), duration=np.float32(1.5))
    assert study.fold.results[1].score == 1.0
    scored = begun(measure="score")
    for value in (np.float32(0.5), np.int64(1), np.array(0.25)):
        turn = scored.next_turn()
        scored.record(turn, value)
        assert scored.fold.results[turn.number].score == float(value)
    assert broken(scored.store.read()) is None
