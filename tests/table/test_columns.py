"""Tests of `surefoot.table.columns`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.columns import words_of


def test_columns_are_checked() -> None:
    frame = pl.DataFrame({"policy": ["a"], "x": [1]})
    with pytest.raises(sf.DataError, match=r"`success` \(column 'y'\) must be a column; there are 'policy', 'x'"):
        sf.read(frame, columns={"success": "y"})
    with pytest.raises(ValueError, match="`columns` must name columns among policy"):
        sf.read(frame, columns={"sucess": "x"})
    assert sf.read(frame, columns={"success": "x"}).tally() == sf.Tally(1, 1)


def test_a_column_called_name_is_the_policy_when_its_values_come_back(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("name;k;n\npi0;31;36\nact;22;36\n")
    assert sf.read(tmp_path / "counts.csv").policies == ("act", "pi0")
    (tmp_path / "rows.csv").write_text("name,success\nnew,1\nnew,0\nold,1\nold,1\n")
    found = sf.read(tmp_path / "rows.csv")
    assert (found.policies, found.notes) == (("new", "old"), ("policy is guessed to be the column 'name'.",))
    assert sf.read(tmp_path / "rows.csv", policy="mine").policies == ("mine",)
    (tmp_path / "mine.csv").write_text("name,success\nq1,1\nq2,0\nq3,1\n")
    assert sf.read(tmp_path / "mine.csv").policies == ("mine",)
    both = [tmp_path / "new.csv", tmp_path / "old.csv"]
    for path in both:  # of several files, each is a policy's, whatever is called by a name in it
        path.write_text("name,success\npick,1\nstack,0\npick,1\nstack,1\n")
    assert sf.read(both).policies == ("new", "old")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({}, ("policy", "rollout", "task", "environment")),
        ({"policy": "model", "condition": "question"}, ("model", "sample", "task", "question")),
        ({"policy": "LLM", "condition": "sample_id"}, ("model", "sample", "task", "item")),
        ({"condition": "prompt"}, ("model", "sample", "task", "prompt")),
        ({"policy": "policy", "condition": "question"}, ("policy", "sample", "task", "question")),
        ({"policy": "model", "condition": "scene"}, ("model", "rollout", "task", "environment")),
        ({"policy": "model", "seed": "seed", "order": "episode"}, ("model", "episode", "task", "environment")),
        ({"policy": "Method", "task": "Skill", "order": "Trial ID"}, ("method", "trial", "skill", "environment")),
        ({"policy": "agent", "condition": "item", "repeat": "attempt"}, ("agent", "attempt", "task", "item")),
        (
            {"policy": "x", "task": "command", "condition": "cluster", "order": "idx"},
            ("policy", "rollout", "task", "environment"),
        ),
    ],
)
def test_words_follow_the_names_of_columns(named: dict[str, str], said: tuple[str, ...]) -> None:
    words = words_of(named)
    assert (words.policy, words.rollout, words.task, words.environment) == said


def test_labels_that_were_only_guessed_are_said_to_change_the_answer() -> None:
    frame = pl.DataFrame({"policy": ["a"] * 2, "success": [1, 0], "human_label": [1, None]})
    said = "human is guessed to be the column 'human_label'. Answers are corrected by these labels; to leave them out, "
    assert sf.read(frame).notes == (f"{said[:-2]}: --column human=, in Python columns={{'human': ''}}.",)
    assert sf.read(frame, columns={"human": "human_label"}).notes == ()
