"""Tests of `surefoot.analysis.purchases`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import stats
from surefoot.analysis.purchases import NextPlan
from surefoot.stats.labelling import half_width_after


def drawn(rng: np.random.Generator, spread: float, sizes: list[int], documents: int = 0) -> sf.Rollouts:
    """Two policies on units of their own difficulty and gain, each run so many times."""
    rows = []
    for place, size in enumerate(sizes):
        base = rng.uniform(0.3, 0.7)
        for name, rate in (("new", base + 0.1 + rng.normal(0, spread)), ("old", base)):
            won = rng.random(size) < np.clip(rate, 0.02, 0.98)
            rows += [(name, f"task {place}", try_, int(one)) for try_, one in enumerate(won)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "task", "trial", "success"], orient="row"))


def width(table: sf.Rollouts) -> float:
    found = sf.compare(table, "new", "old", target="like").interval
    return (found.high - found.low) / 2


def test_the_recommendation_follows_what_varies():
    rng = np.random.default_rng(1)
    apart = sf.plan_next(drawn(rng, 0.35, [20] * 30), "new", "old", budget=600)
    assert apart.best.units == 330  # units differ: many, each run once
    assert apart.between > 0.5
    tries = next(one for one in apart.purchases if one.units == 30)
    assert tries.half_width > 0.85 * apart.half_width
    assert tries.repeats == 30
    assert all(one.rollouts <= 600 for one in apart.purchases)
    assert NextPlan.from_dict(apart.to_dict()) == apart
    assert "Buy 300 more levels of task, one trial" in str(apart)


def test_without_repeats_it_is_said_that_nothing_tells_what_they_add():
    plan = sf.plan_next(drawn(np.random.default_rng(2), 0.1, [1] * 60), "new", "old", budget=120)
    assert [one.units for one in plan.purchases] == [120]
    assert "not known" in str(plan)


def test_where_units_lie_in_clusters_new_clusters_are_bought():
    rows = [
        (p, f"doc {n // 4}", f"q{n}", int(n * (3 + (p == "new")) % 7 < 4)) for p in ("new", "old") for n in range(96)
    ]
    table = sf.read(pl.DataFrame(rows, schema=["model", "document", "question", "correct"], orient="row"))
    plan = sf.plan_next(table, "new", "old", budget=100)
    assert plan.best.says == "50 more levels of question, in new levels of document, one sample of each model on each"


def test_what_cannot_be_asked_is_refused():
    table = drawn(np.random.default_rng(3), 0.1, [2] * 4)
    with pytest.raises(sf.DataError, match="5 units or more; got 4"):
        sf.plan_next(table, "new", "old", budget=10)
    with pytest.raises(ValueError, match="`budget`"):
        sf.plan_next(table, "new", "old", budget=1)
    loose = pl.DataFrame({"policy": ["new", "old"] * 10, "success": [1, 0] * 10})
    with pytest.raises(sf.DataError):
        sf.plan_next(sf.read(loose), "new", "old", budget=10)


def judged(rng: np.random.Generator, units: int, labels: int) -> sf.Rollouts:
    """Two models on questions, by a judge that is right nine times in ten; people labelled some of the questions."""
    rows = []
    for name, rate in (("new", 0.7), ("old", 0.6)):
        right = rng.random(units) < rate
        said = right ^ (rng.random(units) > 0.9)
        people = [int(one) if place < labels else None for place, one in enumerate(right)]
        rows += [(name, f"q{place}", int(said[place]), human) for place, human in enumerate(people)]
    return sf.read(pl.DataFrame(rows, schema=["policy", "question", "success", "human"], orient="row"))


def test_labels_by_people_are_weighed_against_more_questions():
    table = judged(np.random.default_rng(3), 300, 60)
    plan = sf.plan_next(table, "new", "old", budget=300)
    found = sf.compare(table, "new", "old").gain.interval
    assert plan.half_width == pytest.approx(found.width / 2)  # people's and the judge's, not the judge's alone
    assert [(one.units, one.labels) for one in plan.purchases] == [(300, 150), (375, 75), (450, 0)]
    assert "labels of 150 more levels of question" in str(plan)
    dear = sf.plan_next(table, "new", "old", budget=300, label_price=5)
    assert {(one.units, one.labels) for one in dear.purchases} == {(300, 30), (325, 25), (450, 0)}
    assert dear.best.half_width > plan.best.half_width
    assert NextPlan.from_dict(dear.to_dict()) == dear
    with pytest.raises(ValueError, match="`label_price`"):
        sf.plan_next(table, "new", "old", budget=300, label_price=0)
    apart = judged(np.random.default_rng(3), 300, 60).frame.to_native().collect()
    one_sided = apart.with_columns(human=pl.when(pl.col("policy") == "new").then("human"))
    with pytest.raises(sf.DataError, match="label"):
        sf.plan_next(sf.read(one_sided), "new", "old", budget=300)


@pytest.mark.slow
@pytest.mark.parametrize(("items", "labels", "agree"), [(600, 100, 0.9), (1000, 150, 0.95), (400, 100, 0.75)])
def test_the_predicted_widths_of_labels_are_those_that_are_bought(items, labels, agree):
    """On average over sixty files within 5% and two standard errors, for more labels, more items and both."""
    rng = np.random.default_rng(7)

    def found(items: int, labels: int) -> stats.CorrectedGain:
        base = rng.beta(0.5, 0.5, items)
        right = [rng.random(items) < np.clip(base + shift, 0, 1) for shift in (0.08, 0.0)]
        said = [one ^ (rng.random(items) > agree) for one in right]
        gains = (right[0] * 1.0 - right[1]).tolist()
        human = [one if place < labels else None for place, one in enumerate(gains)]
        return stats.judge_corrected_gain(said[0] * 1.0 - said[1], human)

    for more in ((items, 2 * labels), (items, 3 * labels), (2 * items, labels), (items + labels, 2 * labels)):
        predicted = [half_width_after(found(items, labels), more[1], more[0]) for _ in range(60)]
        real = [found(*more).gain.interval.width / 2 for _ in range(60)]
        error = np.hypot(np.std(predicted), np.std(real)) / np.sqrt(60)
        assert abs(np.mean(predicted) - np.mean(real)) <= 0.05 * np.mean(real) + 2 * error, (more, predicted, real)


LAWS = [(0.0, 60, 4), (0.1, 60, 4), (0.3, 60, 4), (0.2, 100, 2), (0.05, 40, 10), (0.3, 150, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "units", "repeats"), LAWS)
def test_the_predicted_widths_are_those_that_are_bought(spread, units, repeats):
    """On thirty files: on average within 5% (and two standard errors), the advice within 3% of the best one's width."""
    rng = np.random.default_rng(100)
    budget = 2 * units * repeats
    per = budget // 2
    predicted = []
    for _ in range(30):
        plan = sf.plan_next(drawn(rng, spread, [repeats] * units), "new", "old", budget=budget)
        by_units = sorted(plan.purchases, key=lambda one: (one.units, one.repeats))
        predicted.append([one.half_width for one in by_units])
    sizes = [[repeats + per // units] * units, [repeats] * (units + per // repeats), [repeats] * units + [1] * per]
    real = [[width(drawn(rng, spread, each)) for each in sizes] for _ in range(30)]
    mean, wanted = np.mean(predicted, axis=0), np.mean(real, axis=0)
    errors = np.hypot(np.std(predicted, axis=0), np.std(real, axis=0)) / np.sqrt(30)
    assert (np.abs(mean - wanted) <= 0.05 * wanted + 2 * errors).all(), (mean, wanted)
    assert wanted[int(np.argmin(mean))] <= 1.03 * wanted.min()
