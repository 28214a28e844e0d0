"""The steps of `action.yml`, run one after another in a shell as a runner would; `gh` and `pip` are stand-ins."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf

pytestmark = pytest.mark.end_to_end

yaml = pytest.importorskip("yaml", reason="needs the extra `yaml`")
ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = [step for step in ACTION["runs"]["steps"] if "run" in step]
VALUE = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def results(path: Path, successes: int, *, policy: str = "gpt", size: int = 200) -> Path:
    """Items of two tasks; the hardest fail first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{policy},t{at % 2},q{at},{int(at < successes)}" for at in range(size)]
    path.write_text("policy,task,item,success\n" + "\n".join(lines) + "\n")
    return path


@dataclass
class Runner:
    """What a runner keeps while it runs the steps of an action."""

    folder: Path
    inputs: dict[str, str]
    known: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    summary: str = ""

    def value(self, expression: str) -> str:
        """The value of the few expressions that the action uses."""
        for part in expression.split(" || "):
            words = part.split(".")
            if words[0] == "inputs":
                found = self.inputs[words[1]]
            elif words[0] == "steps":
                found = self.outputs[words[1]][words[3]]
            else:
                found = {
                    "github.action_path": str(ROOT),
                    "github.repository": "acme/evals",
                    "github.event.pull_request.number": "7",
                    "github.token": "secret",
                }[part]
            if found:
                return found
        return ""

    def run(self, step: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        bin_, log = self.folder / "bin", self.folder / "gh.log"
        output, summary = self.folder / f"{step['id']}.out", self.folder / "summary.md"
        tool(bin_ / "surefoot", f'PYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m surefoot "$@"')
        tool(bin_ / "python", f'echo "python $*" >> "{log}"')
        tool(bin_ / "gh", f'echo "gh $*" >> "{log}"; case "$*" in *--jq*) echo "{self.known}" ;; esac')
        told = {name: VALUE.sub(lambda found: self.value(found[1]), text) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={
                "PATH": f"{bin_}:{os.environ['PATH']}",
                "RUNNER_TEMP": str(self.folder),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                **told,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        lines = output.read_text().splitlines() if output.exists() else []
        self.outputs[step["id"]] = dict(line.split("=", 1) for line in lines)
        self.calls = log.read_text().splitlines() if log.exists() else []
        self.summary = summary.read_text() if summary.exists() else ""
        return done


def tool(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


def ran(folder: Path, new: int, old: int = 120, *, known: str = "", **inputs: str) -> tuple[Runner, int]:
    """All steps up to the first that fails, and the code of the last."""
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    paths = {"new": results(folder / "a new $(touch pwned).csv", new), "old": results(folder / "old.csv", old)}
    runner = Runner(folder, given | {name: str(path) for name, path in paths.items()} | inputs, known=known)
    done = subprocess.CompletedProcess[str]([], 0)
    for step in STEPS:
        done = runner.run(step)
        if done.returncode and step["id"] != "gate":
            raise AssertionError(f"{step['id']}: {done.stderr}")
    assert not (folder / "pwned").exists()
    return runner, done.returncode


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Runner, int]:
    return ran(tmp_path_factory.mktemp("worse"), 90)


def test_a_regression_fails(worse: tuple[Runner, int]) -> None:
    runner, code = worse
    assert (code, runner.outputs["compare"]["verdict"]) == (1, "worse")


def test_what_it_leaves_behind(worse: tuple[Runner, int]) -> None:
    runner, _ = worse
    made = runner.outputs["compare"]
    comment = Path(made["comment"]).read_text()
    assert comment.startswith("<!-- surefoot gate -->\n### Gate failed. ")
    assert "| `all` | 45.0% | 60.0% | -15.0 | \\[-20.8, -10.5\\] | 30 | 0 | **worse** |" in comment
    assert "Lost 15 in `t0`: `q90`, `q92`" in comment
    assert "| `t1` |" in comment
    assert runner.summary == comment.split("\n", 1)[1]
    assert '"code": 1' in Path(made["json"]).read_text()
    assert sf.read(made["junit"]).column("success") == (0,)
    assert runner.calls[0] == f"python -m pip install --quiet {ROOT}"


def test_what_cannot_be_told_passes_or_fails_as_asked(tmp_path: Path) -> None:
    runner, code = ran(tmp_path, 121)
    assert (code, runner.outputs["compare"]["verdict"]) == (0, "cannot-tell")
    runner.inputs["undecided"] = "fail"
    assert runner.run(STEPS[-1]).returncode == 2


def test_the_comment_is_written_once_and_edited_after(tmp_path: Path) -> None:
    runner, code = ran(tmp_path, 150)
    assert (code, runner.outputs["compare"]["verdict"]) == (0, "better-or-not-worse")
    listing, writing = runner.calls[1:]
    assert listing.startswith("gh api --paginate repos/acme/evals/issues/7/comments --jq")
    assert writing.startswith("gh api --silent repos/acme/evals/issues/7/comments --field body=@")
    runner.known = "4711"
    assert runner.run(STEPS[2]).returncode == 0
    assert "--method PATCH repos/acme/evals/issues/comments/4711 --field body=@" in runner.calls[-1]


def test_options_reach_the_command_word_by_word(tmp_path: Path) -> None:
    runner, _ = ran(tmp_path, 90, options="--where=task=t0\n\n", title="gate --> two")
    comment = Path(runner.outputs["compare"]["comment"]).read_text()
    assert comment.startswith("<!-- surefoot gatetwo -->\n")
    assert "For items like these 100: " in comment
    assert "unit item (100), paired by item" in comment
    assert "Lost 15: `q90`, `q92`" in comment


def test_a_misused_command_fails_the_step(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"compare: surefoot: `--margin` must be a number; got 'a lot'"):
        ran(tmp_path, 90, margin="a lot")


def test_no_input_stands_in_a_script() -> None:
    assert len(STEPS) == 4
    for step in STEPS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_several_needs_in_the_place_of_a_margin(tmp_path: Path) -> None:
    needs = tmp_path / "release.toml"
    needs.write_text("[gate]\n[[gate.need]]\nnot_worse_by = 0.05\n[[gate.need]]\nrate_at_least = 0.05\n")
    runner, code = ran(tmp_path, 60, needs=str(needs))
    assert (code, runner.outputs["compare"]["verdict"]) == (1, "worse")
    comment = Path(runner.outputs["compare"]["comment"]).read_text()
    assert comment.startswith("<!-- surefoot gate -->\n### Gate failed. 1 broken, 1 hold")
    assert "| **FAIL** | `success not worse by 5 points` |" in comment


def test_other_actions_are_pinned_by_their_commit() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", one) for one in used)


def _locked(name: str) -> list[str]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_every_package_that_is_locked_has_its_hash() -> None:
    lines = _locked("lock.txt")
    assert len(lines) > 100
    assert all(re.search(r"==\S+.* --hash=sha256:[0-9a-f]{64}", line) for line in lines)


def test_the_package_alone_is_locked_to_the_same_versions() -> None:
    alone = _locked("lock-package.txt")
    whole = {re.split(r"[ ;]", line)[0] for line in _locked("lock.txt")}
    assert {re.split(r"[ ;]", line)[0] for line in alone} < whole
    assert all("--hash=sha256:" in line for line in alone)
    assert not any(line.startswith(("pytest", "playwright", "mypy")) for line in alone)
