"""Tests of `surefoot.files.formats.roboarena`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support import samples
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_roboarena_sessions() -> None:
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    rollouts = sf.read(FIXTURES / "roboarena")
    assert tallies(rollouts) == {("pi0_droid",): (1, 2), ("pi0_fast_droid",): (0, 2)}
    assert rollouts.where(policy="pi0_fast_droid").scores().values == (0.4, 0.0)
    assert rollouts.names("task") == ("put the cup in the bowl", "wipe the table: twice")
    assert rollouts.pairs("pi0_droid", "pi0_fast_droid").tally() == sf.PairTally(0, 1, 0, 1)
    assert sf.audit(rollouts).collected == "shared"
    assert any("It adds no evidence" in note for note in rollouts.notes)


def test_a_roboarena_folder_with_its_arrays(tmp_path: Path) -> None:
    """The dump keeps pickled arrays beside each session; they are left alone and named."""
    import numpy as np

    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    for path in (FIXTURES / "roboarena").rglob("*.yaml"):
        put(tmp_path, f"{path.parent.name}/metadata.yaml", path.read_bytes())
    put(tmp_path, "5f1c0a5e/A_pi0/x_npz_file.npz", samples.npz(data=np.array([{}], dtype=object)))
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 4
    assert rollouts.notes[0] == f"{tmp_path.name}/5f1c0a5e/A_pi0/x_npz_file.npz: no rollouts found, so left out."


@pytest.mark.parametrize(
    ("policies", "says"),
    [
        (" [A, B]", r"`policies` must hold a policy per letter\."),
        ("\n  A: ~\n", r"the session must hold at least one policy; it has none\."),
        ("\n  A: {policy_name: ''}\n", r"`policies\.A` must have a policy_name\."),
        (" [A", r"the file must be readable YAML; .* at line \d+\."),
        ("\n  ? [y]\n  : z\n", r"the file must be readable YAML; found unhashable key at line 3\."),
    ],
)
def test_a_session_without_policies_is_refused(tmp_path: Path, policies: str, says: str) -> None:
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    with pytest.raises(sf.DataError, match=f"^metadata.yaml: {says}"):
        sf.read(put(tmp_path, "metadata.yaml", f"preference: A\npolicies:{policies}"))
