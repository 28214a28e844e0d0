"""Tests of `surefoot.files.importers`, and of every importer on a small file made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot import DataError
from surefoot.files.importers import MOST_COLUMNS, frame_of
from tests.support import samples
from tests.support.samples import put

NO_ROLLOUTS = ("preferences.csv", "judged/", "lm_eval_0_4_13/samples_toy_ppl")
ROLLOUT_FILES = sorted(name for name in samples.all_files() if not name.startswith(NO_ROLLOUTS))


@pytest.mark.parametrize("name", ROLLOUT_FILES)
def test_conformance(made: Path, name: str) -> None:
    """What holds for every importer."""
    rollouts = sf.read(made / name)
    assert len(rollouts) > 0
    assert rollouts.policies
    assert {"success", "score"} & set(rollouts.columns)
    assert rollouts.source == Path(name).name
    assert rollouts.hash.startswith("sha256:")
    assert rollouts.hash == sf.read(made / name).hash
    assert all(str(note).endswith(".") for note in rollouts.notes)
    known = sum(group.outcomes + group.scored for group in rollouts.summary())
    assert known > 0
    assert rollouts.polars().height == len(rollouts)
    assert sf.audit(rollouts).rollouts == len(rollouts)


@pytest.mark.parametrize("name", ROLLOUT_FILES)
def test_the_name_does_not_matter(made: Path, tmp_path: Path, name: str) -> None:
    moved = put(tmp_path, "renamed.dat", (made / name).read_bytes())
    mine, theirs = sf.read(made / name), sf.read(moved)
    assert len(mine) == len(theirs)
    assert sum(g.successes for g in mine.summary()) == sum(g.successes for g in theirs.summary())


def rows(*given):
    return frame_of(given, "made").collect()


def test_rows_that_lack_a_column_have_nothing_there():
    frame = rows({"a": 1}, {"b": True}, {"a": 3, "b": False})
    assert frame["a"].to_list() == [1, None, 3]
    assert frame["b"].to_list() == [None, True, False]


def test_one_type_for_each_column_and_text_where_types_are_mixed():
    frame = rows({"a": 1, "b": 0.5, "c": 1, "d": 2**70}, {"a": "one", "b": 1.5, "c": 2, "d": [1, "ä"]})
    assert frame["a"].to_list() == ["1", "one"]
    assert frame["b"].to_list() == [0.5, 1.5]
    assert frame["c"].to_list() == [1, 2]
    assert frame["d"].to_list() == [str(2**70), '[1, "ä"]']


def test_refusals():
    with pytest.raises(DataError, match=r"made: a row must have at most 10,000 columns; got 10,001"):
        rows({str(place): 1 for place in range(MOST_COLUMNS + 1)})
    with pytest.raises(DataError, match="valid Unicode") as refused:
        rows({"a": "fine"}, {"a": "\ud800"})
    assert refused.value.row == 2
