"""Gains between two sets of scores: betting, bootstrap, permutation, Welch, and the chance of a higher score."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Gain, Scores, Verdict
from surefoot.core.gain import decide
from surefoot.stats import (
    betting_gain,
    betting_mean,
    betting_paired_gain,
    bootstrap,
    chance_first_higher,
    paired_bca,
    paired_bootstrap,
    paired_permutation,
    student_t,
    unpaired_bca,
    unpaired_bootstrap,
    welch,
)
from tests.reference import cases

PAIRED = [
    betting_paired_gain,
    lambda a, b, **more: paired_bootstrap(a, b, rng=1, resamples=500, **more),
    lambda a, b, **more: paired_permutation(a, b, rng=1, resamples=500, **more),
]
values = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 1.0])
pairs = st.lists(st.tuples(values, values), min_size=2, max_size=14).filter(
    lambda data: len({round(a - b, 9) for a, b in data}) > 1  # a bootstrap refuses equal differences
)


def split(data):
    return Scores([a for a, _ in data]), Scores([b for _, b in data])


def expanded(both, first_only, second_only, neither):
    first = [1] * (both + first_only) + [0] * (second_only + neither)
    second = [1] * both + [0] * first_only + [1] * second_only + [0] * neither
    return Scores(first), Scores(second)


def exact_resample_law(first, second):
    """The exact law of the resampled mean of differences in {-1, 0, 1}, by convolution."""
    gaps = np.subtract(first.values, second.values)
    one = np.array([np.mean(gaps == g) for g in (-1, 0, 1)])
    law = np.ones(1)
    for _ in gaps:
        law = np.convolve(law, one)
    return np.arange(-len(gaps), len(gaps) + 1) / len(gaps), law


@pytest.mark.parametrize("case", cases("paired_difference"))
def test_paired_bootstrap_meets_the_infinite_one_within_monte_carlo_error(case):
    asked, wanted = case
    first, second = expanded(asked["both"], asked["A_only"], asked["B_only"], asked["neither"])
    found = paired_bootstrap(first, second, rng=11, resamples=20_000, confidence=asked["conf"])
    assert found.estimate == pytest.approx(wanted["diff"], abs=1e-12)
    support, law = exact_resample_law(first, second)
    below = np.cumsum(law)
    if "bootstrap_infinite_B" in wanted:
        limit = wanted["bootstrap_infinite_B"]
        assert support[np.searchsorted(below, 0.025)] == pytest.approx(limit["percentile_lo"], abs=1e-12)
        chance = limit["P_diff_le_0"]
        error = 5 * math.sqrt(chance * (1 - chance) / 20_000) + 1e-4
        assert found.p_value == pytest.approx(min(1.0, 2 * chance), abs=2 * error)
    error = 5 * math.sqrt(0.025 * 0.975 / 20_000)
    for end, left in ((found.interval.low, below), (-found.interval.high, np.cumsum(law[::-1]))):
        place = int(np.argmin(abs((support if left is below else -support[::-1]) - end)))
        before = left[place - 1] if place else 0.0
        assert before <= 0.025 + error
        assert left[place] >= 0.025 - error


@pytest.mark.parametrize("case", cases("welch_and_t"))
def test_welch_of_the_reference(case):
    asked, wanted = case
    first, second = Scores(asked["a"], -10, 20), Scores(asked["b"], -10, 20)
    found = welch(first, second)
    assert found.p_value == pytest.approx(wanted["p_two_sided"], rel=1e-9)
    assert f"{wanted['t']:.4g}" in found.notes[0]
    half = (found.interval.high - found.interval.low) / 2
    error = found.estimate / wanted["t"]
    from scipy.special import stdtrit

    assert half == pytest.approx(stdtrit(wanted["df"], 0.975) * error, rel=1e-9)
    interval = student_t(first)
    assert (interval.low, interval.high) == pytest.approx(tuple(wanted["a_t_interval_95"]), rel=1e-9)


def test_bootstrap_against_scipy():
    from scipy.stats import bootstrap

    rng = np.random.default_rng(5)
    first, second = Scores(rng.beta(2, 1, 60)), Scores(rng.beta(1, 2, 45))
    paired = Scores(rng.beta(2, 2, 60))

    def gap(a, b, axis=-1):
        return np.mean(a, axis=axis) - np.mean(b, axis=axis)

    for ours, theirs, method, other in (
        (paired_bootstrap, True, "percentile", paired),
        (paired_bca, True, "BCa", paired),
        (unpaired_bootstrap, False, "percentile", second),
        (unpaired_bca, False, "BCa", second),
    ):
        found = ours(first, other, rng=3, resamples=40_000).interval
        peer = bootstrap(
            (first.values, other.values), gap, paired=theirs, method=method, n_resamples=40_000, rng=rng
        ).confidence_interval
        assert (found.low, found.high) == pytest.approx((peer.low, peer.high), abs=0.004)


def slow_permutation(gaps, confidence):
    """Every pattern of signs; shifts tried on a fine grid of the values where the p-value can change."""
    gaps = np.asarray(gaps)
    signs = np.array(list(itertools.product((1, -1), repeat=len(gaps))))

    def p(shift):
        away = gaps - shift
        return np.mean(abs(signs @ away) >= abs(away.sum()) - 1e-9)

    tries = np.linspace(-1, 1, 4001)
    kept = [t for t in tries if p(t) > 1 - confidence]
    return p(0.0), min(kept), max(kept)


@pytest.mark.parametrize("seed", range(4))
def test_exact_permutation_is_its_slow_twin(seed):
    rng = np.random.default_rng(seed)
    first, second = Scores(rng.random(7)), Scores(rng.random(7) * 0.5)
    found = paired_permutation(first, second, rng=1)
    p, low, high = slow_permutation(np.subtract(first.values, second.values), 0.95)
    assert found.p_value == pytest.approx(p, abs=1e-12)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize(
    "sizes", [[0.1, 0.2, 0.3, 0.35, 0.5, 0.6, 0.7, 0.9], [0.5] * 8, [0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0]]
)
def test_permutation_size_counted_over_every_pattern_of_signs(sizes):
    """Differences symmetric about no gain: every pattern of signs is equally likely, so the error is a count."""
    rejected = total = 0
    for signs in itertools.product((1, -1), repeat=len(sizes)):
        gaps = np.multiply(signs, sizes)
        found = paired_permutation(Scores(np.maximum(gaps, 0)), Scores(np.maximum(-gaps, 0)), rng=1)
        rejected += found.verdict is not Verdict.UNDECIDED
        total += 1
    assert rejected / total <= 0.05


def test_monte_carlo_permutation_is_near_the_exact_one():
    rng = np.random.default_rng(2)
    first, second = rng.random(16), rng.random(16) * 0.8
    exact = paired_permutation(Scores(first), Scores(second), rng=1)
    doubled = paired_permutation(
        Scores(np.append(first, 0.5)), Scores(np.append(second, 0.5)), rng=1, resamples=50_000
    )  # one pair without a difference changes nothing but the number of patterns
    assert "Monte Carlo" in doubled.method
    assert doubled.p_value == pytest.approx(exact.p_value, abs=0.01)
    assert doubled.seed == 1


def test_differences_that_only_rounding_keeps_apart_are_the_same():
    first, second = Scores([0.3, 0.6, 0.9, 0.7, 0.4]), Scores([0.2, 0.5, 0.8, 0.6, 0.3])
    assert len({a - b for a, b in zip(first.values, second.values, strict=True)}) > 1
    with pytest.raises(ValueError, match="must vary for a bootstrap"):
        paired_bca(first, second, rng=1)


@pytest.mark.parametrize(
    "method",
    [
        welch,
        lambda a, b: paired_permutation(a, b, rng=1),
        lambda a, b: paired_bootstrap(a, b, rng=1),
        lambda a, b: paired_bca(a, b, rng=1),
        lambda a, b: unpaired_bca(a, b, rng=1),
    ],
)
@pytest.mark.parametrize("unit", [1e-18, 1e9])
def test_the_unit_of_the_scores_does_not_matter(method, unit):
    one, other = [0.1, 0.4, 0.4, 0.7, 0.8, 0.9, 0.6, 1.0], [0.2, 0.3, 0.1, 0.7, 0.5, 0.2, 0.6, 0.4]
    plain = method(Scores(one), Scores(other))
    scaled = method(Scores([unit * v for v in one], 0, unit), Scores([unit * v for v in other], 0, unit))
    assert (scaled.p_value, scaled.verdict) == (pytest.approx(plain.p_value), plain.verdict)
    assert scaled.interval.low == pytest.approx(unit * plain.interval.low)
    assert scaled.interval.high == pytest.approx(unit * plain.interval.high)


def test_permutation_p_value_is_never_zero_and_its_edges():
    nine = paired_permutation(Scores([1.0] * 30), Scores([0.0] * 30), rng=3, resamples=999)
    assert nine.p_value == pytest.approx(1 / 1000)
    one = paired_permutation(Scores([1.0]), Scores([0.0]), rng=3)
    assert (one.p_value, one.interval.low, one.interval.high) == (1.0, -1.0, 1.0)
    same = paired_permutation(Scores([0.5] * 8), Scores([0.5] * 8), rng=3)
    assert same.p_value == 1.0


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs, margin=st.sampled_from([0.0, 0.1]))
@settings(max_examples=25, deadline=None)
def test_swapping_policies_mirrors_everything(method, data, margin):
    first, second = split(data)
    here, there = method(first, second, margin=margin), method(second, first, margin=margin)
    assert here.verdict == there.verdict.mirrored
    # which pattern is called flipped is a coin of its own, so a Monte Carlo p-value mirrors only exactly when exact
    assert here.interval.low == pytest.approx(-there.interval.high, abs=0.08 if "bootstrap" in here.method else 1e-9)
    assert here.mirrored.mirrored == here


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs)
@settings(max_examples=25, deadline=None)
def test_verdict_interval_and_p_value_agree(method, data):
    found = method(*split(data))
    excluded = 0.0 not in found.interval
    assert excluded == (found.verdict is not Verdict.UNDECIDED)
    if found.p_value is not None:
        assert excluded == (found.p_value <= 0.05 if "permutation" in found.method else found.p_value < 0.05)
    assert found.interval.low <= found.estimate <= found.interval.high


@given(data=pairs)
@settings(max_examples=25, deadline=None)
def test_more_confidence_is_wider(data):
    first, second = split(data)
    for method in PAIRED:
        narrow, wide = method(first, second, confidence=0.8).interval, method(first, second, confidence=0.98).interval
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12


def test_betting_gain_is_the_betting_mean_of_the_differences():
    rng = np.random.default_rng(0)
    first, second = Scores(rng.random(40) * 3, 0, 3), Scores(rng.random(43) * 2, 0, 3)
    gaps = Scores(np.subtract(first.values, second.values[:40]), -3, 3)
    mean, found = betting_mean(gaps), betting_gain(first, second)
    assert (found.interval.low, found.interval.high) == (mean.low, mean.high)
    assert found.notes == ("3 rollouts of the second had no counterpart and were left out.",)
    assert found.p_value is None
    assert found.interval.scale == "score gain"
    assert betting_paired_gain(first, Scores(second.values[:40], 0, 3)).interval.low == mean.low


def test_order_matters_to_bets_and_is_kept():
    climbing = Scores([0.0] * 20 + [1.0] * 20)
    falling = Scores([1.0] * 20 + [0.0] * 20)
    level = Scores([0.5] * 40)
    assert betting_paired_gain(climbing, level).interval != betting_paired_gain(falling, level).interval


@pytest.mark.parametrize(
    ("low", "high", "margin", "wanted"),
    [
        (0.01, 0.2, 0.0, Verdict.BETTER),
        (0.0, 0.2, 0.0, Verdict.UNDECIDED),
        (-0.2, -0.01, 0.0, Verdict.WORSE),
        (0.01, 0.2, 0.05, Verdict.UNDECIDED),
        (0.06, 0.2, 0.05, Verdict.BETTER),
        (-0.04, 0.04, 0.05, Verdict.SAME),
        (-0.05, 0.04, 0.05, Verdict.UNDECIDED),
        (-0.2, -0.06, 0.05, Verdict.WORSE),
        (0.0, 0.0, 0.0, Verdict.UNDECIDED),
    ],
)
def test_margin(low, high, margin, wanted):
    assert decide(low, high, margin) is wanted


def test_margin_reaches_the_verdict_and_the_words():
    first, second = Scores([0.52, 0.5, 0.51] * 60), Scores([0.5, 0.52, 0.51] * 60)
    found = betting_paired_gain(first, second, margin=0.1)
    assert found.verdict is Verdict.SAME
    assert found.not_worse
    assert str(found).endswith("the two are the same (margin 0.100).")


def test_chance_first_higher_against_brute_force_and_scipy():
    from scipy.stats import brunnermunzel

    rng = np.random.default_rng(9)
    x, y = np.round(rng.beta(3, 2, 25), 1), np.round(rng.beta(2, 2, 18), 1)
    found = chance_first_higher(Scores(x), Scores(y))
    brute = np.mean([(a > b) + 0.5 * (a == b) for a in x for b in y])
    assert found.estimate == pytest.approx(brute, abs=1e-14)
    # scipy's statistic tells the standard error that the interval on the log-odds scale is made of
    peer = brunnermunzel(x, y)
    error = (0.5 - brute) / peer.statistic
    lengths = np.log([found.high / (1 - found.high), found.low / (1 - found.low)])
    from scipy.special import stdtrit

    one = np.var([np.mean((y < a) + 0.5 * (y == a)) for a in x], ddof=1) / 25
    other = np.var([np.mean((x < b) + 0.5 * (x == b)) for b in y], ddof=1) / 18
    freedom = (one + other) ** 2 / (one**2 / 24 + other**2 / 17)
    wanted = 2 * stdtrit(freedom, 0.975) * abs(error) / (brute * (1 - brute))
    assert lengths[0] - lengths[1] == pytest.approx(wanted, rel=1e-9)


@given(data=pairs)
@settings(max_examples=40, deadline=None)
def test_chance_first_higher_mirrors_and_stays_inside(data):
    first, second = split(data)
    here, there = chance_first_higher(first, second), chance_first_higher(second, first)
    assert here.estimate + there.estimate == pytest.approx(1)
    assert here.low == pytest.approx(1 - there.high, abs=1e-9)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    assert here.width > 0


def test_chance_first_higher_where_samples_do_not_overlap():
    found = chance_first_higher(Scores([0.9] * 10), Scores([0.1] * 10))
    assert (found.method, found.high) == ("Newcombe", 1.0)
    assert 0.7 < found.low < 0.95
    assert chance_first_higher(Scores([0.9]), Scores([0.1])).width > 0.5


@pytest.mark.parametrize("confidence", [1e-15, 1e-9, 1e-4])
@pytest.mark.parametrize("other", [0.1, 0.9])
def test_chance_first_higher_at_hardly_any_confidence_is_hardly_wider_than_the_estimate(confidence, other):
    found = chance_first_higher(Scores([0.9] * 4), Scores([other] * 5), confidence=confidence)
    assert found.low <= found.estimate <= found.high
    assert found.width < 1e-3


def test_clusters_are_the_resampled_unit():
    rng = np.random.default_rng(4)
    effect = np.repeat(rng.random(12) * 0.5, 10)
    first, second = Scores(effect + 0.3), Scores(rng.random(120) * 0.5)
    plain = paired_bootstrap(first, second, rng=1)
    whole = paired_bootstrap(first, second, rng=1, clusters=np.repeat(range(12), 10).tolist())
    assert whole.interval.width > 1.2 * plain.interval.width
    assert "12 clusters" in whole.notes[1]
    assert (
        paired_bca(first, second, rng=1, clusters=np.repeat(range(12), 10).tolist()).interval.width
        > plain.interval.width
    )


def test_few_pairs_are_warned_of():
    first, second = Scores([0.9, 0.7, 0.8] * 5), Scores([0.5, 0.3, 0.6] * 5)
    for method in (paired_bootstrap, paired_bca, unpaired_bootstrap, unpaired_bca):
        counted, warned = method(first, second, rng=1, resamples=500).notes
        assert counted == "500 resamples."
        assert "Only 15 units" in warned


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
def test_the_acceleration_is_a_sixth_of_the_skewness_whatever_the_unit(scale):
    """Efron (1987), equation 7.4: the sum of cubes over six times the sum of squares to the power 3/2."""
    influence = scale * np.array([-1.0, -1.0, 0.0, 2.0])
    assert bootstrap.acceleration(influence) == pytest.approx(6.0 / (6.0 * 6.0**1.5), rel=1e-12)
    assert bootstrap.acceleration(np.zeros(4)) == 0.0


@pytest.mark.parametrize("bend", [-0.3, 0.3])
def test_an_end_beyond_the_pole_of_the_correction_is_the_last_resample(bend):
    """z / (1 - bend z) jumps from one infinity to the other at z = 1 / bend, which a confidence this high passes."""
    means = np.linspace(-1.0, 1.0, 2001)
    low, high = bootstrap.bca_ends(means, 0.0, bend, 0.9995)
    assert low < 0.0 < high
    assert (high == 1.0) == (bend > 0.0)
    assert (low == -1.0) == (bend < 0.0)


def test_resamples_on_one_side_of_the_estimate_are_refused():
    with pytest.raises(ValueError, match="`resamples` must fall on both sides of the estimate"):
        bootstrap.bca_ends(np.linspace(0.4, 0.6, 50), 0.3, 0.0, 0.95)


def test_the_seed_is_kept_and_matters():
    first, second = Scores([0.9, 0.7, 0.8, 0.4, 0.6]), Scores([0.5, 0.3, 0.6, 0.5, 0.1])
    for method in (paired_bootstrap, paired_bca, unpaired_bootstrap, unpaired_bca):
        here = method(first, second, rng=1)
        assert here.seed == 1
        assert here == method(first, second, rng=1)
        assert method(first, second, rng=np.random.default_rng(1)).seed is None
        assert json.loads(json.dumps(here.to_dict()))["interval"]["seed"] == 1
        assert Gain.from_dict(here.to_dict()) == here


REFUSALS = [
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1]), rng=1), "A score without its partner is no pair"),
    (lambda: betting_paired_gain(Scores([1, 0]), Scores([1])), "A score without its partner is no pair"),
    (lambda: betting_gain(Scores([1]), Scores([1], 0, 2)), "Scores on two scales have no gain"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=None), "`rng` must be"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, resamples=10), "`resamples` must be at least 40"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, 1]), "at least 2 clusters; got 1"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1]), "one cluster per observation, 2"),
    (lambda: paired_bca(Scores([1] * 10), Scores([1] * 10), rng=1), "must vary for a bootstrap"),
    (lambda: paired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "got the same gain from every resample"),
    (lambda: paired_bootstrap(Scores([0.3, 0.4, 0.5]), Scores([0.2, 0.3, 0.4]), rng=1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "must vary for a bootstrap"),
    (
        lambda: paired_bootstrap(Scores([0.1, 0.3] * 3), Scores([0.0] * 6), rng=1, clusters="aabbcc"),
        "must vary for a bootstrap",
    ),
    (lambda: paired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: welch(Scores([1]), Scores([1, 0])), "`first` must hold at least 2 scores"),
    (lambda: welch(Scores([1, 1]), Scores([0, 0])), "must vary; got equal scores"),
    (lambda: betting_gain(Scores([1, 0]), Scores([1, 0]), margin=-0.1), "`margin` must be 0 or more"),
    (
        lambda: betting_gain(Scores([4, 0], 0, 5), Scores([3, 1], 0, 5), margin=5),
        "`margin` must be below 5, the largest",
    ),
    (lambda: welch(Scores([1, 0]), Scores([1, 0]), confidence=95), "Write 0.95 for 95%"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, math.nan]), "got NaN for some"),
]


@pytest.mark.parametrize("method", [betting_gain, betting_paired_gain, welch, chance_first_higher, unpaired_bca])
def test_what_is_no_scores_is_refused_with_what_to_write(method):
    given = {"rng": 1} if method is unpaired_bca else {}
    with pytest.raises(TypeError, match=r"`second` must be a Scores; got a list\. Write Scores\(values"):
        method(Scores([0.5, 0.6]), [0.1, 0.2], **given)


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_bootstrap_of_equal_differences_says_that_it_sees_nothing():
    found = paired_bootstrap(Scores([1.0] * 20), Scores([1.0] * 20), rng=1)
    assert (found.interval.low, found.interval.high, found.p_value) == (0.0, 0.0, 1.0)
    assert found.verdict is Verdict.UNDECIDED
    assert "cannot see how uncertain" in found.notes[-1]
