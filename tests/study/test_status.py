"""Tests of `surefoot.study.status`."""

from __future__ import annotations

import html
import json
import re

import pytest

import surefoot as sf
from surefoot.study import status
from surefoot.study.status import DECISIONS, Account, StudyFinding, account, finding_of
from tests.support.ended_studies import untidy
from tests.support.studies import begun, driven, outcomes

# --- blinded: only progress ---


def leaks(text):
    """Words and numbers that would give a policy away."""
    plain = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return re.findall(r"\bnew\b|\bold\b|better|worse|evidence|p = |success|failure", plain)


def test_nothing_of_a_policy_is_reachable_while_blinded():
    study = begun(time_limit=1.0, title="Mugs")
    driven(study, outcomes(5, new=0.95, old=0.3), 6)
    study.undo(2, reason="slip")
    study.record(2, True, duration=5.0)
    study.void(3, reason="safety stop")
    driven(study, outcomes(5, new=0.95, old=0.3))
    assert study.finished
    made = sf.report(study)
    shown = made.study
    assert shown.finding is None
    for text in (str(made), made.html(), made.markdown(), *map(str, shown.deviations), str(sf.verify(study.store))):
        assert leaks(text) == []
    assert "Stop: decided" in str(made)
    data = json.dumps({**made.data()["study"], "plan": None})
    assert leaks(data) == []
    assert leaks(json.dumps({**study.status().to_dict(), "head": None})) == []
    assert study.status().verdict is None
    assert study.fold.blinded


def test_an_account_of_the_fold_is_plain_data():
    study = untidy()
    told = account(study.fold, sf.verify(study.store))
    assert json.loads(json.dumps(told.to_dict()))["deviations"] == [one.to_dict() for one in told.deviations]


# --- after the stop ---

EXACT = {"rule": "exact", "horizon": 50, "environments": "independent", "blinded": False}


def alike(turn):
    return turn.block % 2 == 0


def finding(**changes):
    robot = changes.pop("robot", outcomes(5, new=0.9, old=0.4))
    turns = changes.pop("turns", None)
    study = driven(begun(**{**EXACT, **changes}), robot, turns)
    return study, finding_of(study.fold, certified=True)


def test_while_a_study_goes_on_its_interval_holds_at_any_moment():
    study, found = finding(turns=10)
    assert study.status().decision == DECISIONS[None]
    assert found.kind == "anytime"
    assert found.interval == study.fold.decision.state.anytime_interval
    assert found.observed == found.interval.estimate == pytest.approx(0.6)


@pytest.mark.parametrize("claim", ["either", "first better"])
def test_after_a_verdict_the_interval_is_final_and_the_estimate_unbiased(claim):
    study, found = finding(claim=claim)
    state = study.fold.decision.state
    assert (found.kind, found.verdict) == ("final", sf.Verdict.BETTER)
    assert found.interval == state.final_interval()
    assert found.interval.estimate == state.estimate < found.observed == pytest.approx(state.observed)
    assert found.means[0] - found.means[1] == pytest.approx(found.observed)
    assert found.interval.low > 0
    assert any(note.kind == "early_verdict" for note in found.notes)


def test_the_steps_are_those_that_held_at_each_moment():
    study, found = finding()
    states = [state for state in study.fold.states if state.pairs]
    assert [step.pairs for step in found.steps] == [state.pairs for state in states]
    for step, state in zip(found.steps, states, strict=True):
        held = state.anytime_interval
        assert (step.low, step.estimate, step.high) == (held.low, held.estimate, held.high)
    assert found.steps[-1].high > found.interval.high


def test_a_stop_for_futility_is_final_and_says_which_gains_are_left():
    study, found = finding(robot=alike)
    assert study.status().decision == "stop: hardly any chance left to decide"
    assert (found.kind, found.verdict, found.observed) == ("final", sf.Verdict.UNDECIDED, 0.0)
    assert found.interval.low < 0 < found.interval.high < 1
    assert not any(note.kind == "early_verdict" for note in found.notes)


def test_after_an_override_the_interval_is_the_one_that_holds_at_any_moment():
    study, _ = finding(robot=alike)
    study.override(reason="more time")
    driven(study, lambda turn: turn.policy == "new")
    found = finding_of(study.fold, certified=True)
    assert (found.kind, found.verdict) == ("anytime", sf.Verdict.BETTER)
    assert found.interval == study.fold.decision.state.anytime_interval
    assert any(getattr(note, "kind", "") == "raw_verdict" for note in found.notes)


