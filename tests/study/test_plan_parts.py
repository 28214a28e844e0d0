"""Names and tables of a plan become checked values."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from surefoot.errors import StudyError
from surefoot.sequential import ExactPairedBinary
from surefoot.study.decision import rule_of
from surefoot.study.plan_parts import (
    Policy,
    Stage,
    Task,
    TimeBudget,
    checkpoint_hash,
    conditions_of,
    named_parts,
    names,
    part,
    stages_of,
    text,
)
from surefoot.study.plans import Plan
from surefoot.study.schedules import block
from surefoot.study.stores.memory import MemoryStore
from tests.support.studies import LAB, begun


def test_names_and_tables_are_taken_apart():
    listed, details = named_parts(Policy, ["new", {"name": "old", "checkpoint": "abc1234"}], (), "policies")
    assert listed == ("new", "old")
    assert details == (Policy(name="old", checkpoint="abc1234"),)
    again, kept = named_parts(Policy, listed, details, "policies")
    assert (again, kept) == (listed, details)


def test_a_table_that_says_nothing_is_a_name():
    assert named_parts(Policy, [{"name": "new"}, "old"], (), "policies") == (("new", "old"), ())


@pytest.mark.parametrize("wrong", [["new", "new"], [3], [""], "new", [{"name": "new"}, "new"]])
def test_what_is_no_list_of_names_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="`policies` must"):
        named_parts(Policy, wrong, (), "policies")


def test_what_is_described_must_be_named():
    with pytest.raises(ValueError, match="old is described only"):
        named_parts(Policy, ["new"], [Policy(name="old", checkpoint="x")], "policies")


def test_a_part_reads_its_own_json():
    policy = Policy(name="new", serving={"temperature": 0.5})
    assert part(Policy, policy.to_dict(), "policies") == policy


def test_half_a_character_is_no_text():
    assert text("a", "title") == "a"
    assert names(["a", "b"], "rigs") == ("a", "b")
    with pytest.raises(ValueError, match="whole Unicode text"):
        text("\ud800", "title")


SEED = "c" * 64
TWO = {"policies": ("new", "old"), "rigs": ("left", "right"), "operators": ("Ana", "Ben", "Cleo")}


def met(plan, rounds, seed=SEED):
    size = len(plan.policies)
    return [block(plan, seed, at, size * (at - 1) + 1, plan.policies, schema=3) for at in range(1, rounds + 1)]


def test_pairs_stay_on_one_rig_and_are_balanced_over_rigs_and_operators():
    for plan in (Plan(**TWO, horizon=60, tasks=("mug", "towel"), conditions=5), Plan.from_toml(LAB)):
        turns = met(plan, plan.horizon)
        assert all(len({(one.rig, one.operator, one.task, one.condition) for one in pair}) == 1 for pair in turns)
        for fields in (("rig",), ("operator",), ("rig", "operator"), ("task",), ("task", "condition"), ("task", "rig")):
            counts = Counter(tuple(getattr(pair[0], name) for name in fields) for pair in turns)
            assert max(counts.values()) - min(counts.values()) <= 1, (fields, counts)


def test_tasks_are_met_equally_often_whatever_conditions_they_have():
    plan = Plan(
        policies=("new", "old"),
        environments="shared",
        horizon=60,
        tasks=({"name": "mug", "conditions": 2}, {"name": "towel", "conditions": 20}),
    )
    counts = Counter(pair[0].task for pair in met(plan, 60))
    assert counts == {"mug": 30, "towel": 30}


def test_independent_rollouts_draw_tasks_equally_often():
    tasks = ({"name": "mug", "conditions": 2}, {"name": "towel", "conditions": 18})
    plan = Plan(policies=("new", "old"), horizon=400, tasks=tasks)
    counts = Counter(one.task for pair in met(plan, 400) for one in pair)
    assert abs(counts["mug"] - 400) < 5 * 200**0.5
    within = Counter(one.condition for pair in met(plan, 400) for one in pair if one.task == "mug")
    assert abs(within["1"] - within["2"]) < 5 * counts["mug"] ** 0.5


def test_a_pair_on_one_rig_is_not_independent():
    plan = Plan(**TWO, horizon=50)
    assert plan.environments == "shared"
    assert isinstance(rule_of(plan), ExactPairedBinary)
    with pytest.raises(ValueError, match="not be 'independent'"):
        Plan(**TWO, environments="independent")
    with pytest.raises(ValueError, match="not be 'one' with 6 rigs, operators, tasks and conditions"):
        Plan(**TWO, environments="one")


def test_one_rig_is_only_told():
    plan = Plan(policies=("new", "old"), rigs=("left",))
    assert plan.environments == "independent"
    assert {one.rig for pair in met(plan, 9) for one in pair} == {"left"}


def test_a_pair_runs_where_both_policies_may():
    only = {"name": "new", "rigs": ["left", "right"]}, {"name": "old", "rigs": ["right", "third"]}
    plan = Plan(policies=only, rigs=("left", "right", "third"))
    assert plan.stations == (("right", ""),)
    with pytest.raises(ValueError, match="name one on which every policy may run"):
        Plan(policies=({"name": "new", "rigs": ["a"]}, {"name": "old", "rigs": ["b"]}), rigs=("a", "b"))
    with pytest.raises(ValueError, match=r"leave out third; got .* No policy may run there"):
        Plan(policies=({"name": "new", "rigs": ["a"]}, {"name": "old", "rigs": ["a"]}), rigs=("a", "third"))
    with pytest.raises(ValueError, match="`rigs` must name z"):
        Plan(policies=({"name": "new", "rigs": ["z"]}, "old"), rigs=("a",))


def test_a_study_hands_out_its_rig_and_operator_and_keeps_the_stage():
    study = begun(rigs=("left", "right"), stages={"grasped": 0.5, "placed": 1}, blinded=False, rule=None)
    turn = study.next_turn()
    assert turn.rig in ("left", "right")
    study.record(turn, stage="grasped")
    kept = study.fold.results[turn.number]
    assert (kept.score, kept.stage) == (0.5, "grasped")
    other = study.next_turn()
    assert other.rig == turn.rig
    with pytest.raises(StudyError, match="counts 0"):
        study.record(other, 1.0, stage="grasped")
    with pytest.raises(StudyError, match="`stage` must be one of grasped, placed"):
        study.record(other, stage="thrown")
    study.record(other, 0.0)
    table = study.rollouts().frame.collect()
    assert set(table["robot"]) == {turn.rig}
    assert table["stage"].to_list() == ["grasped", None]


@pytest.mark.parametrize("policies", [("new", "old"), ("new", "old", "third")])
def test_each_rig_gets_its_own_turns_and_the_rule_reads_them_in_scheduled_order(policies):
    study = begun(policies=policies, rigs=("left", "right"), horizon=12, blinded=False, rule=None, futility=0.0)
    planned = {one.number: one for turns in met(study.plan, 12, study.fold.seed.reveal()) for one in turns}
    read = []
    while not study.finished:
        for rig in ("right", "left", "left"):  # the phone at the left is quicker
            turn = study.next_turn(holder=f"phone at the {rig}", rig=rig, wait=False)
            if turn is not None:
                assert turn == planned[turn.number]
                assert turn.rig == rig
                study.record(turn, turn.number % 2 == 0)
        read.append(study.fold.count)
    assert read == sorted(read)
    assert study.fold.counted == list(range(1, study.fold.count + 1))
    kept = [event.body["rig"] for event in study.fold.history if event.kind == "leased" and "rig" in event.body]
    assert {"left", "right"} == set(kept)
    again = type(study).restore(study.export(), MemoryStore())
    assert again.fold.results == study.fold.results
    assert again.fold.turns == study.fold.turns


def test_a_rig_whose_device_is_away_holds_the_other_up_and_is_named():
    study = begun(rigs=("left", "right"), horizon=40)
    while (turn := study.next_turn(holder="phone", rig="left", wait=False)) is not None:
        study.record(turn, True)
        assert turn.rig == "left"
    waits = study.status().waits
    assert study.fold.turns[waits.turn].rig == "right"
    assert f"waits for turn {waits.turn}, which nobody holds: whoever asks next at right gets it" in waits.sentence
    assert len(study.fold.results) < 40
    first = study.next_turn(holder="another", rig="right", wait=False)
    assert first.number == waits.turn
    mine = study.next_turns(3, holder="another", rig="right")
    assert mine[0] == first
    assert {one.rig for one in mine} == {"right"}


def test_a_rig_must_be_one_where_every_policy_may_run():
    study = begun(policies=({"name": "new", "rigs": ["left"]}, "old"), rigs=("left", "right"))
    with pytest.raises(StudyError, match="`rig` must be one of left; got 'right'"):
        study.next_turn(rig="right")
    with pytest.raises(StudyError, match="`rig` must be left out: the plan names no rigs; got 'left'"):
        begun().next_turns(2, rig="left")


def test_a_log_cannot_hand_out_a_later_turn_than_the_next_on_its_rig():
    study = begun(rigs=("left", "right"), horizon=20)
    seed, plan = study.fold.seed.reveal(), study.plan
    later = [turns[0] for turns in met(plan, 20, seed) if turns[0].rig == "right"][1]
    body = {"turn": later.number, "holder": "phone", "seconds": 60.0, "rig": "right"}
    with pytest.raises(StudyError, match=rf"turn \d+ comes next, not turn {later.number}"):
        study._write(lambda _: ("leased", body))


def test_six_hours_of_two_minutes_are_180_rollouts():
    budget = TimeBudget(rollout_minutes=1.5, reset_minutes=0.5, hours_a_day=6)
    assert budget.rollouts == 180
    assert budget.hours_for(180) == 6.0
    assert TimeBudget(rollout_minutes=2, hours_a_day=3, days=2, rigs_at_once=2).rollouts == 360


@pytest.mark.parametrize("minutes", [0.1, 0.3, 0.7, 1.1, 7.0])
def test_as_many_as_fit(minutes):
    budget = TimeBudget(rollout_minutes=minutes, hours_a_day=7)
    assert budget.hours_for(budget.rollouts) <= 7.0 + 1e-9 < budget.hours_for(budget.rollouts + 1)


def test_hours_set_the_horizon():
    fields = {"policies": ("a", "b", "c"), "time_budget": {"rollout_minutes": 2, "hours_a_day": 6}}
    assert Plan(**fields).horizon == 60
    assert Plan(**fields, horizon=20).horizon == 20
    with pytest.raises(ValueError, match="allow one round, of 3 rollouts"):
        Plan(**{**fields, "time_budget": {"rollout_minutes": 30, "hours_a_day": 1}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"rollout_minutes": 0},
        {"rollout_minutes": 1, "reset_minutes": -1},
        {"rollout_minutes": 1, "hours_a_day": 25},
        {"rollout_minutes": 1, "days": 0},
        {"rollout_minutes": 1, "rigs_at_once": 0},
    ],
)
def test_no_such_time(wrong):
    with pytest.raises(ValueError, match="must be"):
        TimeBudget(**wrong)


def test_a_file_is_hashed_as_sha256sum_does(tmp_path):
    (tmp_path / "new.pt").write_bytes(b"weights")
    made = Policy(name="new", checkpoint="new.pt").hashed(tmp_path)
    assert made.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert made.hashed(tmp_path) == made


def test_a_folder_is_hashed_by_names_and_contents(tmp_path):
    def folder(name, **files):
        for path, content in files.items():
            where = tmp_path / name / path.replace("__", "/")
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_text(content)
        return checkpoint_hash(tmp_path / name)

    first = folder("a", config="1", deep__weights="2")
    assert first == folder("b", deep__weights="2", config="1")
    assert len({first, folder("c", config="1", deep__weight="2"), folder("d", config="1", deep__weights="3")}) == 3
    assert first != folder("e", config="1", weights="2")


def test_a_link_to_a_file_counts_as_the_file(tmp_path):
    (tmp_path / "blob").write_text("1")
    for name, make in (("real", None), ("linked", tmp_path / "blob")):
        (tmp_path / name).mkdir()
        where = tmp_path / name / "weights"
        where.write_text("1") if make is None else where.symlink_to(make)
    assert checkpoint_hash(tmp_path / "real") == checkpoint_hash(tmp_path / "linked")


@pytest.mark.parametrize("said", ["https://host/new", "0123abcdef", "org/model", "", "s3://bucket/new.pt"])
def test_what_is_not_here_is_kept_as_it_is_said(said, tmp_path):
    policy = Policy(name="new", checkpoint=said)
    assert policy.hashed(tmp_path) == policy


@pytest.mark.parametrize("said", ["./new", "weights/new.pt", "/nowhere/new", "~/nowhere-at-all"])
def test_a_path_to_nothing_cannot_be_hashed(said, tmp_path):
    with pytest.raises(StudyError, match="The checkpoint of new cannot be hashed"):
        Policy(name="new", checkpoint=said).hashed(tmp_path)


def test_an_empty_folder_and_a_broken_link_cannot_be_hashed(tmp_path):
    with pytest.raises(StudyError, match="neither a file nor a folder with files"):
        checkpoint_hash(tmp_path)
    (tmp_path / "weights").symlink_to(tmp_path / "gone")
    with pytest.raises(StudyError, match="cannot be hashed"):
        checkpoint_hash(tmp_path)


def test_another_file_than_the_plan_names_is_refused(tmp_path):
    (tmp_path / "new.pt").write_bytes(b"other")
    with pytest.raises(StudyError, match="is not the one that the plan names"):
        Policy(name="new", checkpoint="new.pt", sha256="0" * 64).hashed(tmp_path)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"sha256": "abc"}, "64 hexadecimal digits"),
        ({"serving": {"policy": None}}, "texts, numbers"),
        ({"serving": 3}, "serving"),
        ({"rigs": "left"}, "list of non-empty names"),
        ({"checkpoint_may_change": 1}, "true or false"),
    ],
)
def test_what_no_policy_has_is_refused(fields, said):
    with pytest.raises((TypeError, ValueError), match=said):
        Policy(name="new", **fields)


def test_a_plan_hashes_its_checkpoints(tmp_path):
    (tmp_path / "new.pt").write_bytes(b"weights")
    plan = Plan(policies=({"name": "new", "checkpoint": "new.pt"}, "old"))
    assert plan.hashed(tmp_path).policy("new").sha256 == hashlib.sha256(b"weights").hexdigest()
    assert plan.hashed(tmp_path).fingerprint != plan.fingerprint
    assert Plan(policies=("new", "old")).hashed(tmp_path) == Plan(policies=("new", "old"))


RUBRIC = {"grasped": 0.25, "lifted": 0.5, "placed": 1}


def test_conditions_are_names_a_count_or_every_combination():
    assert conditions_of(["a", "b"], "conditions") == ("a", "b")
    assert conditions_of(3, "conditions") == ("1", "2", "3")
    made = conditions_of({"pose": 2, "object": ["mug", "cup"]}, "conditions")
    assert made == ("pose 1, mug", "pose 1, cup", "pose 2, mug", "pose 2, cup")
    assert conditions_of({}, "conditions") == ()
    for wrong in (0, True, 2.5, [""], {"pose": "left"}, None):
        with pytest.raises((TypeError, ValueError)):
            conditions_of(wrong, "conditions")


def test_stages_keep_their_order_and_points():
    assert stages_of(RUBRIC) == (Stage("grasped", 0.25), Stage("lifted", 0.5), Stage("placed", 1.0))
    assert stages_of([["grasped", 0.5], {"name": "placed", "points": 1}]) == (Stage("grasped", 0.5), Stage("placed", 1))


@pytest.mark.parametrize("wrong", [{"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.25}, {"a": 0}, {"a": -1.0}])
def test_points_that_do_not_rise_are_refused(wrong):
    with pytest.raises(ValueError, match="rise in points"):
        stages_of(wrong)


@pytest.mark.parametrize("wrong", ["abc", 3, [3], [["a", "b"]], {"a": "b"}])
def test_what_is_no_table_of_points_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="stages"):
        stages_of(wrong)


def test_a_stage_counts_its_points_or_a_success_from_the_success_stage_on():
    task = Task(name="mug", stages=RUBRIC, success_stage="lifted")
    assert [task.points(stage) for stage in ("", "grasped", "placed")] == [0.0, 0.25, 1.0]
    assert [task.succeeds(stage) for stage in ("", "grasped", "lifted", "placed")] == [False, False, True, True]
    assert not Task(name="mug", stages=RUBRIC).succeeds("lifted")
    with pytest.raises(ValueError, match="be one of grasped, lifted, placed; got 'thrown'"):
        task.points("thrown")
    with pytest.raises(ValueError, match="success_stage"):
        Task(name="mug", stages=RUBRIC, success_stage="thrown")


def test_a_plan_scores_by_its_stages_or_succeeds_by_one():
    score = Plan(policies=("new", "old"), stages=RUBRIC)
    assert (score.measure, score.levels, score.high) == ("score", (0.0, 0.25, 0.5, 1.0), 1.0)
    assert score.result_at("", "lifted") == 0.5
    success = Plan(policies=("new", "old"), stages=RUBRIC, success_stage="lifted")
    assert (success.measure, success.levels) == ("success", ())
    assert success.result_at("", "grasped") is False
    assert success.result_at("", "placed") is True
    with pytest.raises(ValueError, match="left out beside stages"):
        Plan(policies=("new", "old"), stages=RUBRIC, measure="score", levels=(0.0, 1.0))


def test_a_task_that_says_nothing_is_as_the_plan_says():
    plan = Plan(
        policies=("new", "old"),
        tasks=({"name": "mug", "conditions": 3, "reset": ["arm home"]}, "towel"),
        conditions=2,
        reset="tidy up",
        time_limit=60,
        failure_tags=("dropped",),
    )
    assert plan.task("mug").reset == ("arm home",)
    assert plan.task("towel").reset == ("tidy up",)
    assert plan.task("towel").failure_tags == ("dropped",)
    assert plan.task("mug").time_limit == 60.0
    assert plan.contexts == (("mug", "1"), ("mug", "2"), ("mug", "3"), ("towel", "1"), ("towel", "2"))


def test_what_all_tasks_reset_is_a_line_or_a_list():
    both = [
        Plan(policies=("new", "old"), tasks=("mug",), reset=one)
        for one in (["box shut", "arm home"], "box shut; arm home")
    ]
    for plan in both:
        assert plan.task("mug").reset == ("box shut", "arm home")
        assert Plan.from_toml(plan.to_toml()) == plan == both[0]
