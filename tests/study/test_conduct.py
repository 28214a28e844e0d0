"""What a report tells of a study's conduct: what went wrong, voids, scorers, robots, sessions, times, drift, pauses."""

from __future__ import annotations

import json
import random
import re

import pytest

import surefoot as sf
from surefoot.console.live_figures import live_of
from surefoot.core.verdict import Verdict
from surefoot.reporting.tables import cells_of
from surefoot.study.conduct import Conduct, Counts, conduct_of, counts_of, fates
from surefoot.study.result_table import rollouts_of
from surefoot.study.status import account
from surefoot.study.verification import verified
from tests.support.conduct import two_days
from tests.support.studies import begun, driven, outcomes


def test_the_conduct_is_told_once_the_study_is_not_blinded():
    study = two_days()
    study.unblind(reason="a look")
    conduct = conduct_of(study.fold)
    assert [(one.name, one.recorded) for one in conduct.scorers] == [("Bob", 8), ("Ann", 6)]
    assert [(one.name, one.recorded) for one in conduct.robots] == [("arm 2", 8), ("arm 1", 6)]
    assert [one.recorded for one in conduct.sessions] == [6, 8]
    assert [(one.turn, one.reason, one.note, one.seen) for one in conduct.voids] == [
        (3, "hardware fault", "the gripper lost a finger", True)
    ]
    modes = {(one.policy, one.failure): one for one in conduct.modes}
    assert sum(one.count for (_, failure), one in modes.items() if failure == "dropped it") >= 2
    assert any(failure == "crash" and one.notes == ("segmentation fault",) for (_, failure), one in modes.items())
    assert {one.part for one in conduct.stages} == {"first third", "second third", "last third"}
    assert {one.part for one in conduct.conditions} == {"mug", "towel"}
    assert sum(one.rollouts for one in conduct.stages) == sum(one.rollouts for one in conduct.conditions) == 12
    for one in conduct.times:
        assert one.limit == 60.0
        assert 0.0 <= one.by(5.0) <= one.by(15.0) <= one.by(60.0) <= 1.0
        assert one.by(5.0) == 0.0
        own = [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn > 4]
        own += [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn < 3]
        assert one.by(60.0) == sum(r.score for r in own) / len(own)  # a crash without a duration is a failure too
    assert Conduct.from_dict(json.loads(json.dumps(conduct.to_dict()))) == conduct


def test_while_blinded_only_who_where_and_when_is_told():
    study = two_days()
    conduct = conduct_of(study.fold)
    assert (conduct.modes, conduct.voids, conduct.stages, conduct.conditions, conduct.times) == ((), (), (), (), ())
    assert "Run in 2 sessions, from 2026-01-01 00:04 to" in str(sf.report(study))
    text = json.dumps(conduct.to_dict())
    assert not any(word in text for word in ("new", "old", "success", "dropped"))


def test_rollouts_that_take_no_time_have_no_curve():
    study = begun()
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "new", duration=0.0)
    assert conduct_of(study.fold).times == ()


def test_a_success_without_a_time_leaves_failures_without_one_out_too():
    study = begun()
    for number in range(1, 9):
        turn = study.next_turn()
        assert turn is not None
        study.record(turn, number % 2 == 1, duration=4.0 if number <= 4 else None)
    study.unblind(reason="a look")
    times = conduct_of(study.fold).times
    assert sum(one.rollouts for one in times) == 4
    assert sum(len(one.seconds) for one in times) == 2
    assert "had succeeded after 4 s." in sf.report(study).html()


