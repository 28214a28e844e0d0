"""Power, plans and what an evaluation could have seen: the printed power is that of the very test that runs."""

import itertools
import math

import numpy as np
import pytest

import surefoot as sf
from surefoot import PairTally, Tally, Verdict, reference, stats
from surefoot.numerics.rates import inversion
from surefoot.stats.exact_power import approximate_rollouts
from surefoot.stats.one_sided_gains import gain_sides
from tests.reference import cases

RATES = np.linspace(0.0, 1.0, 801)


def pmf(n, p):
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def verdicts(n1, n2, margin=0.0, confidence=0.95):
    return {
        (a, b): stats.exact_gain(Tally(a, n1), Tally(b, n2), confidence=confidence, margin=margin)
        for a, b in itertools.product(range(n1 + 1), range(n2 + 1))
    }


def test_power_of_the_pooled_test_matches_the_reference():
    for given, wanted in cases("power_two_proportions_exact"):
        found = stats.power(
            given["p1"],
            given["p2"],
            given["n1"],
            second_rollouts=given["n2"],
            confidence=1 - given["alpha"],
            using=reference.pooled_score,
        )
        assert found.decided == pytest.approx(wanted["power"], abs=1e-10)


def test_approximate_rollouts_match_the_reference():
    for given, wanted in cases("sample_size_two_proportions"):
        found = approximate_rollouts(given["p1"], given["p2"], power=given["power"], confidence=1 - given["alpha"])
        assert found.formula == pytest.approx(wanted["n_raw"], rel=1e-10)
        assert found.rollouts == wanted["n"]


@pytest.mark.parametrize(
    ("n1", "n2", "margin"),
    [
        (6, 4, 0.0),
        (5, 5, 0.3),
        pytest.param(8, 5, 0.0, marks=pytest.mark.slow),
        pytest.param(17, 4, 0.0, marks=pytest.mark.slow),
    ],
)
def test_power_is_the_enumerated_chance_of_the_verdicts(n1, n2, margin):
    table = verdicts(n1, n2, margin)
    for p1, p2 in [(0.9, 0.3), (0.55, 0.5), (0.1, 0.8)]:
        one, other = pmf(n1, p1), pmf(n2, p2)

        def chance(holds, one=one, other=other):
            return sum(one[a] * other[b] for (a, b), gain in table.items() if holds(gain))

        found = stats.power(p1, p2, n1, second_rollouts=n2, margin=margin)
        assert found.better == pytest.approx(chance(lambda g: g.verdict is Verdict.BETTER), abs=1e-11)
        assert found.worse == pytest.approx(chance(lambda g: g.verdict is Verdict.WORSE), abs=1e-11)
        assert found.same == pytest.approx(chance(lambda g: g.verdict is Verdict.SAME), abs=1e-11)
        assert found.not_worse == pytest.approx(chance(lambda g: g.not_worse), abs=1e-11)


@pytest.mark.parametrize(("n", "margin"), [(6, 0.0), (5, 0.4)])
def test_paired_power_is_the_enumerated_chance_of_the_verdicts(n, margin):
    tables = [PairTally(n - b - c, b, c, 0) for b in range(n + 1) for c in range(n + 1 - b)]
    gains = [stats.exact_paired_gain(pairs, margin=margin) for pairs in tables]
    for pb, pc in [(0.7, 0.1), (0.2, 0.2), (0.05, 0.9)]:
        chances = [
            math.comb(n, t.first_only)
            * math.comb(n - t.first_only, t.second_only)
            * pb**t.first_only
            * pc**t.second_only
            * (1 - pb - pc) ** t.both
            for t in tables
        ]
        found = stats.paired_power(pb, pc, n, margin=margin)
        for verdict, value in (
            (Verdict.BETTER, found.better),
            (Verdict.WORSE, found.worse),
            (Verdict.SAME, found.same),
        ):
            wanted = sum(p for p, gain in zip(chances, gains, strict=True) if gain.verdict is verdict)
            assert value == pytest.approx(wanted, abs=1e-11)


def exact_size(n1, n2):
    """The largest chance, over a fine grid of common rates, that the exact gain decides."""
    up, down = (
        inversion.decided(sizes, 0.05, 0.0, np.arange(sizes[1] + 1), both=True) for sizes in ((n1, n2), (n2, n1))
    )
    a, b = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    decided = (a >= up[None, :]) | (b >= down[:, None])
    one = np.array([pmf(n1, p) for p in RATES])
    other = np.array([pmf(n2, p) for p in RATES])
    return float(np.einsum("ti,ij,tj->t", one, decided.astype(float), other).max())


