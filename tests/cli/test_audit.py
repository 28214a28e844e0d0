"""Tests of `surefoot.cli.audit`."""

import json

import pytest

import surefoot as sf
from tests.support.command_line import said


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rollouts.csv"
    path.write_text("policy,task,seed,success\n" + "new,cut,1,1\nold,cut,1,0\nnew,cut,2,\n" * 2)
    return path


def test_findings_are_those_of_the_audit(capsys, file):
    code, out, err = said(capsys, "audit", str(file))
    found = sf.audit(sf.read(file))
    assert code == 0
    assert "2 of 6 rollouts have neither success nor score" in err
    assert found.findings
    assert all(finding.says in out for finding in found.findings)


def test_json_is_the_audit(capsys, file):
    code, out, _ = said(capsys, "audit", str(file), "--json")
    assert code == 0
    found, ours = json.loads(out), json.loads(json.dumps(sf.audit(sf.read(file)).to_dict()))
    assert "declare it with `collected`" in found["why"]["says"]  # the same text whoever asks
    assert found == ours


def test_one_file_at_a_time_and_it_must_be_there(capsys, file, tmp_path):
    assert said(capsys, "audit", str(tmp_path / "none.csv"))[0] != 0
    assert said(capsys, "audit")[0] == 64
