"""Checkpoints: hashed where they are files, kept as said where they are not, refused where neither is possible."""

from __future__ import annotations

import hashlib

import pytest

from surefoot.errors import StudyError
from surefoot.study.plans import Plan
from surefoot.study.policies import Policy, checkpoint_hash


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
