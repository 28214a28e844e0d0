"""OpenAI evals logs, written by hand to the schema of `evals/record.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put

FILE = FIXTURES / "openai_evals" / "run.jsonl"


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def read(folder: Path, events: list[Any]) -> sf.Rollouts:
    return sf.read(put(folder, "run.jsonl", "".join(json.dumps(event) + "\n" for event in events)))


def test_totals_are_the_logs_own() -> None:
    rollouts = sf.read(FILE)
    assert rollouts.policies == ("gpt-small",)
    assert rollouts.names("task") == ("test-match.s1.simple-v0",)
    tally = rollouts.tally()
    assert tally.successes / tally.trials == lines()[1]["final_report"]["accuracy"]
    assert rollouts.findings == ()
    assert any("1 samples have events but no result" in str(note) for note in rollouts.notes)


def test_metrics_where_there_is_no_match(tmp_path: Path) -> None:
    events = [event for event in lines() if event.get("type") != "match"]
    for event in events:
        if event.get("type") == "sampling":
            event |= {"type": "metrics", "data": {"choice": "A", "f1_score": 0.25}}
    events[1]["final_report"] = {"f1_score": 0.25}
    rollouts = read(tmp_path, events)
    assert rollouts.scores().values == (0.25,) * 4
    assert rollouts.findings == ()


def test_several_results_of_a_sample_are_repeats(tmp_path: Path) -> None:
    events = lines()
    events.append({**events[3], "event_id": 99})
    rollouts = read(tmp_path, events)
    assert rollouts.names("repeat") == ("1", "2")
    assert [finding.about for finding in rollouts.findings] == ["own totals disagree"]


def test_an_event_is_reached_by_path() -> None:
    assert sf.read(FILE, where={"expected": "4", "sampled": "5"}).tally().trials == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"hello": 1}, "a line must be a spec, an event or a final report"),
        ({"sample_id": "a", "type": "match", "data": {"correct": "yes"}}, "`a.correct` must be a number"),
        ({"sample_id": "a", "type": "match", "data": 3}, "`line 12.data` must be an object"),
    ],
)
def test_refusals(tmp_path: Path, more: dict[str, Any], says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        read(tmp_path, [*lines(), more])


def test_a_log_without_outcomes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="must hold match events, or metrics"):
        read(tmp_path, [event for event in lines() if event.get("type") != "match"])


def test_an_older_log_names_a_model_and_may_be_complete(tmp_path: Path) -> None:
    match = {"sample_id": "a", "type": "match", "data": {"correct": True}}
    rollouts = read(tmp_path, [{"spec": {"model_name": "gpt-old", "base_eval": "sums"}}, match])
    assert (rollouts.policies, rollouts.tasks, rollouts.tally().trials) == (("gpt-old",), ("sums",), 1)
    assert not any("left out" in str(note) for note in rollouts.notes)