def test_stages_tags_rigs_and_operators_are_counted_by_policy():
    stages = {"grasped": 0.25, "lifted": 0.5, "placed": 1.0}
    lab = {"stages": stages, "failure_tags": ("dropped",), "rigs": ("left", "right"), "operators": ("Ann", "Bob")}
    made = begun(blinded=False, policies=("new", "old"), tasks=("mug", "cup"), horizon=12, futility=0.0, **lab)
    reached = {"new": ("placed", "lifted"), "old": ("grasped", "")}
    while (turn := made.next_turn()) is not None:
        stage = reached[turn.policy][turn.block % 2]
        failure = "" if stage == "placed" else "dropped"
        made.record(turn, **({"stage": stage} if stage else {"result": 0.0}), duration=90.0, failure=failure)
    fold, conduct = made.fold, conduct_of(made.fold)
    blocks = len(made.fold.counted)
    even, odd = blocks // 2, blocks - blocks // 2
    told = {(one.policy, one.stage): (one.reached, one.rollouts) for one in conduct.funnel}
    assert told == {
        ("new", "grasped"): (blocks, blocks),
        ("new", "lifted"): (blocks, blocks),
        ("new", "placed"): (even, blocks),
        ("old", "grasped"): (even, blocks),
        ("old", "lifted"): (0, blocks),
        ("old", "placed"): (0, blocks),
    }
    modes = {one.policy: one for one in conduct.modes}
    assert (modes["new"].count, modes["old"].count) == (odd, blocks)
    assert modes["new"].share == sf.stats.clopper_pearson(sf.Tally(odd, blocks))
    for kind, levels in (("rig", lab["rigs"]), ("by", lab["operators"])):
        parts = [one for one in conduct.places if one.part.split()[0] == kind]
        assert {one.part for one in parts} <= {f"{kind} {level}" for level in levels}
        assert sum(one.rollouts for one in parts) == 2 * blocks
    assert conduct.minutes == pytest.approx(1.5 * len(fold.results))
    page, text = sf.report(made).html(), sf.report(made).markdown()
    for said in ("How far rollouts got", f"{even}/{blocks}", "by Ann", "rig left", "minutes were saved"):
        assert said in page
        assert said in text


def test_conditions_that_were_met_a_few_times_are_folded():
    poses = tuple(f"pose {number}" for number in range(20))
    made = driven(begun(blinded=False, conditions=poses, horizon=30, futility=0.0), outcomes(1, new=0.6, old=0.5))
    page = sf.report(made).html()
    course = page[page.index("Over the course of the study") : page.index("Who, where and when")]
    course = re.sub(r"\s+", " ", course)
    assert re.search(r"The \d\d conditions were met by each policy fewer than 5 times on average", course)
    assert "pose 7" not in course


DECIDED = (Verdict.BETTER, Verdict.WORSE)


def simulated(seed, **changes):
    """A study of three policies run by two devices at once, with voids, undone results and perhaps a fourth policy."""
    rng = random.Random(seed)
    rates = {name: rng.random() for name in "abcd"}
    plan = {"horizon": rng.choice((12, 20, 30)), "rule": rng.choice((None, "holm")), "futility": 0.0}
    study = begun(seed=seed, policies=("a", "b", "c"), blinded=False, tasks=("mug", "cup"), **{**plan, **changes})
    joins = rng.random() < 0.3 and study.plan.rule == "closed"
    held = {"one": [], "two": []}
    while True:
        for name in held:
            held[name] = held[name] or study.next_turns(rng.choice((1, 2, 4)), holder=name)
        ready = [name for name, turns in held.items() if turns]
        if not ready:
            return study
        name = rng.choice(ready)
        turn = held[name].pop(0)
        if turn.block in study.fold.voids:
            continue
        study.record(turn, rng.random() < rates[turn.policy], holder=name)
        if rng.random() < 0.04 and not study.finished:
            study.undo(turn, reason="wrong button")
            study.record(turn, False, holder=name)
        if rng.random() < 0.04 and not study.finished:
            study.void(turn, reason="hardware fault")
        if joins and turn.number > 9 and not study.finished:
            study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
            joins = False


def of_the_log(study):
    """Results that stand and those of void blocks, by the lines of the log alone."""
    standing, voided = set(), set()
    for event in study.fold.history:
        if event.kind == "recorded":
            standing.add(event.body["turn"])
        elif event.kind == "undone":
            standing.remove(event.body["turn"])
        elif event.kind == "voided":
            voided.add(event.body["block"])
    return len(standing), sum(study.fold.turns[turn].block in voided for turn in standing)


def agree(seed):
    """Hold all that is said of one study against its log; how many pairs were decided, and how many never met."""
    study = simulated(seed)
    fold, known = study.fold, counts_of(study.fold)
    told = account(fold, verified(study.store.read()))
    ranking, state = told.finding.ranking, fold.decision.state
    assert (known.run, known.void) == of_the_log(study)
    assert known.run == known.counted + known.waiting + known.void + known.surplus
    assert known.over
    assert known.waiting == 0
    assert known.saved == max(0, known.planned - known.run)
    used = dict(zip(state.rule.names, state.rollouts, strict=True))
    assert known.counted == sum(used.values()) == sum(one.rollouts for one in ranking.policies)
    table = rollouts_of(fold)
    assert {name: table.polars()["policy"].to_list().count(name) for name in used} == {
        name: sum(fold.turns[turn].policy == name for turn in fold.results) for name in used
    }
    assert {one.policy: one.tally.trials for one in sf.report(study).overview.policies if one.tally} == used
    assert {bar.policy: int(bar.count.partition("/")[2]) for bar in live_of(fold).bars} == used
    assert {one.policy: one.interval.trials for one in ranking.policies if one.interval} == used
    for pair in ranking.pairs:
        met = sum({pair.first, pair.second} <= ran for ran in rounds_of(fold))
        assert (pair.gain is None) == (met == 0)
        if pair.gain is not None:
            assert pair.gain.trials <= met
        if pair.gain is not None and pair.verdict in DECIDED:
            assert 0.0 not in pair.gain
            assert (pair.gain.low > 0.0) == (pair.verdict is Verdict.BETTER)
            low, high = cells_of(pair.gain)[1].strip("[]()").split(", ")
            assert float(low) >= 0.0 or float(high) <= 0.0
    decided = [pair for pair in ranking.pairs if pair.verdict in DECIDED]
    return len(decided), sum(pair.gain is None for pair in ranking.pairs), study


