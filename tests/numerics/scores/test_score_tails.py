"""Tests of `surefoot.numerics.scores.score_tails`."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special

from surefoot.numerics.scores import score_tails
from surefoot.numerics.scores.score_tails import exact, mirror, pool
from tests.oracles import score_tails as twin
from tests.reference import listed

LAWS = {
    "smooth": lambda rng, n: rng.beta(5, 1, n),
    "rare zeros": lambda rng, n: np.where(rng.random(n) < 0.02, 0.0, rng.uniform(0.9, 1.0, n)),
    "rare ones": lambda rng, n: np.where(rng.random(n) < 0.02, 1.0, rng.uniform(0.0, 0.1, n)),
    "nearly nothing": lambda rng, n: rng.random(n) ** 8,
    "narrow with both ends": lambda rng, n: np.append(rng.beta(50, 50, n - 2), [0.0, 1.0]),
}


@pytest.mark.parametrize(
    "case", [case for case in listed("score.cases") if case["what"].startswith("one-sample")], ids=lambda c: str(c["z"])
)
def test_one_sample_of_the_reference(case):
    found = math.exp(score_tails.OneSample(pool(np.array(case["z"]))).log_p(case["m"]))
    assert found == pytest.approx(case["p"], rel=case["rel_tol"])
    assert float(twin.p_low(case["z"], case["m"])) == pytest.approx(case["p"], rel=1e-12)


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


def sums(z, low, high):
    x = (z - (low + high) / 2) / ((high - low) / 2)
    return [special.eval_chebyt(j, x).sum() for j in range(1, score_tails.TERMS + 1)]


def test_the_whole_sample_is_one_cell_with_its_chebyshev_sums():
    z = np.random.default_rng(5).beta(3, 1, 20_000)
    found = pool(z)
    assert found.cells.moments[0] == pytest.approx(sums(z, z.min(), z.max()), abs=1e-7)
    assert (found.size, found.mean) == (z.size, pytest.approx(z.mean()))
    assert found.spread == pytest.approx(((z - z.mean()) ** 2).sum())
    assert found.counts.sum() == z.size


def test_mirrored_samples_are_samples_of_failures():
    assert mirror(pool(np.array([0.25, 0.5, 1.0]))).values.tolist() == [0.0, 0.5, 0.75]
    z = np.random.default_rng(5).beta(3, 1, 3_000)
    for turned, made in ((mirror(pool(z)), pool(1 - z)), (mirror(pool(z)).finer, pool(1 - z).finer)):
        assert np.sort(turned.cells.mids) == pytest.approx(np.sort(made.cells.mids))
        assert turned.cells.moments.sum(axis=0) == pytest.approx(made.cells.moments.sum(axis=0), abs=1e-8)


def test_a_finer_cut_shrinks_towards_both_ends_and_ends_with_the_values():
    z = np.random.default_rng(2).random(5_000) ** 3
    sample, seen = pool(z), []
    while sample.cells is not None:
        cells = sample.cells
        seen.append(cells.sizes.size)
        assert cells.sizes.sum() == z.size
        room = np.minimum(cells.mids - z.min(), z.max() - cells.mids)
        assert len(seen) == 1 or (cells.halves <= room + 1e-12).all()
        assert sample.finer is sample.finer
        sample = sample.finer
    assert seen == sorted(seen)
    assert np.array_equal(sample.values, np.unique(z))
    assert exact(sample) is sample
    assert sample.finer is sample


def test_few_values_or_few_scores_stand_for_themselves():
    rng = np.random.default_rng(1)
    assert pool(rng.choice(5, 100_000) / 4).cells is None
    assert pool(rng.random(score_tails.SMALL)).cells is None
    assert pool(rng.random(score_tails.SMALL + 1)).cells is not None


def test_the_order_of_the_scores_is_gone():
    z = np.random.default_rng(1).random(3_000)
    one, other = pool(z), pool(z[::-1])
    assert np.array_equal(one.cells.moments, other.cells.moments)
