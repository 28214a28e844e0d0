"""Tests of `surefoot.reporting.study_pages`."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.console.live_figures import live_of
from surefoot.reporting.reports import ProgressReport
from surefoot.reporting.rollout_pages import RolloutLinks
from surefoot.reporting.study_pages import (
    conduct_figures,
    conduct_lines,
    conduct_sections,
    failures_figure,
    gain_lines,
    plan_rows,
    progress_lines,
    study_answers,
    study_figures,
)
from surefoot.study.status import Account, finding_of
from tests.support.conduct import two_days
from tests.support.studies import begun, driven, outcomes


def test_a_blinded_report_can_be_written(tmp_path):
    made = sf.report(driven(begun(), outcomes(1, new=0.9, old=0.5), 3))
    assert isinstance(made, ProgressReport)
    for name in ("a.html", "a.md", "a.json"):
        assert made.save(tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match=r"\.html, \.pdf, \.md or \.json"):
        made.save(tmp_path / "a.tex")
    assert ProgressReport.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert "Continue." in str(made)


# --- the report of a study that is not blinded ---


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "exact", "horizon": 20, "tasks": ("mug", "towel")},
        {"rule": "mixture", "margin": 0.05},
        {"measure": "score", "levels": (0.0, 0.5, 1.0)},
        {"policies": ("new", "old", "none")},
        {"rule": "fixed", "horizon": 12},
    ],
    ids=["exact", "margin", "score", "ranking", "fixed"],
)
def test_the_declared_rule_speaks_first(changes, tmp_path):
    study = driven(begun(blinded=False, **changes), lambda turn: float(turn.policy == "new"))
    made = sf.report(study)
    assert isinstance(made, sf.Report)
    assert made.study.finding.verdict is study.verdict is sf.Verdict.BETTER
    assert str(made).startswith(("new is better than", "new is better"))
    assert made.overview.comparisons == ()
    assert made.overview.ranking is None
    page = made.html()
    assert page.index("new is better") < page.index("Where each policy stands")
    assert made.study.fingerprint in page
    assert len(re.findall(r'\bid="([^"]+)"', page)) == len(set(re.findall(r'\bid="([^"]+)"', page)))
    for name in ("a.html", "a.md", "a.tex", "a.json"):
        made.save(tmp_path / name)
    assert Account.from_dict(json.loads(json.dumps(made.study.to_dict()))) == made.study
    if len(study.plan.policies) == 2:
        assert made.study.finding.steps[-1].pairs == len(study.fold.counted)
        assert "sequence" in made.figures()


def test_a_study_that_goes_on_gives_no_verdict():
    study = driven(begun(blinded=False), lambda turn: turn.policy == "new", 4)
    assert str(sf.report(study)).startswith("Not decided yet")


def test_an_undecided_end_is_said_so():
    study = driven(begun(blinded=False, horizon=5, futility=0), lambda turn: True)
    assert study.status().decision == "stop: nothing more can be decided"
    assert str(sf.report(study)).startswith("Cannot tell whether new is better than old.")


def test_strings_of_the_study_are_escaped_on_its_pages():
    evil = '<script>alert("x")</script>'
    study = begun(title=evil, policies=(evil, "old"), void_reasons=(evil,))
    driven(study, lambda turn: turn.policy == evil, 4)
    study.void(1, reason=evil)
    assert "<script>alert" not in sf.report(study).html()
    study.unblind(reason=evil)
    page = sf.report(study).html()
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


# --- after the stop ---

EXACT = {"rule": "exact", "horizon": 50, "environments": "independent", "blinded": False}


def made(robot, **changes):
    return driven(begun(**{**EXACT, **changes}), robot)


def lines(study):
    told = sf.report(study).study
    return study_answers(told, told.finding)


def test_a_verdict_comes_first_and_what_may_still_be_true_second():
    study = made(outcomes(5, new=0.9, old=0.4))
    first, second, gain, observed, early, *_ = lines(study)
    assert first == "new is better than old."
    assert second == (
        "The true gain may be anything from +19.9 to +92.3 points; all others are ruled out at 95% confidence "
        "(a final interval: the run stopped as its rule says)."
    )
    assert gain == "Gain +63.3 points [+19.9, +92.3] n=10 (95% exact binary design, final interval)."
    assert observed == "Observed in 10 pairs: new 9/10; old 2/10; a gain of +70.0 points."
    assert early.startswith("A verdict that comes early tends to overstate the gain: +70.0 points observed.")


def test_a_stop_for_futility_never_says_no_better():
    study = made(lambda turn: turn.block % 2 == 0)
    first, second, *_ = lines(study)
    assert first == "Cannot tell whether new is better than old."
    assert second.startswith("The true gain may be anything from -32.8 to +32.8 points; all others are ruled out")
    said = str(sf.report(study))
    assert "the chance of a verdict within 50 pairs is below 2%" in said
    for wrong in ("no better", "not better", "the same", "equal"):
        assert wrong not in said


def test_every_form_of_the_report_says_it():
    study = made(outcomes(5, new=0.9, old=0.4))
    report = sf.report(study)
    possible, observed = "from +19.9 to +92.3 points", "a gain of +70.0 points"
    for text in (str(report), report.html(), report.markdown(), report.latex()):
        assert possible in text
        assert observed in text
        assert text.index("new is better than old.") < text.index(possible) < text.index(observed)
    finding = report.data()["study"]["finding"]
    assert finding["kind"] == "final"
    assert finding["observed"] == pytest.approx(0.7)
    assert finding["interval"]["estimate"] == pytest.approx(0.633, abs=5e-4)


def test_the_live_page_says_the_same_and_plots_what_held_at_each_moment():
    study = made(outcomes(5, new=0.9, old=0.4))
    live, found = live_of(study.fold), finding_of(study.fold, certified=False)
    assert list(live.lines) == gain_lines(study.plan, found)
    assert live.data["gain"] == {"kind": "final", **found.interval.to_dict()}
    assert live.data["observed"] == found.observed
    held = study.fold.decision.state.anytime_interval
    last = live.data["sequence"][-1]
    assert (last["low"], last["high"]) == (held.low, held.high)
    assert "an anytime interval, which holds whenever you look" in live.curves[-1].summary


def test_a_declared_list_has_both_gains_each_named():
    conditions = tuple(f"scene {place}" for place in range(30))
    study = made(outcomes(5, new=0.9, old=0.4), environments="shared", horizon=30, conditions=conditions)
    (own,) = [line for line in lines(study) if "environments themselves" in line]
    assert own.startswith("Gain on the 30 declared environments themselves: +")


def test_scores_are_told_as_scores():
    study = driven(
        begun(measure="score", high=5.0, blinded=False), lambda turn: 4.0 + (turn.policy == "new") * turn.number % 2, 30
    )
    said = lines(study)
    assert any(line.startswith("Observed in ") and "; a gain of +" in line and "points" not in line for line in said)


def test_a_ranking_and_a_study_without_a_pair_are_told():
    ranked = begun(policies=("new", "old", "none"), rule=None, blinded=False, horizon=30)
    three = driven(ranked, lambda turn: turn.policy == "new")
    assert str(sf.report(three)).startswith("new is better")
    assert "ranking" in study_figures(sf.report(three).study)
    one = driven(begun(blinded=False), lambda turn: True, 1)
    assert gain_lines(one.plan, finding_of(one.fold, certified=False)) == []


def test_a_change_of_what_binds_makes_the_answer_exploratory():
    study = driven(begun(blinded=False, horizon=6, futility=0), lambda turn: True, 4)
    study.amend({"confidence": 0.9}, reason="a smaller lab")
    said = str(sf.report(driven(study, lambda turn: True)))
    assert said.startswith("Exploratory: cannot tell whether new is better than old.")
    assert "so the stated confidence does not hold." in said


def test_a_declared_list_is_what_the_headline_is_about():
    items = tuple(f"issue {number}" for number in range(20))
    listed = {"rule": "mixture", "environments": "shared", "items": items, "horizon": 20, "void_reasons": ()}
    guesses = tuple(number / 20 for number in range(20))
    study = driven(begun(blinded=False, helped_by=guesses, **listed), lambda turn: turn.policy == "new")
    said = str(sf.report(study))
    assert said.startswith("On these 20 items new is better (")
    assert "A complete run of new would show " in said


def test_progress_of_a_study_that_is_not_blinded_hides_nothing():
    account = sf.report(driven(begun(blinded=False), lambda turn: True, 4)).study
    assert not any("blinded" in line for line in progress_lines(account))


def test_a_plan_is_shown_without_what_it_does_not_ask():
    two = dict(plan_rows(sf.Plan(policies=("new", "old"))))
    assert {"question", "low", "high"}.isdisjoint(two)
    assert two["claim"] == "either"
    three = dict(plan_rows(sf.Plan(policies=("new", "old", "base"), measure="score", high=10.0)))
    assert (three["question"], three["low"], three["high"]) == ("ranking", "0.0", "10.0")


def test_the_page_of_a_lab_reads_its_plan_and_folds_what_was_met_a_few_times():
    poses = tuple(f"pose {number}" for number in range(20))
    stages = {"grasped": 0.25, "placed": 1.0}
    lab = {"policies": ("a", "b", "c"), "rule": None, "stages": stages, "conditions": poses, "rigs": ("left", "right")}
    study = begun(blinded=False, horizon=30, futility=0.0, **lab)
    while (turn := study.next_turn()) is not None:
        good = {"a": True, "b": turn.block % 3 == 0, "c": False}[turn.policy]
        study.record(turn, **({"stage": "placed"} if good else {"stage": "grasped"}))
    made = sf.report(study)
    assert len({one.rollouts for one in made.study.finding.ranking.policies}) > 1  # the rule dropped some
    page = re.sub(r"\s+", " ", made.html())
    assert "grasped 0.25, placed 1.0" in page
    assert "'schema'" not in page
    assert "Each was met fewer than 5 times on average" in page
    assert not {"incomplete pairs", "Simpson's paradox"} & {one.about for one in made.overview.audit.findings}
    assert "incomplete pairs" not in page


@pytest.mark.parametrize("poses", [3, 8])
def test_one_number_of_conditions_is_told(poses):
    """A page said "13 conditions", "the 17 conditions" and "condition 12" of one study: it is compared by task."""
    tasks, names = ("mug", "towel"), tuple(str(number) for number in range(poses))
    plan = {"policies": ("a", "b", "c"), "rule": None, "tasks": tasks, "conditions": names, "environments": "shared"}
    study = begun(blinded=False, horizon=30, futility=0.0, **plan)
    for turn in study.next_turns(72):  # more than the rule needs
        study.record(turn, turn.policy == "a")
    made = sf.report(study)
    assert made.study.counts.surplus
    assert "voided" not in {one.about for one in made.overview.audit.findings}
    facts = made.html().split('<p class="facts">')[1].split("</p>")[0]
    assert facts.endswith("2 tasks" if poses == 8 else "3 conditions")


def test_poses_of_one_task_are_not_those_of_another():
    """A page said "5 tasks" of four tasks with five poses each, and pooled pose 1 of the mug with that of the towel."""
    tasks = tuple({"name": name, "conditions": {"pose": 3}} for name in ("mug", "towel"))
    plan = {"tasks": tasks, "policies": ("pi0, checkpoint 2", "act", "dp"), "rule": None, "environments": "shared"}
    study = begun(blinded=False, horizon=12, **plan)
    made = sf.report(driven(study, lambda turn: turn.block % 2 == 0))
    page, paper = made.html(), made.markdown()
    assert " 2 tasks</p>" in page
    assert "Success rate by task, with its interval" in page
    assert "Read as: unit seed (12), setting task (2)." in page
    assert "act; dp; pi0, checkpoint 2 were run" in re.sub(r"\s+", " ", page)
    assert "pose 1" not in paper


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_report_shows_it(form):
    study = two_days()
    study.unblind(reason="a look")
    text = getattr(sf.report(study), form)()
    for said in (
        "What went wrong", "dropped it", "segmentation fault", "Pairs that do not count", "the gripper lost a finger",
        "Time to success", "Over the course of the study", "last third", "towel", "Who, where and when", "Ann", "arm 2",
        "Run in 2 sessions", "The longest pause between two sessions was 14.1 hours.",
    ):  # fmt: skip
        assert said in text, said
    assert "1 rollout gave no result" in text


def test_the_course_is_drawn_once_it_may_be_known():
    study = two_days()
    assert sf.report(study).study.conduct.modes == ()
    study.unblind(reason="a look")
    report = sf.report(study)
    drawn = conduct_figures(report.study)
    assert list(drawn) == ["failures", "times", "thirds"]
    cells = drawn["failures"].axes[0]
    ways, policies = ([text.get_text() for text in each] for each in (cells.get_yticklabels(), cells.get_xticklabels()))
    assert ways == ["dropped it", "crash"]
    counts = {(one.policy, one.failure): one.count for one in report.study.conduct.modes}
    assert [text.get_text() for text in cells.texts] == [
        str(counts.get((policy, way), 0)) for way in ways for policy in policies
    ]
    lines = drawn["thirds"].axes[0].lines
    assert [line.get_label() for line in lines] == list(report.study.plan.policies)
    for line in lines:
        means = [100.0 * one.mean for one in report.study.conduct.stages if one.policy == line.get_label()]
        assert list(line.get_ydata()) == means


def test_too_many_ways_to_fail_are_told_by_the_table_alone():
    study = two_days()
    study.unblind(reason="a look")
    conduct = sf.report(study).study.conduct
    many = tuple(replace(conduct.modes[0], failure=f"way {number}") for number in range(13))
    assert failures_figure(replace(conduct, modes=many)) is None
    assert failures_figure(replace(conduct, modes=many[:12])) is not None
    assert conduct_figures(replace(sf.report(study).study, conduct=None)) == {}


def test_a_study_of_which_nothing_is_told_has_no_section():
    study = two_days()
    account = sf.report(study).study
    assert conduct_sections(replace(account, conduct=None), {}, RolloutLinks((), scripts=False)) == []
    assert conduct_lines(replace(account.conduct, sessions=())) == []