def exact_paired_size(n):
    steps = inversion.decided((n,), 0.05, 0.0, np.arange(n + 1), both=True)
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    decided = (b + c <= n) & ((b >= steps[c]) | (c >= steps[b]))
    # with equal chances of b and c, given b + c = m the split is a fair coin's: a mixture over m
    given = np.array([sum(math.comb(m, k) for k in range(m + 1) if decided[k, m - k]) / 2**m for m in range(n + 1)])
    return float(max(pmf(n, q) @ given for q in RATES))


@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (5, 9), (10, 10), (17, 4), (25, 25)])
def test_the_exact_gain_never_errs_more_than_it_may(n1, n2):
    assert exact_size(n1, n2) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n1", range(1, 26))
def test_the_exact_gain_never_errs_more_than_it_may_to_25(n1):
    for n2 in range(n1, 26):
        assert exact_size(n1, n2) <= 0.05, n2


@pytest.mark.parametrize("n", range(1, 26, 4))
def test_the_exact_paired_gain_never_errs_more_than_it_may(n):
    assert exact_paired_size(n) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 26))
def test_the_exact_paired_gain_never_errs_more_than_it_may_to_25(n):
    assert exact_paired_size(n) <= 0.05


def test_more_rollouts_or_a_larger_gain_have_more_power():
    assert stats.power(0.9, 0.6, 40).better > stats.power(0.9, 0.6, 20).better
    assert stats.power(0.9, 0.6, 20).better > stats.power(0.8, 0.6, 20).better
    assert stats.power(0.9, 0.6, 20, confidence=0.8).better > stats.power(0.9, 0.6, 20).better
    swapped = stats.power(0.6, 0.9, 20)
    assert swapped.worse == pytest.approx(stats.power(0.9, 0.6, 20).better, abs=1e-13)


def test_mcnemar_has_its_own_power():
    exact, sign = (stats.paired_power(0.3, 0.05, 30, using=m) for m in (stats.exact_paired_gain, stats.mcnemar))
    assert 0.5 < sign.better < exact.better


def test_a_plan_has_the_power_asked_for_and_one_rollout_less_has_not():
    plan = sf.plan_comparison(0.95, 0.55)
    assert plan.power >= 0.8
    assert stats.power(0.95, 0.55, plan.rollouts).better == plan.power
    assert stats.power(0.95, 0.55, plan.rollouts - 1).better < 0.8
    pairs = sf.plan_paired_comparison(0.4, 0.05, power=0.9)
    assert stats.paired_power(0.4, 0.05, pairs.rollouts).better == pairs.power >= 0.9
    assert stats.paired_power(0.4, 0.05, pairs.rollouts - 1).better < 0.9


def test_a_plan_learns_the_gain_or_the_power():
    found = sf.plan_comparison(None, 0.5, rollouts=30)
    assert found.power == pytest.approx(0.8, abs=1e-3)
    assert found.power >= 0.8
    assert sf.plan_comparison(found.rates[0], 0.5, rollouts=30).power == found.power
    paired = sf.plan_paired_comparison(None, 0.1, pairs=40)
    assert paired.power >= 0.8
    assert stats.paired_power(paired.rates[0] - 1e-3, 0.1, 40).better < 0.8


