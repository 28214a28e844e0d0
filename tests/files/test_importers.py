"""Every format people have, read from a small file made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
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
