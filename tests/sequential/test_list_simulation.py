"""Tests of `surefoot.sequential.simulation`: do many orders of a list at once say what each says alone?"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import betainc

from surefoot.core.verdict import Verdict
from surefoot.numerics import arrays
from surefoot.sequential import ListMean, run_list, simulate_list


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "goal", [{"within": 0.1}, {"against": 0.45}, {"incumbent": True}, {"against": 0.4, "claim": "first better"}]
)
@pytest.mark.parametrize("helped", [True, False])
def test_many_orders_are_as_one_at_a_time(goal, helped):
    rng = np.random.default_rng(0)
    scores = (rng.random(60) < 0.5).astype(float)
    if "incumbent" in goal:
        goal = {"incumbent": np.where(rng.random(60) < 0.3, 0.0, scores)}
    rule = ListMean(60, **goal, helped_by=np.clip(0.5 * scores + 0.5 * rng.random(60), 0, 1) if helped else None)
    done = simulate_list(rule, scores, rng=3, orders=6)
    ((_, generator),) = arrays.seeded(6, 100, np.random.default_rng(3))
    orders = np.argsort(generator.random((6, 60)), axis=1)
    for row, order in enumerate(orders):
        last = run_list(rule, [(int(item), scores[item]) for item in order])[-1]
        assert (last.run, last.verdict) == (done.items[row], done.verdicts[row])
        held = last.ends[0] - 1e-9 <= scores.mean() <= last.ends[1] + 1e-9
        assert done.missed[row] == (not held)


def test_a_simulation_prints_and_is_checked():
    done = simulate_list(ListMean(10, within=0.2), [1, 0] * 5, rng=1, orders=20)
    assert str(done).startswith("20 orders, ")
    assert done.share(Verdict.UNDECIDED) == 1.0
    assert done.mean_items == done.items.mean()
    with pytest.raises(ValueError, match="`scores` must hold one number for each of the 10 items; got 9"):
        simulate_list(ListMean(10, within=0.2), [1] * 9, rng=1)
    with pytest.raises(TypeError, match="`rng` must be"):
        simulate_list(ListMean(10, within=0.2), [1] * 10, rng=None)
    with pytest.raises(TypeError, match="`rule` must be a ListMean"):
        simulate_list("rule", [1] * 10, rng=1)


def conditions(correlation, items=200):
    """Outcomes of a list with a rate of one half, and predictions with exactly this correlation."""
    right = round(items * (1 + correlation) / 4)
    half = items // 2
    outcomes = np.repeat([1.0, 0.0], half)
    return outcomes, np.concatenate(
        [np.repeat([1.0, 0.0], [right, half - right]), np.repeat([1.0, 0.0], [half - right, right])]
    )


def test_a_simulator_saves_rollouts():
    counts = {}
    for correlation in (0.8, 0.0):
        outcomes, predictions = conditions(correlation)
        rule = ListMean(200, within=0.1, helped_by=predictions)
        done = simulate_list(rule, outcomes, rng=1, orders=60)
        counts[correlation] = done.mean_items
        assert done.missed.mean() <= 0.05
    assert counts[0.8] <= 60
    assert counts[0.0] <= 88


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "most"), [(0.95, 45), (0.8, 60), (0.6, 73), (0.0, 88), (None, 85)])
def test_rollouts_with_a_simulator(correlation, most):
    outcomes, predictions = conditions(correlation or 0.0)
    rule = ListMean(200, within=0.1, helped_by=None if correlation is None else predictions)
    done = simulate_list(rule, outcomes, rng=2, orders=2000)
    assert done.mean_items <= most
    missed = int(done.missed.sum())
    assert missed == 0 or betainc(missed, 2000 - missed + 1, 0.05) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_incumbent_of_the_same_mean_is_seldom_beaten(seed):
    rng = np.random.default_rng(seed)
    scores = rng.permutation(np.repeat([1.0, 0.0], [120, 80]))
    flipped = scores.copy()
    for value in (0.0, 1.0):  # as many turn from success to failure as the other way
        flipped[rng.choice(np.flatnonzero(scores == value), 15 * (seed + 1), replace=False)] = 1.0 - value
    assert flipped.mean() == scores.mean()
    predictions = np.clip(0.5 * scores + 0.5 * rng.random(200), 0, 1)
    done = simulate_list(ListMean(200, incumbent=flipped, helped_by=predictions), scores, rng=seed, orders=4000)
    wrong = int(np.sum(done.verdicts != Verdict.UNDECIDED))
    assert wrong == 0 or betainc(wrong, 4000 - wrong + 1, 0.05) > 1e-4


@pytest.fixture
def results(shared_data: Path):
    """67 systems on the 500 items of SWE-bench Verified, in the order they came."""
    return pl.read_csv(shared_data / "swebench" / "verified.csv").drop("item").to_numpy().astype(float)


@pytest.mark.slow
def test_a_benchmark_known_from_part_of_it(results):
    counts, missed, orders = {"none": [], "mean of 20": [], "shuffled": []}, 0, 0
    for system in range(20, results.shape[1], 3):
        earlier = results[:, system - 20 : system].mean(axis=1)
        shuffled = np.random.default_rng(system).permutation(earlier)
        for name, column in (("none", None), ("mean of 20", earlier), ("shuffled", shuffled)):
            rule = ListMean(500, within=0.03, helped_by=column)
            done = simulate_list(rule, results[:, system], rng=system, orders=16)
            counts[name].append(done.mean_items)
            missed, orders = missed + int(done.missed.sum()), orders + 16
    items = {name: float(np.mean(found)) for name, found in counts.items()}
    assert items["mean of 20"] <= 300
    assert items["shuffled"] <= 1.04 * items["none"]
    assert betainc(missed, orders - missed + 1, 0.05) > 1e-4


@pytest.mark.slow
def test_only_the_new_system_runs_against_an_incumbent(results):
    means, found, wrong, decided = results.mean(axis=0), [], [], []
    for new in range(20, results.shape[1]):
        for old in range(new - 20, new, 3):
            if not 0.02 <= abs(means[new] - means[old]) <= 0.05:
                continue
            rule = ListMean(500, incumbent=results[:, old], helped_by=results[:, new - 20 : new].mean(axis=1))
            done = simulate_list(rule, results[:, new], rng=new, orders=16)
            right = Verdict.BETTER if means[new] > means[old] else Verdict.WORSE
            found.append(done.mean_items)
            decided.append(1.0 - done.share(Verdict.UNDECIDED))
            wrong.append(1.0 - done.share(right))
    assert np.mean(found) <= 275
    assert min(decided) == 1.0
    assert np.mean(wrong) <= 0.05
