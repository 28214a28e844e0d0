"""Does a file answer the same under other names of its columns and another order of its rows and columns?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import renamed_files

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
OF_STUDIES = {"v0_1_0", "v0_2_0", "studies"}
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in FIXTURES.rglob("*.*")
    if path.is_file() and path.suffix != ".md" and path.relative_to(FIXTURES).parts[0] not in OF_STUDIES
)
FOLDERS = [f"tests/fixtures/{name}" for name in ("lm_eval", "lm_eval_0_4_13", "libero", "roboarena")]
REAL = [
    *("terminalbench/trials.csv", "swebench/verified.csv", "roboarena/per_trial_binary_data.csv", "lerobot"),
    *("roboarena/policy_preferences.csv", "matrices/terminalbench_pyirt.jsonl"),
    *("matrices/alpaca_evaluators_leaderboard.csv", "lbm1/Fig2.csv", "lbm1/Fig4_AB.csv", "lbm1/Fig5_C.csv"),
    *("counts/dream_machines_pi05.csv", "counts/pour_ice_diffusion_policy.csv", "counts/rt2_vs_vc1.csv"),
    *("inspect/log_formats.eval", "inspect/log_formats.json"),
]


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", [path for path in FILES if Path(path).suffix in (".csv", ".tsv", ".json", ".xlsx")])
def test_a_fixture_renamed_once(path):
    assert renamed_files.main([path, "--times", "1"]) == 0


def test_what_a_file_does_not_say_is_not_refused_under_one_name_only(tmp_path, capsys):
    """A file that is refused must be refused under other names too."""
    path = tmp_path / "plain.csv"
    path.write_text("who,what\na,1\nb,0\n")
    assert renamed_files.main([str(path), "--times", "3"]) == 0
    assert "refused" in capsys.readouterr().out


def test_a_number_that_changes_is_found(tmp_path, monkeypatch, capsys):
    """A counter taken for the unit by its name alone, without a note that says so."""
    monkeypatch.setattr(renamed_files, "BY_NAME", frozenset())
    assert renamed_files.main(["counter of 50 shared", "--times", "2"]) == 1
    assert "CHANGED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("path", [*FILES, *FOLDERS])
def test_a_fixture_renamed_50_times(path):
    assert renamed_files.main([path]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL)
def test_a_real_file_renamed_50_times(path, shared_data):
    assert renamed_files.main([str(shared_data / path)]) == 0


@pytest.mark.slow
def test_real_files_of_one_policy_each_renamed_50_times(shared_data):
    files = sorted((shared_data / "irom").glob("*real*.csv"))
    told = ["--column", "score=success", "--column", "task=env"]
    assert renamed_files.main(["+".join(map(str, files)), *told]) == 0
