"""Tests of `surefoot.analysis.slice_tests`."""

import numpy as np
import pytest

import surefoot as sf
from surefoot import Verdict
from tests.analysis.test_slices import grid, table


def test_pairs_are_exchanged_inside_pairs():
    rng = np.random.default_rng(3)
    rows = []
    for scene in range(120):
        light = ("dim", "bright", "mid")[scene % 3]
        for who in ("new", "old"):
            rate = 0.9 - 0.7 * (who == "new" and light == "dim")
            rows.append((who, f"s{scene}", light, bool(rng.random() < rate)))
    found = sf.slices(table(rows, ["policy", "scene", "lighting", "success"]), "new", "old")
    assert "exchanged inside pairs" in found.how
    assert [one.name for one in found.claimed] == ["lighting=dim"]
    assert found.claimed[0].interval.method.startswith("exact")


def test_units_met_several_times_take_one_sign_for_all_their_rollouts():
    rng = np.random.default_rng(4)
    rows = [
        (who, f"s{scene}", trial, ("dim", "bright")[scene % 2], bool(rng.random() < 0.8 - 0.5 * bad))
        for scene in range(60)
        for who in ("new", "old")
        for bad in [who == "new" and scene % 2 == 0]
        for trial in range(4)
    ]
    found = sf.slices(table(rows, ["policy", "scene", "trial", "lighting", "success"]), "new", "old")
    assert "whole scenes" in found.how
    assert [one.name for one in found.of(Verdict.WORSE)] == ["lighting=dim"]


def test_scores_are_shuffled_too():
    rng = np.random.default_rng(5)
    rows, columns = grid(drop=0.0)
    means = [0.6 - 0.4 * (row[:3] == ("new", "dim", "some")) for row in rows]
    values = np.round(np.clip(rng.normal(means, 0.2), 0, 1), 3)
    scored = [(*row[:4], float(value)) for row, value in zip(rows, values, strict=True)]
    found = sf.slices(table(scored, [*columns[:4], "score"]), "new", "old")
    assert found.claimed[0].name == "lighting=dim & clutter=some"
    assert found.claimed[0].shown("score").startswith("mean")


def test_whole_runs_are_shuffled_where_each_lies_in_one_cell():
    rng = np.random.default_rng(6)
    rows = []
    for who in ("new", "old"):
        for light in ("dim", "bright"):
            for run in range(14):
                rate = np.clip(rng.normal(0.8 - 0.6 * (who == "new" and light == "dim"), 0.05), 0, 1)
                rows += [(who, f"{who}{light}{run}", light, bool(rng.random() < rate)) for _ in range(4)]
    data = table(rows, ["policy", "training", "lighting", "success"]).declare(run="training")
    found = sf.slices(data, "new", "old")
    assert "whole trainings" in found.how
    assert [one.name for one in found.of(Verdict.WORSE)] == ["lighting=dim"]


def test_few_in_a_cell_takes_holm_and_dealt_levels_shuffle_strata():
    rng = np.random.default_rng(7)
    rows = [
        (who, *(str(rng.integers(5)) for _ in range(3)), bool(rng.random() < 0.8))
        for who in ("new", "old")
        for _ in range(150)
    ]
    data = table(rows, ["policy", "a", "b", "c", "success"])
    plain, dealt = (sf.slices(data, "new", "old", by=("a", "b", "c"), dealt=dealt) for dealt in (False, True))
    assert "Holm" in plain.how
    assert "inside strata" in dealt.how


