"""Real evaluations, read with no flags, agree with their own totals. The files are other people's and stay outside."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import surefoot as sf


@pytest.mark.parametrize("name", ["act", "diffusion"])
def test_lerobot_percent_success(shared_data: Path, name: str) -> None:
    path = shared_data / "lerobot" / f"{name}.json"
    total = json.loads(path.read_text())["overall"]
    rollouts = sf.read(path)
    assert rollouts.policies == (name,)
    tally = rollouts.tally()
    assert tally.trials == total["n_episodes"]
    assert 100 * tally.rate == pytest.approx(total["pc_success"], abs=1e-12)
    assert rollouts.scores().mean == pytest.approx(total["avg_max_reward"], abs=1e-6)  # the file's is a 32-bit mean
    assert rollouts.findings == ()


def test_two_lerobot_files_compare(shared_data: Path) -> None:
    rollouts = sf.read([shared_data / "lerobot" / "act.json", shared_data / "lerobot" / "diffusion.json"])
    assert rollouts.where(policy="diffusion").tally() == sf.Tally(48, 200)
    assert rollouts.where(policy="act").tally() == sf.Tally(2, 200)
    assert not rollouts.pairing("diffusion", "act")
    assert rollouts.pairs("diffusion", "act", on=("task", "order")).matched == 200


@pytest.mark.parametrize("name", ["Fig4_AB.csv", "Fig5_C.csv"])
def test_lbm_rates(shared_data: Path, name: str) -> None:
    path = shared_data / "lbm1" / name
    rollouts = sf.read(path)
    assert rollouts.findings == ()
    groups = {group.key: group for group in rollouts.summary(by=("policy", "task"))}
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["Task"].startswith("Aggregate")]
    assert len(groups) == len(rows)
    for row in rows:
        group = groups[row["Method"], row["Task"]]
        assert group.rollouts == int(row["Num_Rollouts"])
        if "Success_Rate" in row:
            assert group.successes == int(row["Num_Successes"])
            assert group.tally.rate == pytest.approx(float(row["Success_Rate"]), abs=1e-9)
        else:
            assert group.mean == pytest.approx(float(row["Avg_Task_Progress"]), abs=1e-8)


def test_lbm_letters_differ_from_ours_once_and_the_page_says_so(shared_data: Path) -> None:
    path = shared_data / "lbm1" / "Fig4_AB.csv"
    made = sf.report(sf.read(path))
    assert [(one.task, one.theirs) for one in made.overview.disagreements] == [("PutContainersOnPlate", True)]
    page = made.html()
    assert "on PutContainersOnPlate; here no difference between them was shown" in page
    assert "come from another test" in page
    assert "dataset Fig4A_HW_Unseen_Nominal and Fig4B_Sim_Unseen_Nominal" in page
    assert len(made.overview.curves) == 10
    assert sf.report(sf.read(shared_data / "lbm1" / "Fig5_C.csv")).overview.disagreements == ()


def test_roboarena_preferences_are_ranked(shared_data: Path) -> None:
    table = sf.read_preferences(shared_data / "roboarena" / "policy_preferences.csv")
    found = sf.rank_preferences(table, rng=7)
    assert found.names[0] == "pi05_droid"
    assert found.names[-1] == "paligemma_binning_droid"
    assert found.preferences == len(table)


def test_inspect_both_ways(shared_data: Path) -> None:
    packed, plain = (sf.read(shared_data / "inspect" / f"log_formats.{kind}") for kind in ("eval", "json"))
    assert packed.summary(by=("policy", "task", "condition")) == plain.summary(by=("policy", "task", "condition"))
    assert plain.tally() == sf.Tally(0, 1)


def test_counts(shared_data: Path) -> None:
    rollouts = sf.read(shared_data / "counts" / "rt2_vs_vc1.csv")
    assert rollouts.where(policy="RT-2", task="reasoning").tally() == sf.Tally(53, 110)
    study = sf.read(shared_data / "counts" / "dream_machines_pi05.csv")
    assert study.where(policy="R50_B20", task="serving_sweep_21h").tally() == sf.Tally(74, 80)
    assert len(study.summary(by=("policy", "task"))) == 40
    assert sf.audit(study).about("unequal mixes")
    ice = sf.read(shared_data / "counts" / "pour_ice_diffusion_policy.csv")
    assert ice.where(task="ood_harmful").tally() == sf.Tally(4, 50)


def test_roboarena(shared_data: Path) -> None:
    folder = shared_data / "roboarena"
    rollouts = sf.read(folder)
    with (folder / "per_trial_binary_data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for group in rollouts.summary():
        mine = [float(row[str(group.key[0])]) for row in rows if row[str(group.key[0])] != ""]
        assert (group.successes, group.outcomes) == (sum(mine), len(mine))
    assert sf.audit(rollouts).collected == "shared"
    both = [(row["pi0_fast_droid"], row["pi0_droid"]) for row in rows if row["pi0_fast_droid"] and row["pi0_droid"]]
    tally = rollouts.pairs("pi0_fast_droid", "pi0_droid").tally()
    assert tally.pairs == len(both)
    assert tally.first_only == sum(a == "1.0" and b == "0.0" for a, b in both)
    preferences = sf.read_preferences(folder / "policy_preferences.csv")
    assert len(preferences) == 796
    assert sum(sum(counts) for counts in preferences.counts().values()) == 796
    assert sum(counts[2] for counts in preferences.counts().values()) == 150


def test_irom_needs_its_columns_named(shared_data: Path) -> None:
    path = shared_data / "irom" / "carrot__real__v0_10demo.csv"
    with pytest.raises(sf.DataError, match=r"row 24: `success` .* got '0.5'\. A partial success is a score"):
        sf.read(path)
    rollouts = sf.read(path, columns={"score": "success", "condition": "trial #"}, policy="10 demos")
    scores = rollouts.scores()
    assert len(scores) == 25
    assert scores.mean == pytest.approx(0.06)  # the file's own average
    (missing,) = sf.audit(rollouts).about("missing values")
    assert "50 of 75" in missing.says
