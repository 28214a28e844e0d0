"""The API asked everything that its description allows, and much that it does not: it never fails of itself."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.console.operations import OPERATIONS
from tests.support.consoles import Program, study

SECONDS = 300
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "negative_data_rejection,unsupported_method"
)
PAGES = ("/", "/run", "/mirror", "/runner", "/live", "/owner", "/report", "/api/v1/export", "/api/v1/results")


@pytest.fixture
def program(tmp_path):
    begun = study(tmp_path, horizon=2000, measure="score", low=-1e6, high=1e6)
    for number in range(20):
        begun.record(begun.next_turn(holder="arm"), number % 3)
    begun.store.close()
    with Program(tmp_path / "study.db") as served:
        yield served


def fuzzed(program, role, seconds):
    """What schemathesis says of the API after so many seconds in a role."""
    command = Path(sys.executable).with_name("schemathesis")
    if not command.exists():
        pytest.skip("schemathesis is not installed")
    words = [
        *(str(command), "run", f"{program.address}/api/v1/openapi.json", "--no-color", "--continue-on-failure"),
        *("--header", f"Authorization: Bearer {getattr(program.tokens, role).reveal()}", "--checks", CHECKS),
        *("--exclude-path", "/api/v1/events", "--max-time", str(seconds)),  # events never end
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=3 * seconds + 300, check=False)


def asked(program, role, path):
    question = urllib.request.Request(
        f"{program.address}{path}", headers={"Authorization": f"Bearer {getattr(program.tokens, role).reveal()}"}
    )
    try:
        with urllib.request.urlopen(question, timeout=300) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.slow
@pytest.mark.parametrize("role", ["operator", "runner", "owner"])
def test_no_request_makes_the_server_fail(program, role):
    said = fuzzed(program, role, SECONDS)
    print(said.stdout)
    assert said.returncode == 0, said.stdout + said.stderr
    assert f"Tested: {len(OPERATIONS) - 2}" in said.stdout  # all but the events and the description itself
    assert {path: code for path in PAGES if (code := asked(program, role, path)) >= 500} == {}
    assert sf.verify(program.path).sound
