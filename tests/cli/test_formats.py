"""Every format that `surefoot formats` lists can be read, by the very command that it shows."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path

import pytest

from surefoot.cli.main import run
from surefoot.files import preferences, workbooks
from surefoot.files.formats import NAMES, importers
from tests.support import samples
from tests.support.samples import put
from tests.support.studies import begun, driven, outcomes

STUDY = driven(begun(blinded=False), outcomes(1, new=0.9, old=0.3)).export().encode()
FILES = {**samples.all_files(), "study.jsonl": STUDY}
OF = {
    "a column per policy": "sheets/poses.csv",
    "AlpacaEval annotations": "judged/annotations.json",
    "CALVIN": "calvin/results.json",
    "Harbor": "harbor/result.json",
    "HELM": "helm/per_instance_stats.json",
    "ManiSkill": "maniskill/trajectory.json",
    "py-irt": "py_irt/responses.jsonl",
    "robomimic": "robomimic/log.txt",
    "tau-bench, tau2-bench": "tau/trials.json",
    "Chatbot Arena": "judged/arena.json",
    "counts": "counts.csv",
    "CSV, TSV": "rollouts.csv",
    "diffusion_policy": "diffusion/eval_log.json",
    "Excel": "excel/trials.xlsx",
    "fieldtrial, orbit": "fieldtrial/trials.csv",
    "Gymnasium monitor": "sb3/0.monitor.csv",
    "Inspect": "inspect_0_3_285/clustered.eval",
    "inspect-robots": "inspect_robots/log.json",
    "JSON, JSON Lines": "",
    "JUnit XML": "junit/pytest.xml",
    "LBM tables": "lbm/Fig.csv",
    "LeRobot": "lerobot/eval_info.json",
    "LIBERO text logs": "libero/openpi.log",
    "lm-evaluation-harness results": "lm_eval/results_2026-01-02T03-04-05.678901.json",
    "lm-evaluation-harness samples": "lm_eval/samples_gsm8k_2026-01-02T03-04-05.678901.jsonl",
    "models by items": "matrix/models_by_items.csv",
    "MT-bench pairwise": "judged/gpt-4_pair.jsonl",
    "NumPy pairs": "pairs.npy",
    "openpi DROID": "droid/eval_2025_03_04.csv",
    "OpenAI evals": "openai_evals/run.jsonl",
    "OpenVLA tracked summary": "tracked/wandb-summary.json",
    "Parquet": "table.parquet",
    "preferences": "preferences.csv",
    "promptfoo": "promptfoo/out.json",
    "RoboArena server": "roboarena_server/evaluations.json",
    "RoboArena sessions": "",
    "Stable-Baselines3 evaluations": "evaluations.npz",
    "STEP results": "step/result.json",
    "surefoot study": "study.jsonl",
    "SWE-bench": "swe_bench/acme__small.run1.json",
    "vla-eval": "vla/octo.json",
}
EXPORT = '{"experiment": {"name": "new"}, "scores": {"Factuality": 0.5}}\n' * 2
ABOUT = [*(importer.ABOUT for importer in importers()), workbooks.ABOUT, *preferences.ABOUT]


def test_every_format_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats", "--json"]) == 0
    listed = [one["name"] for one in json.loads(capsys.readouterr().out)]
    assert sorted(listed) == sorted(OF)
    assert len(listed) == len(set(listed)) == len(NAMES) + 5


def test_a_word_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats", "junit"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("JUnit XML: junit.xml")
    assert "\n  surefoot compare pr.xml main.xml\n" in out
    assert run(["formats", "floppy"]) == 65
    assert "A format must be one of a column per policy, AlpacaEval annotations" in capsys.readouterr().err


@pytest.mark.sample(3)
@pytest.mark.parametrize("about", ABOUT, ids=lambda about: about.name)
def test_the_example_works(
    about: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, example = about.name, about.example  # type: ignore[attr-defined]
    if name == "RoboArena sessions":
        pytest.skip("needs a folder of sessions: tests/files/test_importers.py reads one")
    words = shlex.split(example)[1:]
    content = FILES[OF[name]] if OF[name] else EXPORT.encode()
    paths = [word for word in words[1:] if not word.startswith("-")]
    files = [word for before, word in itertools.pairwise(words) if word in paths and before[:2] != "--"]
    for file in files:
        at = f"{file}{Path(OF[name]).name}" if file.endswith("/") else file
        put(tmp_path, at, content)
    monkeypatch.chdir(tmp_path)
    code = run(words)
    said = capsys.readouterr()
    assert code in ((0, 2) if "--gate" in words else (0,)), said.err
    assert said.out.strip()