def rounds_of(fold):
    """Who was read by the rule in each block."""
    read = fates(fold)
    for number in fold.counted:
        yield {turn.policy for turn in fold.blocks[number] if read.get(turn.number) == "counted"}


def check_many(count):
    found = [agree(seed)[:2] for seed in range(count)]
    decided, apart = (sum(each) for each in zip(*found, strict=True))
    print(f"{count} studies: {decided} decided pairs agree with their intervals; {apart} pairs never met")
    assert decided > count / 2


def test_some_studies_of_three_policies_contradict_themselves_nowhere():
    check_many(10)


@pytest.mark.slow
def test_1000_studies_of_three_policies_contradict_themselves_nowhere():
    check_many(1000)


def test_every_page_of_a_study_shows_the_same_numbers():
    *_, study = agree(4)
    known, made = counts_of(study.fold), sf.report(study)
    page, text = made.html(), made.markdown()
    for written in (page, text, made.latex(), str(made)):
        assert str(known) in re.sub(r"\s+", " ", written)
    trials = re.findall(r"<td class=\"num\">(?:<a [^>]*>)?\d+(?:</a>)?/(?:<a [^>]*>)?(\d+)", page)
    assert sum(map(int, trials)) == known.counted
    listed = re.findall(r'<tr class="\w+" data-counts="(\w+)"', page)
    assert len(listed) == known.run
    assert (listed.count("void"), listed.count("surplus")) == (known.void, known.surplus)
    by_whom = page[page.index("By whom") :].split("</tbody>")[0]
    cells = re.findall(r"<td>(?:<a [^>]*>)?(\d*)(?:</a>)?</td>", by_whom)
    assert sum(int(one or 0) for one in cells[::2]) == sum(int(one or 0) for one in cells[1::2]) == known.run


def test_a_pair_that_never_met_has_no_number():
    study = begun(policies=("a", "b", "c"), rule=None, question="against a", horizon=40, blinded=False)
    robot = outcomes(3, a=0.9, b=0.6, c=0.0, d=0.5)
    while "c" in study.fold.decision.state.running:
        driven(study, robot, 1)
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    driven(study, robot)
    ranking = account(study.fold, verified(study.store.read())).finding.ranking
    (apart,) = [pair for pair in ranking.pairs if {pair.first, pair.second} == {"c", "d"}]
    assert not any({"c", "d"} <= ran for ran in rounds_of(study.fold))
    assert apart.gain is None
    page = sf.report(study).html()
    row = re.search(r"<tr><td>(c</td><td>d|d</td><td>c)</td>.*?</tr>", page)
    assert row is not None
    assert not re.search(r"\d", row[0])


def test_a_study_that_goes_on_says_what_waits_and_saves_nothing_yet():
    study = begun(horizon=20, blinded=False)
    one, two, three, four = study.next_turns(4)
    for turn in (one, three, four):
        study.record(turn, True)
    assert fates(study.fold) == dict.fromkeys((1, 3, 4), "waiting")
    assert str(counts_of(study.fold)) == "3 rollouts were run of at most 40: 0 counted, 3 not read yet."
    study.record(two, False)
    study.void(three, reason="hardware fault")
    assert str(counts_of(study.fold)) == "4 rollouts were run of at most 40: 2 counted, 2 void."
    assert len(sf.report(study).overview.policies) == 2


def test_counts_survive_as_json():
    study = driven(begun(horizon=6, blinded=False), outcomes(1, new=0.9, old=0.1))
    known = counts_of(study.fold)
    assert Counts.from_dict(json.loads(json.dumps(known.to_dict()))) == known
