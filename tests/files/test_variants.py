"""The same formats as other people's tools write them: other keys, other spellings, other line ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, deflated, put


def tallies(rollouts: sf.Rollouts, *by: str) -> dict[tuple[str | None, ...], tuple[int, int]]:
    return {group.key: (group.successes, group.outcomes) for group in rollouts.summary(by=by or ("policy",))}


def written(folder: Path, document: Any, name: str = "results.json") -> Path:
    return put(folder, name, json.dumps(document).encode())


# Tables


@pytest.mark.parametrize(
    "content",
    [
        "policy,success\r\na,TRUE\r\na,False\r\na,yes\r\na,No\r\n",
        "\ufeffpolicy;success\na;1.0\na;0.0\na;1.000000\na;0.\n",
        "policy\tsuccess\n a \t 1.000000000000000000e+00 \na\tfail\na\tOK\na\t0\n",
        "policy,success\n\na,pass\na,failure\n\na,T\na,f\n\n\n",
    ],
)
def test_every_spelling_of_success(tmp_path: Path, content: str) -> None:
    assert tallies(sf.read(put(tmp_path, "a", content.encode()))) == {("a",): (2, 4)}


def test_blank_lines_are_said_and_rows_still_count_right(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", b"policy,success\na,1\n\nb,0\n\n"))
    assert len(rollouts) == 2
    assert "2 blank lines left out." in rollouts.notes
    with pytest.raises(sf.DataError, match=r"row 2: `success` must be"):
        sf.read(put(tmp_path, "b.csv", b"policy,success\na,1\n\nb,maybe\n"))
    with pytest.raises(sf.DataError, match=r"row 2: a row must have as many cells"):
        sf.read(put(tmp_path, "c.csv", b"policy,success\na,1\n\nb\n"))


def test_a_blank_line_in_a_single_column_is_a_missing_outcome(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "new.csv", b"success\n1\n\n0\n"))
    assert tallies(rollouts) == {("new",): (1, 2)}
    assert len(rollouts) == 3


def test_decimal_commas_where_semicolons_part_the_cells(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", b"policy;task;score\nv0,5;1,5;0,75\nv0,5;1,5;1\nv0,5;2;0,25\n"))
    assert rollouts.where(policy="v0,5").scores().values == (0.75, 1.0, 0.25)
    assert rollouts.tasks == ("1,5", "2")  # names stay as they are
    assert any("decimal commas" in note for note in rollouts.notes)
    with pytest.raises(sf.DataError, match=r"got '0,75'. Write a decimal point"):
        sf.read(put(tmp_path, "b.csv", b'policy,score\na,"0,75"\n'))


def test_stages_without_their_order_are_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", b"condition,arm,stage\nc1,a,reach\nc1,b,place\n")
    with pytest.raises(sf.DataError, match="Say the order, from the least to the most: stages="):
        sf.read(path)
    assert sf.read(path, stages=["reach", "place"]).where(policy="b").scores().values == (1.0,)


def test_json_lines_may_begin_with_blank_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", b'\r\n\n{"policy": "a", "success": true}\r\n\r\n{"policy": "a", "success": 0.0}\n')
    assert tallies(sf.read(path)) == {("a",): (1, 2)}


@pytest.mark.parametrize("first", ["", "Unnamed: 0", "session_id", "seed"])
def test_a_wide_table_may_name_its_rows(tmp_path: Path, first: str) -> None:
    rollouts = sf.read(put(tmp_path, "a.csv", f"{first},pi0,fast\r\nx7,0.5,1\r\ny8,,0\r\nz9,1,0.25\r\n".encode()))
    assert rollouts.policies == ("fast", "pi0")
    told = "seed" if first == "seed" else "condition"
    assert rollouts.where(policy="pi0").column(told) == ("x7", "z9")
    assert rollouts.pairs("pi0", "fast").matched == 2
    with pytest.raises(sf.DataError, match="must tell the rows apart"):
        sf.read(put(tmp_path, "b.csv", f"{first},pi0,fast\nx,0.5,1\nx,,0\n".encode()))


@pytest.mark.parametrize(
    "content",
    [
        b"policy,task,result\nnew,x,38/50\nold,x, 20 / 50\n",
        b"Method;Success Rate (%);Num Rollouts\nnew;76,0;50\nold;40,0;50\n",
        b"policy,k,n\nnew,38,50\nold,20,50\n",
        b'[{"policy": "new", "success_rate": 0.76, "n": 50}, {"n": 50, "policy": "old", "success_rate": 0.4}]',
        b'{"policy": "new", "successes": 38, "trials": 50}\n{"policy": "old", "successes": 20, "trials": 50}\n',
        b'{"arm": "new", "pc_success": 76.0, "n_episodes": 50}\n{"arm": "old", "pc_success": 40, "n_episodes": 50}\n',
    ],
)
def test_counts_however_they_are_written(tmp_path: Path, content: bytes) -> None:
    rollouts = sf.read(put(tmp_path, "a", content))
    assert tallies(rollouts) == {("new",): (38, 50), ("old",): (20, 50)}
    assert not rollouts.ordered
    assert rollouts.findings == ()


def test_a_rollout_per_object_is_no_table_of_rates(tmp_path: Path) -> None:
    lines = b'{"policy": "a", "success": true, "n": 7}\n{"policy": "a", "success": false, "n": 9}\n'
    assert tallies(sf.read(put(tmp_path, "a", lines))) == {("a",): (1, 2)}


def test_a_count_that_is_no_fraction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"row 2: `result` must be such as 38/50; got '0.4'"):
        sf.read(put(tmp_path, "a.csv", b"policy,result\nnew,38/50\nold,0.4\n"))
    with pytest.raises(sf.DataError, match=r"row 1: `successes` must be at most the rollouts, 50; got 60"):
        sf.read(put(tmp_path, "b.csv", b"policy,result\nnew,60/50\n"))


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (deflated({"mimetype": b"x", "content.xml": b"<x/>"}), "an OpenDocument file. Save the sheet as .xlsx or CSV"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), r"an old Office file \(.xls\). Save the sheet as .xlsx"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5. Write the table of rollouts to CSV"),
        (b"ARROW1" + bytes(50), "an Arrow file. Write it as Parquet"),
        (b"\x1f\x8b\x08" + bytes(50), "gzip-packed. Unpack it first"),
    ],
)
def test_what_is_not_read_is_told_how_to_convert(tmp_path: Path, content: bytes, hint: str) -> None:
    with pytest.raises(sf.DataError, match=hint):
        sf.read(put(tmp_path, "a", content))


# Peers' tables


def test_fieldtrial_trials_that_are_invalid_do_not_count() -> None:
    rollouts = sf.read(FIXTURES / "fieldtrial" / "trials.csv")
    assert tallies(rollouts) == {("new",): (2, 2), ("old",): (0, 2)}
    assert [group.void for group in rollouts.summary()] == [1, 0]
    assert "Invalid, as `status` says, and not counted: 1 of 5 trials." in rollouts.notes


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    text = (FIXTURES / "fieldtrial" / "trials.csv").read_text().replace("invalid,camera", "paused,camera")
    with pytest.raises(sf.DataError, match=r"row 3: `status` must be completed or invalid; got 'paused'"):
        sf.read(put(tmp_path, "a.csv", text.encode()))


def test_openpi_droid_success_is_a_share(tmp_path: Path) -> None:
    rollouts = sf.read(FIXTURES / "droid" / "eval_2025_03_04.csv")
    assert rollouts.policies == ("droid",)
    assert rollouts.scores().values == (1.0, 0.5, 0.0)
    whole = (FIXTURES / "droid" / "eval_2025_03_04.csv").read_text().replace("0.5", "1.0")
    assert str(sf.read(put(tmp_path, "a.csv", whole.encode())).tally()) == "2 of 3 rollouts succeeded."


def test_roboarena_server() -> None:
    rollouts = sf.read(FIXTURES / "roboarena_server" / "evaluations.json")
    assert rollouts.where(policy="fast").scores().values == (0.25, 0.5)
    assert rollouts.where(policy="pi0").column("condition") == ("s-1",)
    assert rollouts.pairs("pi0", "fast").matched == 1


def test_step_result_and_tracked_summary(tmp_path: Path) -> None:
    path = FIXTURES / "step" / "result.json"
    assert tallies(sf.read(path)) == {("policy 0",): (40, 50), ("policy 1",): (14, 50)}
    assert tallies(sf.read(path, policy=["act", "pi0"])) == {("act",): (40, 50), ("pi0",): (14, 50)}
    tracked = sf.read(FIXTURES / "tracked" / "wandb-summary.json")
    assert tallies(tracked, "task") == {("close it",): (3, 10), ("open the drawer",): (6, 10)}
    odd = written(tmp_path, {"success_rate/a": 0.35, "num_episodes/a": 24, "other": None})
    assert [finding.about for finding in sf.read(odd).findings] == ["a rate that n cannot give"]


# Logs


def test_lerobot_without_some_keys(tmp_path: Path) -> None:
    tasks = [{"metrics": {"successes": [True, False]}}, {"metrics": {"successes": [1, 0.0, None]}}]
    rollouts = sf.read(written(tmp_path, {"per_group": {}, "per_task": tasks}))
    assert tallies(rollouts, "task") == {("task/0",): (1, 2), ("task/1",): (1, 2)}
    old = written(tmp_path, {"aggregated": {}, "per_episode": [{"success": True}, {"success": False}]}, "old.json")
    assert "score" not in sf.read(old).columns
    with pytest.raises(sf.DataError, match="must hold episodes; it has none"):
        sf.read(written(tmp_path, {"per_task": [], "overall": {"pc_success": float("nan")}}, "none.json"))


@pytest.mark.parametrize(("says", "found"), [(66.67, 0), (66.66666666666667, 0), (66.7, 1), (67.0, 1), (66.68, 1)])
def test_a_total_may_be_rounded_but_not_wrong(tmp_path: Path, says: float, found: int) -> None:
    task = {"task_group": "pusht", "task_id": 0, "metrics": {"successes": [True, True, False]}}
    rollouts = sf.read(written(tmp_path, {"per_task": [task], "overall": {"pc_success": says}}))
    assert len(rollouts.findings) == found


def test_vla_eval_with_episodes_that_failed_to_run(tmp_path: Path) -> None:
    episodes = [
        {"episode_id": 0, "failure_reason": "exception"},
        {"episode_id": 1, "metrics": {}, "failure_reason": "exception"},
        {"episode_id": 2, "metrics": {"success": True}},
        {"episode_id": 3, "metrics": {"success": False}},
    ]
    task = {"task": "t", "episodes": episodes, "num_episodes": 4, "num_errors": 2}
    for mean in (0.5, 0.25):  # over those that ran, or over all
        rollouts = sf.read(written(tmp_path, {"benchmark": "b", "tasks": [{**task, "mean_success": mean}]}, "pi0.json"))
        assert (len(rollouts), tallies(rollouts)) == (4, {("pi0",): (1, 2)})
        assert rollouts.findings == ()
    wrong = sf.read(written(tmp_path, {"benchmark": "b", "tasks": [{**task, "mean_success": 0.9, "num_episodes": 9}]}))
    assert [finding.about for finding in wrong.findings] == ["own totals disagree"] * 2


def test_inspect_robots_trials_that_errored(tmp_path: Path) -> None:
    samples = [{"scene_id": "s1", "epochs": [{"success": 1.0}, None]}, {"scene_id": 2, "epochs": []}]
    log = {"version": 1, "eval": {"task": "pick", "policy": "pi0"}, "samples": samples}
    rollouts = sf.read(written(tmp_path, log))
    assert (len(rollouts), tallies(rollouts)) == (2, {("pi0",): (1, 1)})


def sample(place: int, **scores: Any) -> dict[str, Any]:
    return {"id": place, "epoch": 1, "scores": {name: {"value": value} for name, value in scores.items()}}


def test_inspect_scorers_that_give_words_do_not_stop_the_one_that_decides(tmp_path: Path) -> None:
    header = {"status": "success", "eval": {"task": "t", "model": "m"}}
    samples = [sample(1, subject="maths", match="C"), sample(2, subject="art", match="I"), sample(3, subject=None)]
    members = {"header.json": json.dumps(header).encode(), "summaries.json": json.dumps(samples).encode()}
    rollouts = sf.read(put(tmp_path, "a.eval", deflated(members)))
    assert tallies(rollouts) == {("m",): (1, 2)}
    assert any("scorer 'match'" in note for note in rollouts.notes)
    chosen = {"results": {"scores": [{"name": "subject", "scorer": "subject"}]}, "samples": samples[1:]}
    path = written(tmp_path, {**header, **chosen})
    with pytest.raises(sf.DataError, match="must be C, I, P, N or a number; got 'art'"):
        sf.read(path)


def test_inspect_headline_inside_a_dictionary_of_scores(tmp_path: Path) -> None:
    results = {"scores": [{"name": "b", "scorer": "both"}, {"name": "a", "scorer": "both"}]}
    log = {"eval": {"task": "t", "model": "m"}, "results": results}
    samples = [sample(1, both={"a": "C", "b": 0.5}), sample(2, both={"a": "I", "b": 1})]
    rollouts = sf.read(written(tmp_path, {**log, "samples": samples}))
    assert rollouts.scores().values == (0.5, 1.0)


def line(place: int, **more: Any) -> dict[str, Any]:
    return {"doc_id": place, "resps": [], "filtered_resps": [], "filter": "none", **more}


def test_lm_eval_documents_that_are_twice_in_the_data_set(tmp_path: Path) -> None:
    def of(values: list[float]) -> bytes:
        lines = [line(i, doc_hash="same" if i < 2 else "other", metrics=["acc"], acc=v) for i, v in enumerate(values)]
        return "\n".join(map(json.dumps, lines)).encode()

    new, old = put(tmp_path, "new.jsonl", of([1.0, 0.0, 1.0])), put(tmp_path, "old.jsonl", of([0.0, 0.0, 1.0]))
    rollouts = sf.read([new, old])
    assert rollouts.where(policy="new").column("condition") == ("same", "same#2", "other")
    assert rollouts.pairs("new", "old").matched == 3
    twice = json.dumps(line(0, metrics=["acc"], acc=1.0)).encode()
    with pytest.raises(sf.DataError, match="a document's id within one filter must not repeat"):
        sf.read(put(tmp_path, "twice.jsonl", twice + b"\n" + twice))


def test_lm_eval_takes_the_first_metric_that_is_one_number(tmp_path: Path) -> None:
    lines = [line(i, metrics=["inst", "prompt"], inst=[True, False], prompt=i == 0) for i in range(2)]
    rollouts = sf.read(put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)).encode()))
    assert tallies(rollouts) == {("a",): (1, 2)}
    assert "success is the metric 'prompt'." in rollouts.notes


def test_a_libero_log_may_begin_with_a_bracket(tmp_path: Path) -> None:
    lines = ("Task suite: libero_goal", "Task: open it", "Starting episode 1...", "Success: True")
    log = "".join(f"[2025-01-01 00:00:0{second}][INFO] {text}\n" for second, text in enumerate(lines))
    rollouts = sf.read(put(tmp_path, "a.log", log.encode()))
    assert tallies(rollouts, "task") == {("open it",): (1, 1)}


def test_lbm_totals_may_be_rounded(tmp_path: Path) -> None:
    head = "Panel,Task,Method,Success/Failure,Num_Successes,Num_Rollouts,Success_Rate,CLD_Letter\r\n"
    rows = 'A,T1,M1,"[True, FALSE, true]",2,3,{},a\r\nA,T1,M2,"[False,False,False]",0,3,0.0,b\r\n'
    assert sf.read(put(tmp_path, "a.csv", (head + rows.format("0.667")).encode())).findings == ()
    assert len(sf.read(put(tmp_path, "b.csv", (head + rows.format("0.662")).encode())).findings) == 1


# Names


def test_the_user_names_the_policies_of_files_that_name_none(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.npy"
    np.save(pairs, np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert tallies(sf.read(pairs, policy=["new", "old"])) == {("new",): (2, 2), ("old",): (1, 2)}
    with pytest.raises(ValueError, match="one policy per file; got 3 names for 1 files"):
        sf.read(pairs, policy=["a", "b", "c"])
    steps = tmp_path / "evaluations.npz"
    np.savez(steps, timesteps=np.array([10, 20]), results=np.ones((2, 1)), successes=np.array([[True], [False]]))
    assert sf.read(steps, policy="ppo").policies == ("ppo @ 10", "ppo @ 20")


def test_monitors_of_one_folder_are_one_policy(tmp_path: Path) -> None:
    text = '#{"t_start": 1.0, "env_id": "Fetch-v1"}\nr,l,t,is_success\n1.0,10,0.5,1.0\n'
    for place in range(2):
        put(tmp_path / "ppo", f"{place}.monitor.csv", text.encode())
    assert sf.read(tmp_path).policies == ("ppo",)
    put(tmp_path / "sac", "0.monitor.csv", text.encode())
    assert sf.read(tmp_path).policies == ("ppo", "sac")
