"""Which changes make a verdict exploratory: those of the question, once something they touch has been run."""

from __future__ import annotations

import hashlib

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.study.conduct import conduct_of
from surefoot.study.log_files import anchor_of
from surefoot.study.verification import verify
from tests.support.studies import begun, driven, said_of

MUG, TOWEL = {"name": "mug", "conditions": 2, "time_limit": 60}, {"name": "towel", "conditions": 2, "time_limit": 60}
PI0 = {"name": "new", "checkpoint": "0123abcd"}


def study(**fields):
    return begun(**{"tasks": (MUG, TOWEL), "policies": (PI0, "old"), "environments": "shared", **fields})


def run(turns, **fields):
    return driven(study(**fields), lambda turn: turn.policy == "new", turns)


@pytest.mark.parametrize(
    ("changes", "binds"),
    [
        ({"tasks": ("mug",)}, True),
        ({"tasks": (MUG, {**TOWEL, "conditions": 3})}, True),
        ({"tasks": (MUG, {**TOWEL, "time_limit": 90})}, True),
        ({"tasks": (MUG, {**TOWEL, "stages": {"half": 0.5, "done": 1}})}, True),
        ({"tasks": (MUG, {**TOWEL, "reset": ["tidy up"]})}, False),
        ({"tasks": (MUG, {**TOWEL, "failure_tags": ["dropped"]})}, False),
        ({"rigs": ("left", "right")}, True),
        ({"policies": ({**PI0, "checkpoint": "9999999"}, "old")}, True),
        ({"policies": ({**PI0, "serving": {"temperature": 1.0}}, "old")}, True),
        ({"title": "another"}, False),
    ],
)
def test_what_changes_the_question_binds_after_results(changes, binds):
    early = study()
    early.amend(changes, reason="why")
    assert not early.fold.exploratory
    late = run(8)
    assert {turn.task for turn in late.fold.turns.values()} == {"mug", "towel"}
    late.amend(changes, reason="why")
    assert late.fold.exploratory is binds
    assert any("The verdict is exploratory" in said for said in said_of(late.fold)) is binds


def test_a_task_that_was_not_run_yet_may_be_asked_otherwise():
    begun_now = run(2)
    (met,) = {turn.task for turn in begun_now.fold.turns.values()}
    changed = [{**one, "time_limit": 90} if one["name"] != met else one for one in (MUG, TOWEL)]
    begun_now.amend({"tasks": changed}, reason="it takes longer")
    assert not begun_now.fold.exploratory
    assert begun_now.plan.task("towel" if met == "mug" else "mug").time_limit == 90.0
    begun_now.amend({"tasks": ["mug"]}, reason="dropped")
    assert begun_now.fold.exploratory


def test_a_checkpoint_that_may_change_is_the_same_policy():
    moving = {**PI0, "checkpoint_may_change": True}
    late = run(8, policies=(moving, "old"))
    late.amend({"policies": ({**moving, "checkpoint": "9999999"}, "old")}, reason="a nightly build")
    assert not late.fold.exploratory
    assert any("a nightly build" in said and "9999999" in said for said in said_of(late.fold))


def test_a_replaced_checkpoint_is_another_policy_in_every_table():
    late = run(8, measure="success", stages={"grasped": 0.5, "placed": 1.0}, rule="mixture", blinded=False)
    other = {**PI0, "checkpoint": "9999999"}
    late.amend({"policies": (other, "old")}, reason="a better one")
    driven(late, lambda turn: turn.policy != "new", 8)
    assert late.fold.policies == ["new", "new, checkpoint 2", "old"]
    rows = late.rollouts().polars()
    of = {name: rows.filter(rows["policy"] == name)["success"].to_list() for name in late.fold.policies}
    assert of == {"new": [True] * 4, "new, checkpoint 2": [False] * 4, "old": [False] * 4 + [True] * 4}
    told = next(said for said in said_of(late.fold) if "checkpoint of new from" in said)
    assert "From then on tables call it new, checkpoint 2; what the rule says of new is of all its" in told
    found = conduct_of(late.fold)
    for parts in (found.stages, found.conditions, found.funnel):
        assert {one.policy for one in parts} == set(late.fold.policies)
    page = sf.report(late).html()
    assert page.count("new, checkpoint 2") > 10
    again = begun(policies=(PI0, "old"))
    again.amend({"policies": (other, "old")}, reason="before the first result")
    driven(again, lambda turn: turn.policy == "new", 4)
    assert again.fold.policies == ["new", "old"]


def test_names_that_stay_as_they_are_keep_what_is_known_of_them():
    late = run(2)
    late.amend({"tasks": ["mug", "towel", "drawer"]}, reason="one more")
    assert late.plan.task("mug").time_limit == 60.0
    assert late.plan.tasks == ("mug", "towel", "drawer")


def test_a_dropped_task_is_exploratory_everywhere(tmp_path):
    """Finding T34: the headline, the JSON, the status, `verify` and the certificate say so."""
    path = tmp_path / "study.db"
    late = run(8, store=str(path))
    late.amend({"tasks": ["mug"]}, reason="the towel is lost")
    driven(late, lambda turn: turn.policy == "new")
    late.unblind(reason="decided")
    report = sf.report(late)
    assert str(report).startswith("Exploratory: new is better than old.")
    assert "Exploratory: new is better" in report.markdown()
    assert report.data()["study"]["exploratory"] is True
    assert late.status().exploratory
    checked = verify(str(path))
    assert checked.sound
    assert checked.exploratory
    assert "replays the same: better, exploratory" in str(checked)
    assert "exploratory" in anchor_of(late.status(), checked.fingerprint)
    kept = {event.kind: event for event in late.fold.history}["amended"].body
    assert kept["changes"]["tasks"] == ["mug"]


def test_a_replaced_checkpoint_is_told_by_name_from_what_to_what():
    late = run(8)
    late.amend({"policies": ({**PI0, "checkpoint": "9999999"}, "old")}, reason="the server was updated")
    assert late.plan.policies == ("new", "old")
    said = next(one for one in said_of(late.fold) if "amended" in one)
    assert "checkpoint of new from 0123abcd to 9999999" in said
    assert "The verdict is exploratory" in said
    late.amend({"tasks": (MUG, {**TOWEL, "stages": {"half": 0.5, "done": 1}})}, reason="finer")
    finer = "stages of towel from nothing to half 0.5, done 1"
    assert any(finer in one for one in said_of(late.fold))


def test_a_new_checkpoint_is_hashed_and_one_that_is_not_there_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.pt").write_bytes(b"second")
    late = run(4)
    late.amend({"policies": ({**PI0, "checkpoint": "new.pt"}, "old")}, reason="a better one")
    assert late.plan.policy("new").sha256 == hashlib.sha256(b"second").hexdigest()
    with pytest.raises(StudyError, match=r"cannot be hashed: there is no gone\.pt"):
        late.amend({"policies": ({**PI0, "checkpoint": "gone.pt"}, "old")}, reason="why")
    with pytest.raises(StudyError, match="is not the one that the plan names"):
        late.amend({"policies": ({**PI0, "checkpoint": "new.pt", "sha256": "0" * 64}, "old")}, reason="why")
