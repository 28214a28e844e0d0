"""Tests of `surefoot.console.live_figures`."""

from __future__ import annotations

import re

import pytest

import surefoot as sf
from surefoot.console import live_figures
from surefoot.console.live_figures import live_of
from tests.support.consoles import Console, ran, study
from tests.support.studies import begun, driven, outcomes


@pytest.mark.parametrize(
    ("rule", "seed", "note"),
    [
        ("savi", 1, "not from the rule: it may hold 0 after a verdict"),
        ("mixture", 8, "The end at 0 is not in the interval: the verdict excludes 0."),
    ],
)
def test_an_interval_that_touches_0_beside_a_verdict_is_explained_wherever_it_is_shown(rule, seed, note):
    study = driven(begun(rule=rule, horizon=60), outcomes(seed, new=0.95, old=0.2))
    study.unblind(reason="decided")
    assert study.verdict is sf.Verdict.BETTER
    assert study.fold.decision.state.interval.low < 0.0005
    made = sf.report(study)
    for text in (str(made), made.html(), made.markdown(), " ".join(live_of(study.fold).lines)):
        assert text.count(note) == 1


# --- what they do ---


def test_an_exact_rule_shows_its_lead_and_the_region_where_it_goes_on(tmp_path):
    """It has no evidence to draw: the lead leaves the region when, and only when, the rule decides."""
    console = Console(study(tmp_path, rule="exact", horizon=50, environments="independent"))
    runner, owner = console.client("runner"), console.client("owner")
    while (turn := runner.post("/api/v1/turns/next").json()["turn"]) is not None:
        lucky = turn["block"] % 3 == 0
        result = (turn["policy"] == "new") != lucky
        runner.post(f"/api/v1/turns/{turn['number']}/record", json={"result": result})
    owner.post("/api/v1/unblind", json={"reason": "decided"})
    results = owner.get("/api/v1/results").json()
    assert "threshold" not in results
    rows = results["sequence"]
    outside = [not row["worse_beyond"] <= row["lead"] <= row["better_beyond"] for row in rows]
    assert outside == [False] * (len(rows) - 1) + [results["verdict"] != "undecided"]
    assert rows[-1]["estimate"] == pytest.approx(rows[-1]["lead"] / rows[-1]["pairs"])
    page = owner.get("/live").text
    assert f"new is {rows[-1]['lead']} successes ahead after {rows[-1]['pairs']} pairs." in page
    assert "Evidence" not in page.split("<h2>Each policy</h2>")[1]


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [(19.97, "19.9"), (20.0 * (1 - 1e-12), "20"), (0.012399, "0.0123"), (0.0, "0"), (31.46, "31.5")],
)
def test_evidence_that_has_not_decided_is_not_rounded_to_what_would(evidence, shown):
    curve = live_figures._evidence_curve([{"pairs": 7, "evidence": evidence}], 20.0)
    assert curve.summary == f"Evidence is {shown} after 7 pairs; the rule decides at 20."


def test_scores_by_rubric_and_many_policies_are_shown(tmp_path):
    console = Console(study(tmp_path, policies=("a", "b", "c"), measure="score", levels=(0.0, 0.5, 1.0), horizon=6))
    runner, owner = console.client("runner"), console.browser("owner")
    ran(runner, [0.5, 1.0, 0.0] * 6)
    owner.post("/api/v1/unblind", json={"reason": "done"})
    page = owner.get("/live")
    assert page.status_code == 200
    assert re.search(r'of at most <span id="horizon">6</span> rounds', page.text)
    console.study.refresh()
    fold = console.study.fold
    scores = {name: [r.score for n, r in fold.results.items() if fold.turns[n].policy == name] for name in "abc"}
    shown = {row["policy"]: row["estimate"] for row in owner.get("/api/v1/results").json()["policies"]}
    assert shown == pytest.approx({name: sum(own) / len(own) for name, own in scores.items()})
