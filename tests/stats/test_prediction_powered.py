"""Tests of `surefoot.stats.prediction_powered`."""

import numpy as np
import pytest

from surefoot import Scores
from surefoot.stats import prediction_powered_mean
from tests.oracles import structure as twin

# --- Prediction-powered mean


@pytest.mark.parametrize("seed", range(5))
def test_prediction_powered_mean_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    y = rng.beta(2, 1, 30)
    f = (y + 0.2 * rng.standard_normal(30)).clip(0, 1)
    other = (rng.beta(2, 1, 200) + 0.2 * rng.standard_normal(200)).clip(0, 1)
    found = prediction_powered_mean(Scores(y), Scores(f), Scores(other))
    wanted = twin.ppi_mean(y.tolist(), f.tolist(), other.tolist())
    assert found.interval.estimate == pytest.approx(wanted["estimate"], rel=1e-10)
    assert found.trust == pytest.approx(wanted["power"], rel=1e-10)
    assert found.standard_error == pytest.approx(wanted["se"], rel=1e-10)
    assert found.interval.width > 2 * 1.96 * wanted["se"]
    again = prediction_powered_mean(Scores(y * 4, 0, 4), Scores(f * 4, 0, 4), Scores(other * 4, 0, 4))
    assert again.interval.low == pytest.approx(4 * found.interval.low)


def test_a_useless_or_silent_judge_is_not_trusted():
    rng = np.random.default_rng(0)
    y = Scores((rng.random(40) < 0.8).astype(float))
    silent = prediction_powered_mean(y, Scores([0.5] * 40), Scores([0.5] * 100))
    assert silent.trust == 0.0
    assert silent.interval.estimate == pytest.approx(y.mean)
    contrary = prediction_powered_mean(y, Scores(1 - np.array(y.values)), Scores([0.2] * 50 + [0.9] * 50))
    assert contrary.trust == 0.0
    shy = 0.4 + 0.2 * np.array(y.values)  # right, but with a fifth of the spread: trusted whole and no more
    assert prediction_powered_mean(y, Scores(shy), Scores([0.4] * 20 + [0.6] * 80)).trust == 1.0
    sure = prediction_powered_mean(Scores([1.0] * 20), Scores([1.0] * 20), Scores([1.0] * 100)).interval
    assert (sure.estimate, sure.high) == (1.0, 1.0)
    assert sure.low < 0.9


def test_a_good_judge_narrows_the_interval():
    rng = np.random.default_rng(1)
    y, other = rng.random(300), rng.random(3000)
    good = prediction_powered_mean(Scores(y), Scores(y), Scores(other)).interval
    bad = prediction_powered_mean(Scores(y), Scores(rng.random(300)), Scores(other)).interval
    assert good.width < 0.6 * bad.width
