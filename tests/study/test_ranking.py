"""Tests of `surefoot.study.ranking`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from surefoot.core.record import Record
from surefoot.reporting.study_pages import progress_lines
from surefoot.study.conduct import counts_of
from surefoot.study.ranking import StudyRanking, means_of_policies, ranking_of
from surefoot.study.status import account
from surefoot.study.verification import verified
from tests.support.studies import begun, driven, outcomes

RATES = {"a": 0.95, "b": 0.5, "c": 0.1, "d": 0.7}


def ranked(**changes):
    return begun(**{"policies": ("a", "b", "c"), "rule": None, "horizon": 60, "blinded": False, **changes})


def test_two_policies_have_none():
    assert ranking_of(begun().fold) is None


def test_before_the_first_round_all_is_open():
    found = ranking_of(ranked().fold, gains=True)
    assert len(found.open) == len(found.pairs) == 3
    assert all(one.interval is None and one.running and one.place == "1 to 3" for one in found.policies)
    assert all(pair.gain is None for pair in found.pairs)


@pytest.mark.parametrize("changes", [{}, {"rule": "holm"}, {"measure": "score"}, {"question": "against c"}])
def test_it_says_what_the_rule_knows(changes):
    study = driven(ranked(**changes), lambda turn: float(outcomes(turn.number, **RATES)(turn)))
    state, found = study.fold.decision.state, ranking_of(study.fold, gains=True)
    known = counts_of(study.fold)
    assert known.run + known.saved == known.planned == 180
    assert known.counted == state.rollouts_used == sum(one.rollouts for one in found.policies)
    assert [one.policy for one in found.policies] == list(state.letters.names)
    assert [one.letters for one in found.policies] == list(state.letters.letters)
    for pair in found.pairs:
        assert pair.verdict is state.verdict(pair.first, pair.second)
        gain = state.interval(pair.first, pair.second)
        assert pair.gain == (gain if gain.trials else None)
        assert pair.open == (
            (pair.first, pair.second) in state.undecided or (pair.second, pair.first) in state.undecided
        )
    assert found.said[0] == state.summary
    assert StudyRanking.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_policy_that_waits_to_join_is_told():
    study = driven(ranked(), outcomes(1, **RATES), 4)
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    assert ranking_of(study.fold).waiting == ("d",)
    driven(study, outcomes(2, **RATES), 4)
    found = ranking_of(study.fold)
    assert found.waiting == ()
    assert {one.policy: one.joined for one in found.policies} == {"a": 0, "b": 0, "c": 0, "d": 2}


def test_means_leave_out_what_was_voided():
    study = driven(ranked(), lambda turn: turn.policy == "a", 6)
    study.void(1, reason="hardware fault")
    assert {policy: (one.trials, one.estimate) for policy, one in means_of_policies(study.fold).items()} == {
        "a": (1, 1.0),
        "b": (1, 0.0),
        "c": (1, 0.0),
    }


def test_the_report_shows_the_ranking_and_its_sizes_as_two_families(tmp_path):
    study = driven(ranked(futility=0.1, horizon=40), outcomes(3, a=0.95, b=0.4, c=0.4))
    made = sf.report(study)
    assert Record.from_dict(json.loads(json.dumps(made.study.to_dict()))) == made.study
    page, text = made.html(), made.markdown()
    for told in ("The ranking", "By how much they differ", "a separate family", "not decidable within the horizon"):
        assert told in page
        assert told in text
    assert str(made.study.counts) in page
    assert str(made.study.counts) in text
    assert set(made.figures()) >= {"ranking", "policies"}
    for name in ("a.html", "a.md", "a.tex", "a.json"):
        made.save(tmp_path / name)


def test_whoever_joins_late_may_still_meet_the_horizon():
    study = begun(policies=("a", "b", "c"), rule="closed", horizon=12, blinded=False, futility=0.0)
    driven(study, lambda turn: turn.block % 2, 9)
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="it has just been trained")
    driven(study, lambda turn: turn.block % 2, 100)
    status = study.status()
    assert status.finished
    assert status.blocks <= status.horizon == 15  # a lab's study said "72 of at most 60 rounds"
    assert "of at most 15 rounds count" in " ".join(progress_lines(account(study.fold, verified(study.store.read()))))
