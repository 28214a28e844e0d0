"""A study of a declared list: drawn, fixed and hashed before the first outcome, and worded as one about the list."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.reporting.study_pages import study_answers
from surefoot.sequential import FiniteHorizonMixture, ListMean, run, run_list
from surefoot.study.decision import rule_of
from surefoot.study.events import Line
from surefoot.study.item_lists import NOT_DRAWN, list_hash
from surefoot.study.plans import Plan
from surefoot.study.recording import RefusedError
from surefoot.study.schedules import drawn_order
from surefoot.study.state import folded
from surefoot.study.status import account, means_on_list
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.verification import verified
from tests.support.studies import begun, driven

ITEMS = tuple(f"issue {number}" for number in range(60))


def of_list(**changes):
    return Plan(**{"policies": ("new", "old"), "items": ITEMS, **changes})


def study_of(seed=1, store=None, **changes):
    return begun(store, seed=seed, **{"rule": None, "horizon": None, "items": ITEMS, **changes})


def simulated(turn):
    """What an item gives: always the same, and better for the new one."""
    return random.Random(f"{turn.item} {turn.policy}").random() < {"new": 0.9, "old": 0.3}[turn.policy]


# --- what is declared ---


def test_a_list_sets_the_rule_the_horizon_and_the_environments():
    plan = of_list()
    assert (plan.rule, plan.horizon, plan.environments, plan.futility) == ("mixture", 60, "shared", 0.0)
    assert plan.void_reasons == ()
    assert rule_of(plan) == FiniteHorizonMixture(60, claim="either", binary=True, population=60)
    assert rule_of(of_list(horizon=20)).population == 60
    assert "of a list of 60 items (SHA-256 " + list_hash(plan)[:16] in str(plan)
    assert Plan.from_toml(plan.to_toml()) == plan
    assert '\nitems = [\n    "issue 0",\n' in plan.to_toml()
    assert plan.fingerprint != of_list(items=ITEMS[::-1]).fingerprint


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"items": ("a", "b", "a")}, "`items` must name each item once; got 'a' at places 1 and 3"),
        ({"items": ("a", " ")}, "`items` must be a list of non-empty names; got ' '"),
        ({"items": "a"}, "`items` must be a list of non-empty names"),
        ({"items": ("a", "\ud800")}, "`items` must be whole Unicode text"),
        ({"policies": ("a", "b", "c")}, "`items` must be run by two policies; got 3"),
        ({"tasks": ("mug",)}, "`tasks` and `conditions` must be left out with `items`"),
        ({"environments": "independent"}, "`environments` must be 'shared' with `items`"),
        ({"on_crash": "void"}, "`on_crash` must be 'failure' or 'retry' with `items`"),
        ({"void_reasons": ("hardware fault",)}, "`void_reasons` must be left out with `items`"),
        ({"horizon": 61}, "`horizon` must be at most 60, the items of the list; got 61"),
        ({"rule": "exact"}, "`rule` must take a declared list of items; got 'exact'. Use rule = 'mixture'."),
        ({"rule": "savi"}, "`rule` must take a declared list"),
    ],
)
def test_what_a_list_does_not_admit_is_refused(changes, said):
    with pytest.raises((ValueError, TypeError), match=said):
        of_list(**changes)


def test_futility_on_a_list_is_refused():
    with pytest.raises(StudyError, match="`futility` must be 0 with a population"):
        rule_of(of_list(futility=0.02))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"helped_by": (0.5,) * 59}, "`helped_by` must hold one number for each of the 60 items of the list; got 59"),
        ({"helped_by": (0.5,) * 59 + (1.5,)}, r"must lie in the range \[0, 1\]; got 1.5 for 'issue 59'"),
        ({"helped_by": (0.5,) * 59 + (float("nan"),)}, "`helped_by` must be"),
        ({"helped_by": (0.5,) * 59 + ("high",)}, "`helped_by` must be"),
        ({"helped_by": "half"}, "`helped_by` must hold one number for each item"),
        ({"items": (), "helped_by": (0.5,)}, "each of the 0 items of the list; got 1"),
    ],
)
def test_predictions_that_do_not_fit_the_list_are_refused(changes, said):
    with pytest.raises((ValueError, TypeError), match=said):
        of_list(**changes)


# --- what is drawn and fixed ---


def test_the_first_line_fixes_the_list_its_order_and_the_seed():
    study = study_of()
    said = study.fold.history[0].body
    order = drawn_order(study.fold.seed.reveal(), 60)
    drawn = [ITEMS[place] for place in order]
    assert sorted(order) == list(range(60))
    assert said["list"] == {
        "length": 60,
        "items": hashlib.sha256(json.dumps(list(ITEMS)).encode()).hexdigest(),
        "order": hashlib.sha256(json.dumps(drawn).encode()).hexdigest(),
    }
    driven(study, lambda turn: turn.block % 2 == 0)  # both alike: nothing is ever decided
    met = [[turn.item for turn in turns] for _, turns in sorted(study.fold.blocks.items())]
    assert met == [[item, item] for item in drawn]
    assert study.fold.decision.taken == 60
    assert study.status().decision == "stop: nothing more can be decided"


def test_every_order_is_as_likely_as_any_other():
    first = [drawn_order(f"{seed:x}", 5)[0] for seed in range(1000)]
    assert all(150 <= first.count(place) <= 250 for place in range(5))  # 4 standard errors
    assert len({drawn_order(f"{seed:x}", 5) for seed in range(1000)}) == 120


def forged(study, **said):
    """The same log with another word on its list, chained anew."""
    lines = study.store.read()
    event = lines[0].event
    body = {**event.body, "list": {**event.body["list"], **said}}
    found = [Line.after(None, replace(event, body=body), private=lines[0].private)]
    for line in lines[1:]:
        found.append(Line.after(found[-1], line.event))
    return found


@pytest.mark.parametrize("said", [{"order": "0" * 64}, {"items": "0" * 64}, {"length": 61}])
def test_an_order_that_is_not_the_drawn_one_is_refused(said):
    lines = forged(driven(study_of(), simulated, 4), **said)
    with pytest.raises(StudyError, match="is not the one that was declared and drawn"):
        folded(lines)
    assert NOT_DRAWN in verified(lines).faults
    store = MemoryStore()
    store.append(lines, after="0" * 64)
    with pytest.raises(StudyError, match="is not the one that was declared and drawn"):
        sf.Study.open(store)


def test_a_turn_out_of_the_drawn_order_is_refused():
    study = study_of()
    with pytest.raises(RefusedError, match="Turn 5 was never handed out"):
        study.record(5, True)
    lines = study.store.read()
    skipped = Line.after(lines[0], replace(study_of().fold.history[0], kind="leased", body={
        "turn": 3, "holder": "x", "seconds": 60.0}))  # fmt: skip
    with pytest.raises(StudyError, match="turn 1 comes next, not turn 3"):
        folded([*lines, skipped])


@pytest.mark.parametrize("change", [{"items": (*ITEMS, "one more")}, {"items": ITEMS[:-1]}, {"items": ()}])
@pytest.mark.parametrize("turns", [0, 3])
def test_a_list_is_not_changed_after_the_start(change, turns):
    study = driven(study_of(), simulated, turns)
    version = study.version
    with pytest.raises(RefusedError, match="`items` cannot be amended: a list and its order are fixed when a study"):
        study.amend(change, reason="more data came in")
    assert study.version == version
    assert study.plan.items == ITEMS
    study.amend({"title": "Another"}, reason="a better name")  # what does not touch the list can be


def test_no_item_is_left_out():
    study = driven(study_of(), simulated, 2)
    with pytest.raises(RefusedError, match=r"no item of a declared list is left out\. If a result is wrong, undo it"):
        study.void(1, reason="hardware fault")
    turn = study.fold.turns[1]
    study.undo(1, reason="the wrong button")
    again = study.next_turn()
    assert (again.number, again.item) == (1, turn.item)


@pytest.mark.parametrize(("on_crash", "tries"), [("failure", 1), ("retry", 4)])
def test_a_crash_is_an_outcome_and_its_item_counts(on_crash, tries):
    ran = []

    def rollout(turn):
        ran.append(turn.number)
        if turn.number == 1:
            raise RuntimeError("lost the network")
        return simulated(turn)

    study = study_of(on_crash=on_crash)
    sf.run_study(study, rollout)
    assert ran.count(1) == tries
    assert study.fold.results[1].score == 0.0
    assert study.fold.counted == list(range(1, study.fold.decision.taken + 1))


# --- what is found ---


def answers(study):
    found = account(study.fold, verified(study.store.read()))
    return study_answers(found, found.finding)


def test_a_function_runs_a_list_to_a_verdict_that_speaks_of_the_list_only(tmp_path):
    study = study_of()
    known = sf.run_study(study, simulated, workers=3)
    assert known.finished
    assert known.claim == ""  # blinded
    study.unblind(reason="decided")
    pairs = study.fold.decision.taken
    claim = (
        f"On these 60 items new is better ({pairs} run; error 5% for what a complete run would show). "
        "It says nothing about other items."
    )
    assert pairs < 30
    assert study.status().claim == claim
    report, said = sf.report(study), answers(study)
    assert said[0] == claim
    assert said[1].startswith("On items like these, if the list is a random draw of them, ")
    assert "the first policy" not in " ".join(said)
    assert claim in str(report)
    page = report.html()
    assert claim.split(" (")[0] in page
    assert f"The list of 60 items (SHA-256 {list_hash(study.plan)[:16]}) and its random order" in page
    assert page.count("issue 5") < 10  # the plan's table counts the items and does not name them
    assert json.loads(json.dumps(report.to_dict()))


def test_both_claims_are_made_where_both_can_be():
    study = driven(study_of(), lambda turn: turn.policy == "new")
    study.unblind(reason="decided")
    first, second = answers(study)[:2]
    assert first.startswith("On these 60 items new is better (")
    assert second == (
        "On items like these, if the list is a random draw of them, nothing is decided yet."
        if run(FiniteHorizonMixture(60, claim="either", binary=True), [(1, 0)] * study.fold.decision.taken)[-1].verdict
        is Verdict.UNDECIDED
        else "On items like these, if the list is a random draw of them, new is better too (error 5%)."
    )


def test_live_is_replayed_and_verifies():
    study = driven(study_of(seed=7), simulated)
    found = verified(study.store.read())
    assert found.sound
    again = folded(study.store.read())
    assert again.decision.verdict is study.verdict is Verdict.BETTER
    assert again.decision.state == study.fold.decision.state
    scores = [{t.policy: simulated(t) for t in turns} for _, turns in sorted(study.fold.blocks.items())]
    pairs = [(float(one["new"]), float(one["old"])) for one in scores][: study.fold.decision.taken]
    assert run(rule_of(study.plan), pairs)[-1] == study.fold.decision.state


def test_results_enter_in_drawn_order_whatever_order_they_finish_in():
    first, second = study_of(seed=3), study_of(seed=3)
    driven(first, simulated)
    held = second.next_turns(8)
    for turn in held[::-1]:  # the last comes in first
        second.record(turn, simulated(turn))
    driven(second, simulated)
    assert second.fold.decision.state == first.fold.decision.state


SCRIPT = """
import os, random, signal, sys
import surefoot as sf
done = 0
def rollout(turn):
    global done
    done += 1
    if done > 9:
        os.kill(os.getpid(), signal.SIGKILL)
    return random.Random(f"{turn.item} {turn.policy}").random() < {"new": 0.9, "old": 0.3}[turn.policy]
