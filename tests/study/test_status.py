"""Tests of `surefoot.study.status`."""

from __future__ import annotations

import json
import re

import surefoot as sf
from surefoot.study.status import account
from tests.studies import begun, driven, outcomes
from tests.support.ended_studies import untidy

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
    for text in (str(made), made.html(), made.markdown(), *shown.deviations, str(sf.verify(study.store))):
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
    assert json.loads(json.dumps(told.to_dict()))["deviations"] == list(told.deviations)
