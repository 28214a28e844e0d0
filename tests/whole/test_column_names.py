"""A table remembers what its user calls things: sentences name the user's columns, not the canonical ones."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put


def test_a_table_calls_columns_as_its_file_does(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "Method,Scene,trial,ok\nnew,s1,1,1\nold,s1,1,0\n")
    rollouts = sf.read(path, columns={"success": "ok"})
    assert rollouts.called("policy") == "Method"
    assert rollouts.called("condition") == "Scene"
    assert rollouts.called("success") == "ok"
    assert rollouts.called("order") == "trial"
    assert rollouts.called("cluster") == "cluster"  # not in the file
    assert rollouts.where(policy="new").called("condition") == "Scene"


def test_a_frame_of_any_engine_keeps_its_names() -> None:
    frame = pl.DataFrame({"model": ["a", "b"], "item": [1, 1], "success": [1, 0]})
    for rollouts in (sf.read(frame), sf.read(frame.to_pandas())):
        assert (rollouts.called("policy"), rollouts.called("condition")) == ("model", "item")


def test_files_that_differ_keep_the_canonical_name(tmp_path: Path) -> None:
    one = put(tmp_path, "a.csv", "model,scene,success\na,1,1\n")
    two = put(tmp_path, "b.csv", "model,item,success\nb,1,0\n")
    three = put(tmp_path, "c.csv", "model,success\nc,0\n")
    assert sf.read([one, two]).called("condition") == "condition"
    assert sf.read([one, two]).called("policy") == "model"
    assert sf.read([one, three]).called("condition") == "scene"  # the other has none


def test_the_guessed_policy_column_is_called_as_it_was(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "r.csv", "name,success\na,1\nb,1\na,0\nb,0\n"))
    assert rollouts.called("policy") == "name"


@pytest.mark.parametrize(
    ("path", "column", "name"),
    [
        ("libero/openpi.log", "condition", "episode"),
        ("inspect/log.json", "condition", "sample"),
        ("inspect_robots/log.json", "condition", "scene"),
        ("lbm/Fig.csv", "policy", "Method"),
        ("roboarena_server/evaluations.json", "condition", "session"),
        ("fieldtrial/trials.csv", "policy", "arm"),
    ],
)
def test_a_known_log_speaks_its_own_language(path: str, column: str, name: str) -> None:
    assert sf.read(FIXTURES / path).called(column) == name


def test_what_the_user_says_comes_before_the_format(tmp_path: Path) -> None:
    rollouts = sf.read(FIXTURES / "fieldtrial" / "trials.csv", columns={"cluster": "condition", "condition": ""})
    assert rollouts.called("cluster") == "condition"
