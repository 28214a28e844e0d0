"""Tests of `surefoot.numerics.scores.score_tails`."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot.numerics.scores import score_tails
from surefoot.numerics.scores.score_samples import exact, mirror, pool

LAWS = {
    "smooth": lambda rng, n: rng.beta(5, 1, n),
    "rare zeros": lambda rng, n: np.where(rng.random(n) < 0.02, 0.0, rng.uniform(0.9, 1.0, n)),
    "rare ones": lambda rng, n: np.where(rng.random(n) < 0.02, 1.0, rng.uniform(0.0, 0.1, n)),
    "nearly nothing": lambda rng, n: rng.random(n) ** 8,
    "narrow with both ends": lambda rng, n: np.append(rng.beta(50, 50, n - 2), [0.0, 1.0]),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [250, 4_000])
def test_chebyshev_sums_are_the_scores_themselves(law, size):
    sample = pool(LAWS[law](np.random.default_rng(3), size))
    assert sample.cells is not None
    for one in (sample, mirror(sample)):
        away = np.linspace(-8.0, 8.0, 33) * score_tails.error_of(one)
        means = np.clip(one.mean + away, 1e-3, 1 - 1e-3)
        wanted = score_tails.log_above(exact(one), means)
        told = wanted > -700.0
        found = score_tails.log_above(one, means)
        assert found[told] == pytest.approx(wanted[told], rel=1e-9, abs=1e-9)
        assert (found[~told] < -690.0).all()
        assert (found[~told] >= wanted[~told] - 1e-6).all()  # an upper bound


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 20.0), st.floats(0.05, 20.0), st.floats(-9.0, 4.0), st.floats(-9.0, 4.0))
def test_two_groups_of_any_laws_and_means(seed, one, other, first, second):
    rng = np.random.default_rng(seed)
    samples = [pool(rng.beta(one, other, 260)), pool(rng.beta(other, one, 700).round(3))]
    means = np.array(
        [[s.mean + away * score_tails.error_of(s) for s, away in zip(samples, (first, second), strict=True)]]
    )
    means = np.clip(means, 1e-6, 1 - 1e-6)
    scales = np.array([[0.5 / 260, 0.5 / 700]])
    rows = scales, means, (scales * means).max(axis=1)
    wanted = score_tails.log_tails([exact(s) for s in samples], *rows)[0]
    assume(wanted > -600.0)
    assert score_tails.log_tails(samples, *rows)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_an_integrand_that_grows_again_off_the_straight_line():
    """A few rare ones against thousands of tiny scores: the bent contour leaves for where the integrand grows."""
    rng = np.random.default_rng(3)
    first, second = pool(np.append(rng.random(19) * 0.1, 1.0)), pool(1.0 - (rng.random(3_000) * 0.1) ** 3)
    scales, means = np.array([[0.5 / 20, 0.5 / 3_000]]), np.array([[0.35, 0.9]])
    rows = scales, means, (scales * means).max(axis=1)
    c, counts = score_tails.columns([first, exact(second)], *rows, [True, True])
    drawn = (rng.standard_gamma(counts, (40_000, counts.size)) @ c[0] <= 0.0).mean()
    found = math.exp(score_tails.log_tails([first, second], *rows)[0])
    assert found == pytest.approx(drawn, abs=4 * math.sqrt(0.25 / 40_000))
    assert score_tails.log_tails([first, exact(second)], *rows)[0] == pytest.approx(math.log(found), abs=1e-9)


def test_an_end_where_the_p_value_jumps_is_refused():
    def log_p(mean):
        return math.log(0.01 if mean < 0.3 else 0.5)

    for guess in (0.05, 0.299, 0.6):
        end = score_tails.root(log_p, 0.05, 1.0, guess, 0.1)
        assert log_p(end) < math.log(0.05)
        assert end == pytest.approx(0.3, abs=1e-14)
    near = score_tails.root(log_p, 0.05, 1.0, 0.6, 0.1, near=0.02)
    assert 0.28 <= near < 0.3
    assert score_tails.root(lambda _: 0.0, 0.05, 1.0, 0.6, 0.1) == 0.0