sf.run_study(sf.Study.open("study.db"), rollout)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_study_of_a_list_goes_on_where_it_was_killed(tmp_path):
    study = study_of(seed=1, store=str(tmp_path / "study.db"))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, check=False)
        assert done.returncode == -9
    study = sf.Study.open(str(tmp_path / "study.db"))
    assert len(study.fold.results) == 18
    sf.run_study(study, simulated)
    whole = driven(study_of(seed=1), simulated)
    assert study.fold.decision.state == whole.fold.decision.state
    assert verified(study.store.read()).sound


# --- predictions ---


def test_predictions_are_fixed_with_the_list_and_narrow_the_means():
    likely = [0.6 * (random.Random(f"{item} old").random() < 0.3) + 0.2 for item in ITEMS]
    study = driven(study_of(helped_by=tuple(likely), horizon=40), simulated)
    said = study.fold.history[0].body["list"]
    assert said["helped_by"] == hashlib.sha256(json.dumps(likely).encode()).hexdigest()
    with pytest.raises(RefusedError, match="`helped_by` cannot be amended"):
        study.amend({"helped_by": tuple(likely[::-1])}, reason="better predictions")
    plain = driven(study_of(horizon=40), simulated)
    assert study.fold.decision.state == plain.fold.decision.state  # the verdict does not rest on them
    study.unblind(reason="decided")
    order = drawn_order(study.fold.seed.reveal(), 60)
    rule = ListMean(60, within=60**-0.5, helped_by=likely)
    for policy, found in zip(("new", "old"), means_on_list(study.fold), strict=True):
        score = {t.block: study.fold.results[t.number].score for t in study.fold.turns.values() if t.policy == policy}
        ran = [(order[block - 1], score[block]) for block in study.fold.counted]
        assert found == run_list(rule, ran)[-1].interval
        assert any(line.startswith(f"A complete run of {policy} would show {found}") for line in answers(study))
    assert f"and predictions of all of them (SHA-256 {said['helped_by'][:16]})" in sf.report(study).html()
    assert verified(study.store.read()).sound
    assert NOT_DRAWN in verified(forged(study, helped_by="0" * 64)).faults