@pytest.mark.parametrize("names", [("x", "n"), ("first", "value"), ("least", "pair"), ("cell", "m")])
@pytest.mark.parametrize("scenes", [True, False])
def test_columns_may_be_called_anything(names, scenes):
    rng = np.random.default_rng(10)
    rows = [
        (who, f"s{scene}", "ab"[scene % 2], "uv"[scene // 2 % 2], bool(rng.random() < 0.7))
        for scene in range(80)
        for who in ("new", "old")
    ]
    kept = rows if scenes else [(row[0], *row[2:]) for row in rows]
    data = table(kept, ["policy", *(["scene"] if scenes else []), *names, "success"])
    found = sf.slices(data, "new", "old", by=names)
    assert found.columns == names
    assert len(found.slices) == 8


def test_what_unequal_shares_of_another_column_make_is_not_named():
    """Every pose is as hard for both; new met the hard one more often, so that its rates are lower everywhere."""
    rows = []
    for light in ("dim", "mid", "bright"):
        for pose, rate, shares in (("easy", 0.9, (10, 40)), ("hard", 0.2, (40, 10))):
            for who, count in zip(("new", "old"), shares, strict=True):
                rows += [(who, light, pose, place < rate * count) for place in range(count)]
    data = table(rows, ["policy", "light", "pose", "success"])
    for by in (("light", "pose"), ("light",)):
        found = sf.slices(data, "new", "old", by=by)
        assert "Holm" in found.how
        assert found.claimed == ()
        assert [one.estimate for one in found.slices] == pytest.approx([0.0] * len(found.slices))
    dealt = sf.slices(data, "new", "old", by="light", dealt=True)
    assert [str(one.verdict) for one in dealt.slices] == ["worse"] * 3


def test_a_scene_met_more_often_by_one_does_not_count_its_mean_as_a_rollout():
    """Means of 3 that miss 1 by a third, against means of 1 that miss none: nearly all gaps have one sign."""
    rows = [("old", f"s{scene}", 0, "ab"[scene % 2], True) for scene in range(60)]
    rows += [
        ("new", f"s{scene}", trial, "ab"[scene % 2], not (scene < 12 and trial == 0))
        for scene in range(60)
        for trial in range(3)
    ]
    data = table(rows, ["policy", "scene", "trial", "light", "success"]).declare(unit="scene", repeat="trial")
    found = sf.slices(data, "new", "old", by="light")
    assert "whole scenes" in found.how
    assert min(one.worse for one in found.slices) > 0.025
    assert any(note.kind == "uneven partners" for note in found.notes)


def trained(seeds: int = 10) -> list[tuple[object, ...]]:
    """Trained copies of each policy with rates of their own, each met under every light and clutter."""
    rng = np.random.default_rng(21)
    return [
        (who, light, clutter, f"{who}-{seed}", bool(rng.random() < rate))
        for who in ("new", "old")
        for seed in range(seeds)
        for rate in [(0.1, 0.95)[seed % 2 if who == "old" else seed % 4 == 0]]
        for light in ("dim", "lamp", "day")
        for clutter in ("none", "some")
        for _ in range(4)
    ]


def test_few_runs_that_span_cells_are_compared_as_wholes():
    """Shuffling their rollouts named a slice in 20% of tables of equal policies."""
    found = sf.slices(table(trained(), ["policy", "lighting", "clutter", "copy", "success"]), "new", "old")
    assert "whole copies" in found.how
    assert found.claimed == ()


def test_one_policy_of_several_runs_is_looked_at_by_whole_runs():
    found = sf.slices(table(trained(), ["policy", "lighting", "clutter", "copy", "success"]), "new")
    assert "by whole copies" in found.how
    alone = sf.slices(table(trained(), ["policy", "lighting", "clutter", "copy", "success"]), "new", ignore="copy")
    drops = [min(drop for *_, drop in one.noticed if drop is not None) for one in (found, alone)]
    assert drops[0] > drops[1]  # whole runs tell less than as many rollouts by themselves


def test_one_policy_on_an_even_grid_is_looked_at_without_strata():
    """Elsewhere 2 of 10 fail in every cell, in one pair of levels 5: within 3 strata that was not shown."""
    rows = [
        ("new", f"l{light}", f"c{clutter}", f"p{pose}", at >= (5 if light == clutter == 0 else 2))
        for light in range(3)
        for clutter in range(3)
        for pose in range(3)
        for at in range(10)
    ]
    found = sf.slices(table(rows, ["policy", "light", "clutter", "pose", "success"]), "new")
    assert found.claimed[0].name == "clutter=c0 & light=l0"
    assert found.claimed[0].interval.method.startswith("exact")
    uneven = [row for at, row in enumerate(rows) if row[3] != "p0" or row[1] != "l0" or at % 3 == 0]
    cut = table(uneven, ["policy", "light", "clutter", "pose", "success"]).declare(setting="pose")
    claimed = [one.interval for one in sf.slices(cut, "new").claimed]
    assert not any(one.method.startswith("exact") for one in claimed)  # within poses, which light=l0 met less often
