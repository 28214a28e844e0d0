"""Bands on a whole distribution, and all that is read off them."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.reference import best_case_band, dkw, ks, ks_error, ks_offset, tail_tight, two_sided_band
from surefoot.stats import band
from tests.numerics.scores.test_boundary_crossing import counted
from tests.oracles import bands as twin
from tests.reference import cases

METHODS = [ks, dkw, tail_tight]
scores = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=12)


@pytest.mark.parametrize("case", cases("ks_one_sided_eps"))
def test_offset_of_the_reference(case):
    asked, wanted = case
    confidence = 1 - asked["alpha"]
    assert ks_offset(asked["n"], confidence=confidence) == pytest.approx(wanted["eps"], rel=1e-10)
    found = band(sf.Scores([0.5] * asked["n"]), confidence=confidence)
    assert found.offset == pytest.approx(wanted["eps"], rel=1e-10)
    assert dkw(asked["n"], confidence=confidence)[0] == pytest.approx(min(1.0, wanted["dkw"]), rel=1e-10)


@pytest.mark.parametrize("case", cases("ks_one_sided_sf"))
def test_error_of_the_reference(case):
    asked, wanted = case
    assert ks_error(asked["n"], asked["eps"]) == pytest.approx(wanted["sf"], rel=1e-10)


@pytest.mark.parametrize("case", cases("cdf_band_functionals"))
def test_what_the_reference_reads_off(case):
    asked, wanted = case
    found = band(sf.Scores(asked["data"], low=asked["support_lower"]), confidence=1 - asked["alpha"])
    assert found.offset == pytest.approx(wanted["eps"], abs=1e-10)
    assert found.mean_bound() == pytest.approx(wanted["mean_lower"], abs=1e-10)
    for tau in asked["taus"]:
        assert found.quantile_bound(tau) == pytest.approx(wanted["quantile_lower"][str(tau)], abs=1e-10)
        assert found.cvar_bound(tau) == pytest.approx(wanted["cvar_lower"][str(tau)], abs=1e-10)


def test_published_offset():
    assert ks_offset(40) == pytest.approx(0.18913, abs=5e-6)  # Vincent et al. 2024, section V; DKW .19351
    assert dkw(40)[0] == pytest.approx(0.19351, abs=5e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_two_sided_offset_by_the_slow_twin(n):
    found = two_sided_band(sf.Scores(np.linspace(0.1, 0.9, n)))
    assert found.offset == pytest.approx(twin.ks_width_two_sided(n), abs=1e-9)


@pytest.mark.parametrize("using", METHODS)
@given(values=scores, tau=st.floats(0.01, 0.99), x=st.floats(-0.2, 1.2))
def test_worst_and_best_case_are_the_twins(using, values, tau, x):
    both = two_sided_band(sf.Scores(values), using=using, confidence=0.8)
    heights = using(len(values), confidence=0.8, sides=2)
    worst = twin.worst_cdf_from_uppers(values, 0.0, heights[:-1])
    best = twin.best_cdf_from_lowers(values, 0.0, 1.0, [1 - height for height in reversed(heights[:-1])])
    for steps, mean, cvar, quantile, chance, cdf in (
        (worst, both.mean_bound, both.cvar_bound, both.quantile_bound, both.chance_at_least, both.upper_cdf),
        (best, both.mean_ceiling, both.cvar_ceiling, both.quantile_ceiling, both.chance_ceiling, both.lower_cdf),
    ):
        assert mean() == pytest.approx(twin.mean(steps), abs=1e-12)
        assert cvar(tau) == pytest.approx(twin.cvar(steps, tau), abs=1e-9)
        assert quantile(tau) == pytest.approx(twin.quantile(steps, tau), abs=1e-12)
        if 0 <= x < 1:
            assert cdf(x) == pytest.approx(twin.cdf_at(steps, x), abs=1e-12)
        if 0 < x <= 1:
            assert chance(x) == pytest.approx(twin.chance_at_least(steps, x), abs=1e-12)


def test_outside_the_range_all_is_known():
    found = two_sided_band(sf.Scores([1.0, 2.0, 3.0], low=0.0, high=4.0))
    assert (found.upper_cdf(-0.1), found.lower_cdf(-0.1), found.chance_at_least(-0.1)) == (0.0, 0.0, 1.0)
    assert (found.upper_cdf(4.0), found.lower_cdf(4.0), found.chance_at_least(4.1)) == (1.0, 1.0, 0.0)
    assert found.chance_at_least(0.0) == found.chance_ceiling(0.0) == 1.0


def test_a_side_that_is_not_claimed_says_only_what_is_always_true():
    worst, best = band(sf.Scores([0.2, 0.8])), best_case_band(sf.Scores([0.2, 0.8]))
    assert (worst.lower_cdf(0.9), worst.mean_ceiling(), worst.quantile_ceiling(0.5), worst.cvar_ceiling(0.5)) == (
        0,
        1,
        1,
        1,
    )
    assert (best.upper_cdf(0.1), best.mean_bound(), best.quantile_bound(0.5), best.chance_at_least(0.3)) == (1, 0, 0, 0)
    assert worst.claims_worst
    assert not worst.claims_best
    assert best.claims_best
    assert not best.claims_worst


@pytest.mark.parametrize("using", METHODS)
@given(values=scores)
def test_mirrored_scores_swap_worst_and_best(using, values):
    worst = band(sf.Scores(values), using=using)
    best = best_case_band(sf.Scores([1 - v for v in values]), using=using)
    assert best.mean_ceiling() == pytest.approx(1 - worst.mean_bound(), abs=1e-12)
    assert best.offset == pytest.approx(worst.offset, abs=1e-12)


@pytest.mark.parametrize("using", METHODS)
@given(values=scores, tau=st.floats(0.05, 0.95))
def test_more_confidence_is_a_worse_worst_case(using, values, tau):
    some, more = (
        band(sf.Scores(values), using=using, confidence=0.9),
        band(sf.Scores(values), using=using, confidence=0.99),
    )
    assert more.mean_bound() <= some.mean_bound()
    assert more.quantile_bound(tau) <= some.quantile_bound(tau)
    assert more.cvar_bound(tau) <= some.cvar_bound(tau)
    assert all(a >= b for a, b in zip(more.uppers, some.uppers, strict=True))


@given(values=scores, shift=st.floats(-5, 5), size=st.floats(0.1, 10))
def test_units_do_not_matter(values, shift, size):
    moved = [min(shift + size, shift + size * v) for v in values]
    plain, scaled = band(sf.Scores(values)), band(sf.Scores(moved, low=shift, high=shift + size))
    assert scaled.mean_bound() == pytest.approx(shift + size * plain.mean_bound(), abs=1e-9)


@pytest.mark.parametrize("using", METHODS)
@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_promise_is_kept_exactly(using, n):
    """A continuous distribution leaves the band exactly when some uniform order statistic leaves its limit."""
    one, two = (using(n, confidence=0.9, sides=sides) for sides in (1, 2))
    single = counted(np.zeros(n), np.array(one[:-1]))
    double = counted(np.array([1 - height for height in reversed(two[:-1])]), np.array(two[:-1]))
    if using is dkw:
        assert min(single, double) >= 0.9
    else:
        assert single == pytest.approx(0.9, abs=1e-9)
        assert double == pytest.approx(0.9, abs=1e-9)


@pytest.mark.parametrize("using", [ks, tail_tight])
def test_ties_only_help(using):
    """Partial credit on three levels, all 3^6 outcomes counted: the whole distribution is held at least as often."""
    levels, chances = (0.0, 0.5, 1.0), (0.2, 0.3, 0.5)
    held = 0.0
    for counts in itertools.product(range(7), repeat=3):
        if sum(counts) != 6:
            continue
        ways = math.factorial(6) / math.prod(math.factorial(c) for c in counts)
        found = band(sf.Scores(np.repeat(levels, counts)), using=using, confidence=0.8)
        inside = all(found.upper_cdf(x) >= p for x, p in ((0.0, 0.2), (0.5, 0.5)))
        held += inside * ways * math.prod(p**c for p, c in zip(chances, counts, strict=True))
    assert held >= 0.8
    assert "equal" in band(sf.Scores([0.5, 0.5])).notes[0]
    assert not band(sf.Scores([0.4, 0.5])).notes


@pytest.mark.parametrize("n", [20, 40, 120, 500])
def test_tail_tight_is_tight_in_the_tails(n):
    flat, tight = ks(n), tail_tight(n)
    assert tight[0] < flat[0]
    assert tight[round(0.95 * n)] < flat[round(0.95 * n)]
    assert tight[n // 2] > flat[n // 2]


def test_one_score_and_equal_scores_are_legal():
    for using in METHODS:
        assert 0 <= band(sf.Scores([0.5]), using=using).mean_bound() < 0.5
        assert band(sf.Scores([1.0] * 30), using=using).quantile_bound(0.5) == 1.0


def test_prints_and_travels():
    found = band(sf.Scores([0.25, 0.5, 1.0, 1.0]))
    assert str(found) == (
        "mean at least 0.154, median at least 0.000, worst quarter averages at least 0.000 n=4 (95% KS band)."
    )
    assert sf.Band.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert "mean at most" in str(two_sided_band(sf.Scores([0.5]), using=tail_tight))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sf.Scores([0.5, 1.5]), r"range \[0, 1\]; score 2 is 1.5"),
        (lambda: sf.Scores([float("nan")]), "score 1 is nan"),
        (lambda: sf.Scores([float("inf")]), "score 1 is inf"),
        (lambda: sf.Scores([]), "at least one score; got none"),
        (lambda: sf.Scores([0.5], low=1.0, high=1.0), "`low` must be below `high`"),
        (lambda: band(sf.Scores([0.5]), confidence=95), "Write 0.95 for 95%"),
        (lambda: band(sf.Scores([0.5])).quantile_bound(1.0), "`tau` must be strictly between 0 and 1"),
        (lambda: band(sf.Scores([0.5])).cvar_bound(0.0), "`tau` must be strictly between 0 and 1"),
        (lambda: band(sf.Scores([0.5])).upper_cdf(float("nan")), "`x` must be finite"),
        (lambda: ks_offset(0), "`rollouts` must be at least 1"),
        (lambda: ks_error(5, 1.0), "`offset` must be strictly between 0 and 1"),
        (lambda: ks(5, sides=3), "`sides` must be 1 or 2"),
        (lambda: dkw(5, confidence=0.3), "at least 0.5"),
        (lambda: tail_tight(20_001), "at most 20,000"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_bare_list_is_refused_with_a_hint():
    with pytest.raises(TypeError, match=r"`scores` must be a Scores; got a list\. Write Scores"):
        band([0.5])


@settings(max_examples=20)
@given(values=scores)
def test_order_does_not_matter_and_ties_have_one_value(values):
    assert band(sf.Scores(values)).uppers == band(sf.Scores(values[::-1])).uppers
    found = band(sf.Scores(values))
    assert all(found.upper_cdf(v) >= found.observed_cdf(v) for v in values)
