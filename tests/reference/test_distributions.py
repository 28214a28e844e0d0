"""Two policies by the whole distribution of their scores."""

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.reference import DistributionComparison, compare_distributions, tail_tight, two_sided_band


def draws(seed, n=200):
    rng = np.random.default_rng(seed)
    return sf.Scores(rng.beta(6, 1.5, n)), sf.Scores(rng.beta(2, 2, n))


def test_gains_are_differences_of_the_bands():
    first, second = draws(1)
    found = compare_distributions(first, second, confidence=0.9, quantiles=(0.2,), tails=(0.1,))
    one, two = two_sided_band(first, confidence=0.95), two_sided_band(second, confidence=0.95)
    assert (found.first, found.second) == (one, two)
    assert found.mean.interval.low == one.mean_bound() - two.mean_ceiling()
    assert found.mean.interval.high == one.mean_ceiling() - two.mean_bound()
    assert found.quantiles[0].interval.low == one.quantile_bound(0.2) - two.quantile_ceiling(0.2)
    assert found.tails[0].interval.high == one.cvar_ceiling(0.1) - two.cvar_bound(0.1)
    assert found.mean.verdict is sf.Verdict.BETTER
    assert found.mean.interval.estimate == pytest.approx(first.mean - second.mean)


def test_ranges_are_where_the_bands_separate():
    first, second = draws(2)
    found = compare_distributions(first, second)
    assert found.better
    assert not found.worse
    for start, stop in found.better:
        for x in np.linspace(start, stop, 7, endpoint=False):
            assert found.first.upper_cdf(float(x)) < found.second.lower_cdf(float(x))
    grid = np.linspace(0, 0.999, 400)
    inside = [any(a <= x < b for a, b in found.better) for x in grid]
    apart = [found.first.upper_cdf(float(x)) < found.second.lower_cdf(float(x)) for x in grid]
    assert inside == apart


def test_swapping_the_policies_mirrors_everything():
    first, second = draws(3)
    one, two = compare_distributions(first, second), compare_distributions(second, first)
    assert (one.better, one.worse) == (two.worse, two.better)
    assert one.mean.interval.low == pytest.approx(-two.mean.interval.high)
    assert one.mean.verdict is sf.Verdict.BETTER
    assert two.mean.verdict is sf.Verdict.WORSE


def test_dominance_needs_atoms_at_both_ends():
    """Continuous scores never show it, however far apart; partial credit does."""
    far = compare_distributions(sf.Scores(np.linspace(0.9, 0.999, 500)), sf.Scores(np.linspace(0.001, 0.1, 500)))
    assert far.dominance is sf.Verdict.UNDECIDED
    assert "cannot be shown" in far.notes[0]
    atoms = compare_distributions(sf.Scores([0.0] * 10 + [1.0] * 90), sf.Scores([0.0] * 60 + [1.0] * 40))
    assert atoms.dominance is sf.Verdict.BETTER
    assert "at least as good at every score" in str(atoms)
    flipped = compare_distributions(sf.Scores([0.0] * 60 + [1.0] * 40), sf.Scores([0.0] * 10 + [1.0] * 90))
    assert flipped.dominance is sf.Verdict.WORSE
    assert "the second is at least as good at every score" in str(flipped)
    assert not flipped.notes


def test_equal_policies_do_not_separate():
    first, _ = draws(4)
    found = compare_distributions(first, first, using=tail_tight)
    assert not found.better
    assert not found.worse
    assert found.dominance is sf.Verdict.UNDECIDED
    assert "the bands overlap" in str(found)


def test_travels_and_prints():
    found = compare_distributions(*draws(5), quantiles=(0.5, 0.25))
    assert DistributionComparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert [gain.what for gain in found.quantiles] == ["median", "25% quantile"]
    assert found.tails[0].what == "average of the worst 25%"
    assert "in favour of the first on" in str(found)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"quantiles": (0.0,)}, "`quantiles` must be strictly between 0 and 1"),
        ({"tails": (1.0,)}, "`tails` must be strictly between 0 and 1"),
        ({"confidence": 95}, "Write 0.95"),
    ],
)
def test_refusals(options, text):
    with pytest.raises(ValueError, match=text):
        compare_distributions(sf.Scores([0.1]), sf.Scores([0.2]), **options)


def test_ranges_must_agree():
    with pytest.raises(ValueError, match=r"range of `first`, \[0, 1\]; got \[0, 2\]"):
        compare_distributions(sf.Scores([0.1]), sf.Scores([0.2], high=2.0))