def test_a_plan_within_the_margin_plans_for_not_worse():
    plan = sf.plan_comparison(0.9, 0.9, margin=0.3, rollouts=25)
    assert plan.shows == "not worse"
    assert "not worse by as much as 30.0 points" in str(plan)
    assert plan.power == stats.power(0.9, 0.9, 25, margin=0.3).not_worse
    assert sf.plan_comparison(0.2, 0.9, rollouts=10).shows == "worse"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sf.plan_comparison(None, 0.5), "`first_rate` must be given, or `rollouts`"),
        (lambda: sf.plan_comparison(0.6, 0.5, rollouts=9, power=0.8), "`power` must be left out"),
        (lambda: sf.plan_comparison(0.5, 0.5), "`first_rate` must differ"),
        (lambda: sf.plan_comparison(None, 0.99, rollouts=5), "must be enough to show some gain"),
        (lambda: stats.power(0.5, 0.6, 0), "`rollouts` must be at least 1"),
        (lambda: stats.power(0.5, 1.6, 5), "`second_rate` must be between 0 and 1"),
        (lambda: stats.power(0.5, 0.6, 5, using=stats.wilson), "be exact_gain or pooled_score"),
        (lambda: stats.power(0.5, 0.6, 5, using=reference.pooled_score, margin=0.1), "`margin` must be 0"),
        (lambda: stats.power(0.5, 0.6, 5, margin=1.0), "`margin` must be below 1, the largest gain"),
        (lambda: stats.paired_power(0.5, 0.4, 5, margin=5), "Write 0.05 for 5 points"),
        (lambda: stats.paired_power(0.7, 0.6, 5), "must not exceed 1 together"),
        (lambda: stats.paired_power(0.3, 0.1, 5, using=stats.wilson), "be exact_paired_gain or mcnemar; got 'wilson'"),
        (lambda: stats.paired_power(0.3, 0.1, 5, using=stats.mcnemar, margin=0.1), "knows no margin"),
        (lambda: approximate_rollouts(0.5, 0.5), "`first_rate` must differ"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_outlook_gives_the_gain_this_size_could_have_seen():
    gain = stats.exact_gain(Tally(17, 20), Tally(14, 20))
    found = stats.outlook(gain)
    assert stats.power(0.7 + found.up, 0.7, 20).better >= 0.8
    assert stats.power(0.7 + found.up - 1e-3, 0.7, 20).better < 0.8
    assert stats.power(0.7 - found.down, 0.7, 20).worse >= 0.8
    assert found.needed == approximate_rollouts(0.85, 0.7).rollouts
    assert stats.outlook(gain, power=0.5).up < found.up
    assert "could have shown a true gain of +28." in str(found)


def test_outlook_of_pairs():
    pairs = PairTally(20, 8, 5, 17)
    found = stats.outlook(stats.exact_paired_gain(pairs))
    share, size = 13 / 50, found.up
    assert stats.paired_power((share + size) / 2, (share - size) / 2, 50).better >= 0.8
    assert (found.unit, found.sizes) == ("pairs", (50,))
    assert "pairs would be needed to tell" in found.wanted


def test_outlook_where_there_is_nothing_to_see():
    none = stats.outlook(stats.exact_gain(Tally(0, 10), Tally(0, 10)))
    assert none.needed is None
    assert none.down is None
    assert "No gain was observed" in none.wanted
    one = stats.outlook(stats.exact_gain(Tally(1, 1), Tally(0, 1)))
    assert "could not have shown any gain, however large" in one.seen
    assert stats.power(1.0, 0.0, one.needed).better >= 0.8
    assert stats.power(1.0, 0.0, one.needed - 1).better < 0.8


def test_outlook_of_what_was_decided_asks_for_no_more():
    for gain, chance in (
        (stats.exact_gain(Tally(20, 20), Tally(0, 20)), lambda size: stats.power(1.0, 0.0, size)),
        (stats.exact_paired_gain(PairTally(0, 20, 0, 0)), lambda size: stats.paired_power(1.0, 0.0, size)),
    ):
        enough = stats.outlook(gain).needed
        assert chance(enough).better >= 0.8 > chance(enough - 1).better
        assert enough < 20


@pytest.mark.parametrize(
    ("margin", "at_least", "same"),
    [pytest.param(0.1, 1000, False, marks=pytest.mark.slow), (0.3, 110, True), (0.0, 121, False)],
)
def test_outlook_counts_what_the_margin_takes(margin, at_least, same):
    found = stats.outlook(stats.exact_gain(Tally(17, 20), Tally(14, 20), margin=margin))
    chances = stats.power(0.85, 0.7, found.needed, margin=margin)
    assert (chances.same if same else chances.better) == pytest.approx(0.8, abs=0.01)
    assert found.needed >= at_least
    assert found.same is same
    assert ("the same within the margin" in found.wanted) is same
    dropped = stats.outlook(stats.exact_gain(Tally(14, 20), Tally(17, 20), margin=margin))
    assert dropped.needed == found.needed


def test_outlook_says_when_the_first_would_be_shown_not_worse():
    found = stats.outlook(stats.exact_gain(Tally(17, 20), Tally(14, 20), margin=0.1))
    assert stats.power(0.85, 0.7, found.not_worse, margin=0.1).not_worse == pytest.approx(0.8, abs=0.05)
    assert (
        f"About {found.not_worse} rollouts of each policy would be needed to show the first not worse" in found.wanted
    )
    shown = stats.exact_gain(Tally(17, 20), Tally(14, 20), margin=0.3)
    assert shown.not_worse
    assert stats.outlook(shown).not_worse is None
    assert (
        stats.outlook(stats.exact_gain(Tally(14, 20), Tally(17, 20), margin=0.1)).not_worse is None
    )  # it fell by more
    assert stats.outlook(stats.exact_gain(Tally(17, 20), Tally(14, 20))).not_worse is None


@pytest.mark.slow
def test_outlook_of_pairs_counts_what_the_margin_takes():
    found = stats.outlook(stats.exact_paired_gain(PairTally(10, 9, 2, 9), margin=0.1))
    assert stats.paired_power(9 / 30, 2 / 30, found.needed, margin=0.1).better == pytest.approx(0.8, abs=0.03)
    inside = stats.outlook(stats.exact_paired_gain(PairTally(10, 5, 5, 10), margin=0.1))
    assert stats.paired_power(5 / 30, 5 / 30, inside.needed, margin=0.1).same == pytest.approx(0.8, abs=0.03)


def test_outlook_at_the_margin_and_without_a_failure():
    at_it = stats.outlook(stats.exact_gain(Tally(3, 4), Tally(2, 4), margin=0.25))
    assert at_it.needed is None
    assert "as large as the margin" in at_it.wanted
    clean = stats.outlook(stats.exact_gain(Tally(40, 40), Tally(40, 40), margin=0.05))
    assert stats.power(1.0, 1.0, clean.needed, margin=0.05).same == 1.0
    assert stats.power(1.0, 1.0, clean.needed - 12, margin=0.05).same == 0.0


def test_outlook_says_when_it_is_approximate():
    large = stats.outlook(stats.exact_gain(Tally(700, 1000), Tally(690, 1000)))
    assert not large.exact
    assert "about +" in large.seen
    exact = stats.power(0.69 + large.up, 0.69, 1000).better
    assert exact == pytest.approx(0.8, abs=0.01)


def test_results_come_back_from_a_dictionary():
    for result in (
        stats.power(0.9, 0.3, 6),
        approximate_rollouts(0.9, 0.3),
        stats.outlook(stats.exact_gain(Tally(3, 5), Tally(2, 5))),
        sf.plan_comparison(0.9, 0.3, rollouts=6),
    ):
        assert type(result).from_dict(result.to_dict()) == result


@pytest.mark.parametrize("pairs", [PairTally(10, 5, 1, 4), PairTally(5, 9, 2, 4)])
def test_few_pairs_that_would_show_it_have_the_power(pairs: PairTally) -> None:
    enough = stats.outlook(stats.exact_paired_gain(pairs)).needed
    assert enough is not None
    chances = pairs.first_only / pairs.pairs, pairs.second_only / pairs.pairs
    assert enough < 60, "a guess is mended by exact powers only where they are quick"
    assert stats.paired_power(*chances, enough).better >= 0.8 > stats.paired_power(*chances, pairs.pairs).better


def test_the_power_of_one_side_speaks_of_that_side() -> None:
    better = sf.stats.power(0.9, 0.6, 26, claim="first better")
    assert (better.worse, better.same, better.not_worse) == (0.0, 0.0, better.better)
    assert str(better) == "verdict better 80.8%, worse 0.0% of the time (gain_bounds, 95% confidence)."
    kept = sf.stats.paired_power(0.1, 0.1, 60, margin=0.2, claim="first not worse")
    assert kept.better == 0.0
    assert str(kept).startswith("not worse shown ")
    assert kept.not_worse > sf.stats.paired_power(0.1, 0.1, 60, margin=0.2).not_worse


@pytest.mark.parametrize(
    ("design", "claim", "steps"),
    [
        ((10, 5), "either", [6, 8, 9, 10, 11, 11]),
        ((15, 12), "first better", [4, 6, 8, 9, 10, 12, 13, 14, 14, 15, 16, 16, 16]),
    ],
)
def test_no_table_is_lost_that_the_test_over_all_rates_decides(design, claim, steps):
    """Version 0.2.0 looked at all rates; 0.3.0 lost 12 points of power at 10 v 5 to the limits of the rates."""
    for other, first in enumerate(steps):
        for count in (first - 1, first):
            if count > design[0]:
                continue
            one = Tally(count, design[0]), Tally(other, design[1])
            p = stats.exact_gain(*one).p_value if claim == "either" else gain_sides(*one, confidence=0.9).better
            assert (p <= 0.05) == (count == first)