def test_a_betting_rule_keeps_the_interval_that_holds_at_any_moment():
    study, found = finding(rule="mixture")
    assert (found.kind, found.verdict) == ("anytime", sf.Verdict.BETTER)
    assert found.interval == study.fold.decision.state.interval
    assert found.interval.estimate == pytest.approx(found.observed)
    assert any(getattr(note, "kind", "") == "raw_verdict" for note in found.notes)


def test_a_fixed_size_is_called_that():
    _, found = finding(rule="fixed", horizon=12)
    assert found.kind == "fixed size"


def test_what_is_not_certified_is_never_called_final(monkeypatch):
    from surefoot.sequential import after_stop

    monkeypatch.setattr(after_stop, "AT_ONCE", 40)  # as if 50 pairs were many
    study = driven(begun(**EXACT), outcomes(5, new=0.9, old=0.4))
    quick, proved = (finding_of(study.fold, certified=certified) for certified in (False, True))
    assert (quick.kind, proved.kind) == ("final, not certified", "final")
    assert quick.interval.method != proved.interval.method
    assert quick.interval.low >= proved.interval.low
    assert quick.interval.high <= proved.interval.high


def test_a_declared_list_has_a_gain_of_its_own(monkeypatch):
    conditions = tuple(f"scene {place}" for place in range(30))
    listed = {"environments": "shared", "horizon": 30, "conditions": conditions}
    study, found = finding(**listed)
    assert found.of_list == study.fold.decision.state.list_interval()
    assert found.of_list.high - found.of_list.low < found.interval.high - found.interval.low
    assert finding(**{**listed, "horizon": 31})[1].of_list is None  # some scenes come twice
    assert finding(**listed, turns=4)[1].of_list is None  # it goes on
    study = begun(**{**EXACT, **listed})
    study.void(study.next_turn(), reason="hardware fault")
    assert finding_of(driven(study, outcomes(5, new=0.9, old=0.4)).fold, certified=True).of_list is None
    monkeypatch.setattr(status, "AT_ONCE", 20)
    assert finding(**listed)[1].of_list is None  # too long to be quick


def test_what_was_found_reads_back_the_same_and_so_does_what_an_earlier_version_wrote():
    study, found = finding()
    kept = json.loads(json.dumps(found.to_dict()))
    assert StudyFinding.from_dict(kept) == found
    for name in ("kind", "observed", "means", "of_list"):
        del kept[name]
    assert StudyFinding.from_dict(kept).kind == "anytime"
    told = json.loads(json.dumps(sf.report(study).study.to_dict()))
    assert Account.from_dict(told).finding == found
    del told["plan"]["futility"]
    assert Account.from_dict(told).plan.futility == 0.0


@pytest.mark.parametrize(
    ("changes", "rule", "promise", "needs"),
    [
        ({"rule": "exact", "horizon": 40}, "exact binary design rule, read after every pair, 40 pairs at most",
         "over all looks together, is at most 5%: 2.5% in each direction", "Pairs are independent of one another"),
        ({"rule": "mixture", "confidence": 0.9875}, "finite-horizon mixture rule",  # a promise is rounded up
         "is at most 1.25%: 0.63% in each direction", "random order that the study drew"),
        ({"rule": "mixture", "claim": "first better", "environments": "shared", "conditions": ("a", "b")},
         "finite-horizon mixture rule, read after every pair",
         "is not better than old, the chance that it is called so",
         "Both policies of a pair met the same task and condition"),
        ({"rule": "fixed", "horizon": 30}, "fixed size rule, read once, after 30 pairs",
         "a wrong verdict is at most 5%",
         "Whoever scored a rollout did not know its policy"),
        ({"policies": ("new", "old", "older")}, "Holm's ranking, read after every round", "any wrong statement",
         "random order that the study drew"),
    ],
)  # fmt: skip
def test_the_deciding_rule_its_promise_and_what_it_needs_are_on_the_page(changes, rule, promise, needs):
    study = driven(begun(**changes), outcomes(5, new=0.95, old=0.3, older=0.1))
    study.unblind(reason="decided")
    page = html.unescape(sf.report(study).html())
    methods, must = page[page.index("<h3>Methods") :].split("<h3>What must hold")
    assert rule in methods
    assert promise in methods
    assert needs in must
    assert methods.index(rule) < methods.index("interval for each policy")
