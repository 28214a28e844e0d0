"""Tests of `surefoot.analysis.levels`."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot import stats
from surefoot.stats.exact_gains import exact_p
from surefoot.stats.strata import least_p

LEVELS = st.lists(st.tuples(*[st.integers(0, 12)] * 2), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(LEVELS, st.sampled_from([1.0 - 0.95, 1.0 - 0.995]))
def test_the_p_value_of_no_gain_alone_is_at_most_that_of_the_gain(successes, error):
    strata = {str(at): (sf.Tally(x, 12), sf.Tally(y, 12)) for at, (x, y) in enumerate(successes)}
    if len(strata) == 1:
        gain = stats.exact_gain(*strata["0"], confidence=1.0 - error)
        assert exact_p(*strata["0"], error=error) == gain.p_value
    else:
        gain = stats.stratified_rate_gain(strata, weights="tasks", confidence=1.0 - error)
    assert least_p(strata, weights="tasks", error=error) <= gain.p_value


def met(rates: dict[str, tuple[float, float]], tries: int = 20) -> sf.Rollouts:
    rows = [
        (policy, scene, trial, int(trial < round(tries * rates[scene][place])))
        for (place, policy), scene, trial in itertools.product(enumerate("ab"), rates, range(tries))
    ]
    return sf.read(pl.DataFrame(rows, schema=["policy", "scene", "trial", "success"], orient="row"))


def notes(rollouts: sf.Rollouts) -> list:
    return [note for note in sf.compare(rollouts, "a", "b").notes if "levels" in note.values]


def test_levels_that_are_alike_are_not_named():
    assert notes(met({f"scene {at}": (0.5, 0.45) for at in range(8)})) == []


def test_a_level_that_disagrees_is_named_with_its_own_exact_interval():
    rates = {f"scene {at}": (0.5, 0.5) for at in range(8)} | {"scene 8": (1.0, 0.2), "scene 9": (0.2, 1.0)}
    (note,) = notes(met(rates))
    assert note.kind == "depends on"
    shown = {line[0]: line[1:] for line in note.values["levels"]}
    assert set(shown) == {"scene 8", "scene 9"}
    alone = stats.exact_gain(sf.Tally(20, 20), sf.Tally(4, 20))
    assert shown["scene 8"] == (alone.estimate, alone.interval.low, alone.interval.high, True)


def test_six_levels_whose_gains_differ_are_all_shown():
    rates = {f"scene {at}": (0.5, 0.5) for at in range(5)} | {"scene 5": (1.0, 0.0)}
    (note,) = notes(met(rates))
    assert len(note.values["levels"]) == 6
    assert [line[0] for line in note.values["levels"] if line[4]] == ["scene 5"]


def test_units_crossed_with_many_levels_of_another_column_are_measured_in_both_ways():
    rng = np.random.default_rng(3)
    cells = list(itertools.product("ab", range(30), range(20)))
    rows = [(policy, f"scene {s}", f"user {u}", int(rng.random() < 0.6)) for policy, s, u in cells]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "user", "success"], orient="row"))
    own = [row for row in rows if row[0] == "a"]
    of_pairs = stats.cluster_mean(
        sf.Scores([float(row[3]) for row in own]), [row[2] for row in own], crossed=[row[1] for row in own]
    )
    found = sf.compare(table, "a", "b").of_first
    assert (found.low, found.high) == pytest.approx((of_pairs.interval.low, of_pairs.interval.high), rel=1e-9)
