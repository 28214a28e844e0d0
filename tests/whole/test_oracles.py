"""Do the slow twins agree with the stored reference values, and with each other?"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles import (
    bands,
    coherent,
    crossing,
    exact_designs,
    many,
    means,
    one_rate,
    paired,
    score_tails,
    sequential,
    shortage,
    structure,
    two_rates,
)
from tests.oracles.common import dec, z_two_sided
from tests.reference import cases, doc, groups

pytestmark = pytest.mark.sample(3)

Case = tuple[dict[str, Any], dict[str, Any]]


def some(group: str, keep: Callable[[dict[str, Any]], bool] = lambda given: True) -> list[Any]:
    """The cases of a group a slow twin can afford, as pytest parameters with readable names."""
    return [
        pytest.param(given, wanted, id="-".join(f"{k}{str(v)[:24]}" for k, v in given.items()))
        for given, wanted in cases(group)
        if keep(given)
    ]


def close(wanted: Any, rel: float = 1e-10, tol: float = 1e-13) -> Any:
    """Equal up to a relative `rel` or an absolute `tol`."""
    return pytest.approx(wanted, rel=rel, abs=tol)


def level(given: dict[str, Any]) -> Any:
    """The confidence behind a stored alpha, without a rounding error."""
    return 1 - dec(given["alpha"])


def test_the_stored_table_is_whole() -> None:
    assert len(groups()) == 43
    assert sum(len(cases(group)) for group in groups()) == 1026
    assert all(doc(group) for group in groups())


# --- One rate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("z_two_sided"))
def test_z(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert float(z_two_sided(given["conf"])) == close(wanted["z"])


@pytest.mark.parametrize(
    ("group", "interval", "names"),
    [
        ("wilson", one_rate.wilson, ("lo", "hi")),
        ("wilson_cc", one_rate.wilson_corrected, ("lo", "hi")),
        ("wald", one_rate.wald, ("lo", "hi")),
        ("wald", lambda k, n, c: one_rate.wald(k, n, c, clip=True), ("lo_clipped", "hi_clipped")),
        ("agresti_coull", lambda k, n, c: one_rate.agresti_coull(k, n, c, clip=False), ("lo", "hi")),
        ("agresti_coull", one_rate.agresti_coull, ("lo_clipped", "hi_clipped")),
    ],
)
def test_closed_form_intervals(group: str, interval: Any, names: tuple[str, str]) -> None:
    for given, wanted in cases(group):
        got = interval(given["k"], given["n"], given["conf"])
        assert got == close(tuple(wanted[name] for name in names)), given


@pytest.mark.parametrize(("given", "wanted"), some("hypergeometric_interval", lambda g: g["population"] <= 1000))
def test_population_rate(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert one_rate.population_rate(**given) == close((wanted["low"], wanted["high"]))


@pytest.mark.parametrize(
    ("given", "wanted"),
    some("clopper_pearson", lambda g: g["n"] <= 200 or g["k"] in (0, 1, 10**6 - 1, 10**6)),
)
def test_clopper_pearson(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = one_rate.clopper_pearson(given["k"], given["n"], given["conf"])
    assert got == close((wanted["lo"], wanted["hi"]))


@pytest.mark.parametrize(("given", "wanted"), some("clopper_pearson_one_sided", lambda g: g["n"] <= 200))
def test_exact_bounds(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert one_rate.exact_lower(given["k"], given["n"], level(given)) == close(wanted["lower"])
    assert one_rate.exact_upper(given["k"], given["n"], level(given)) == close(wanted["upper"])


@pytest.mark.parametrize(("given", "wanted"), some("jeffreys", lambda g: g["n"] <= 50 and g["conf"] == 0.95))
def test_jeffreys(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    k, n, conf = given["k"], given["n"], given["conf"]
    assert one_rate.jeffreys(k, n, conf) == close((wanted["lo_bcd"], wanted["hi_bcd"]))
    assert one_rate.jeffreys(k, n, conf, end_rule=False) == close((wanted["lo"], wanted["hi"]))


@pytest.mark.parametrize(("given", "wanted"), some("exact_coverage", lambda g: g["n"] <= 50))
def test_coverage(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    where = given["n"], given["p"], given["conf"]
    for name in ("wald", "wilson", "clopper_pearson", "agresti_coull"):
        assert one_rate.coverage(getattr(one_rate, name), *where) == close(wanted[name])


@pytest.mark.parametrize(("given", "wanted"), some("uma_bounds"))
def test_optimal_bounds(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    where = given["k"], given["n"], given["u"], level(given)
    assert one_rate.optimal_lower(*where) == close(wanted["lower"])
    assert one_rate.optimal_upper(*where) == close(wanted["upper"])


@pytest.mark.parametrize(("given", "wanted"), some("umau_two_sided", lambda g: g["n"] <= 10))
def test_unbiased_interval(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = one_rate.unbiased_interval(given["k"], given["n"], given["u"], level(given))
    assert got == close((wanted["lo"], wanted["hi"]), tol=1e-9)


@pytest.mark.parametrize(("given", "wanted"), some("disjoint_bounds", lambda g: g["n1"] <= 50))
def test_disjoint_bounds(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    each = 1 - dec(given["alpha"]) / 2
    assert one_rate.exact_lower(given["x1"], given["n1"], each) == close(wanted["cp_lower_1"])
    assert one_rate.exact_upper(given["x2"], given["n2"], each) == close(wanted["cp_upper_2"])
    assert one_rate.optimal_lower(given["x1"], given["n1"], 0.5, each) == close(wanted["uma_lower_1_u_half"])
    assert one_rate.optimal_upper(given["x2"], given["n2"], 0.5, each) == close(wanted["uma_upper_2_u_half"])


@pytest.mark.parametrize(("given", "wanted"), some("expected_shortage", lambda g: g["n"] <= 5))
def test_expected_shortage(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    where = given["p"], given["n"], level(given)
    assert shortage.optimal_shortage(*where) == close(wanted["uma"], tol=1e-10)
    assert shortage.exact_shortage(*where) == close(wanted["cp"])


@pytest.mark.parametrize(("given", "wanted"), some("expected_shortage", lambda g: g["n"] == 2))
def test_expected_shortage_averaged_over_draws(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = shortage.optimal_shortage_from_draws(given["p"], given["n"], 1 - given["alpha"])
    assert got == close(wanted["uma"], tol=1e-8)


@pytest.mark.parametrize(("given", "wanted"), some("max_expected_shortage", lambda g: g["n"] <= 10))
def test_max_expected_shortage(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    value, where = shortage.max_optimal_shortage(given["n"], 1 - given["alpha"])
    assert value == close(wanted["uma_mes"], tol=1e-9)
    assert where == close(wanted["uma_argmax"], tol=1e-3)
    assert shortage.max_exact_shortage(given["n"], 1 - given["alpha"])[0] == close(wanted["cp_mes"], tol=1e-7)


@pytest.mark.parametrize(("given", "wanted"), some("min_n_for_mes", lambda g: g["mes"] >= 0.2))
def test_rollouts_for_a_shortage(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    n, confidence = wanted["n_uma"], 1 - given["alpha"]
    assert shortage.max_optimal_shortage(n, confidence, 40)[0] == close(wanted["mes_at_n_uma"], tol=1e-7)
    assert shortage.max_optimal_shortage(n - 1, confidence, 40)[0] == close(wanted["mes_at_n_minus_1_uma"], tol=1e-7)
    assert shortage.max_exact_shortage(wanted["n_cp"], confidence)[0] == close(wanted["mes_at_n_cp"], tol=1e-7)
    assert shortage.max_exact_shortage(wanted["n_cp"] - 1, confidence)[0] > given["mes"]


def test_max_expected_shortage_of_one_rollout_has_a_closed_form() -> None:
    assert shortage.max_optimal_shortage(1, 0.95)[0] == close(0.95 + 0.05 * math.log(0.05), tol=1e-9)


# --- Sequential tests -------------------------------------------------------------------------------------

SECOND = [0.2, 0.5, 0.3, 0.6, 0.1, 0.4, 0.5, 0.2, 0.7, 0.3, 0.1, 0.4]
FIRST = [0.7, 0.6, 0.9, 0.5, 0.8, 1.0, 0.6, 0.9, 0.6, 0.8, 0.9, 1.0]
GAINS = [b - a for a, b in zip(SECOND, FIRST, strict=True)]


@pytest.mark.parametrize(("given", "wanted"), some("nscore_xi_star"))
def test_nscore_bet(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert sequential.nscore_bet(given["p0"], given["p1"], given["c"]) == close(wanted["xi"], tol=1e-9)


@pytest.mark.parametrize(("given", "wanted"), some("nscore_trace_literal"))
def test_nscore_literal(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = sequential.nscore_literal(given["r0"], given["r1"], given["bins"])
    assert got["xi"] == close(wanted["xi_used"], tol=1e-9)
    assert got["X"] == close(wanted["X"], tol=1e-9)
    assert got["p"] == close(wanted["p_anytime"], tol=1e-9)


@pytest.mark.parametrize(("given", "wanted"), some("nscore_process_given_xi"))
def test_process(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    d = [b - a for a, b in zip(given["r0"], given["r1"], strict=True)]
    got = sequential.process(d, given["xi"])
    assert got["X"] == close(wanted["X"])
    assert got["p"] == close(wanted["p_anytime"])


def test_nscore_binary_closed_form() -> None:
    p0, p1 = 0.3, 0.6
    u, v = (1 - p0) * p1, p0 * (1 - p1)
    assert sequential.nscore_bet([1 - p0, p0], [1 - p1, p1], [0, 1]) == close((u - v) / (u + v))


def test_nscore_regularised_never_bets_the_house() -> None:
    got = sequential.nscore([0, 0, 1, 0], [1, 1, 0, 1], bins=2)
    assert got["xi"][0] == 0
    assert max(got["xi"]) <= 0.99
    assert min(got["X"]) > 0


@pytest.mark.parametrize(("given", "wanted"), some("wsr_trace"))
def test_wsr(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    z = [(v - given["L"]) / (given["U"] - given["L"]) for v in given["z"]]
    lam, mu, s2 = sequential.wsr_bets(z, given["alpha"], running="running" in given["variance_mean"])
    assert lam == close(wanted["lam"])
    assert mu == close(wanted["mu_hat"])
    assert s2 == close(wanted["sigma2_hat"])
    for m, plus, minus in zip(given["m"], wanted["Mplus_final"], wanted["Mminus_final"], strict=True):
        got = sequential.wsr_capital(z, lam, m, given["c"])
        assert (got[0][-1], got[1][-1]) == close((plus, minus))


@pytest.mark.parametrize(("given", "wanted"), some("theta_savi_bernoulli"))
def test_theta_savi(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = sequential.theta_savi(given["y0"], given["y1"])
    assert got["X"] == close(wanted["e"])
    assert got["p"] == close(wanted["p_anytime"])


def test_fhm_first_steps_by_hand() -> None:
    got = sequential.fhm([1.0, 0.0], horizon=50, alpha=0.05)
    lo = math.sqrt(2 * math.log(20) / (50 * 0.5))
    mix = sum(0.99 * lo ** (1 - j / 15) for j in range(16)) / 16
    assert got["xi"][0] == close(max(mix, lo))
    assert got["X"] == close([1 + got["xi"][0]] * 2)


def test_fhm_hits_its_target_and_stops() -> None:
    got = sequential.fhm([1.0] * 50, horizon=50, alpha=0.05)
    assert len(got["X"]) == sequential.decided_at(got["X"], 0.05)
    assert got["X"][-1] == close(20.0)


def test_confidence_sequence_excludes_zero_exactly_when_decided() -> None:
    for claim in (GAINS, [-d for d in GAINS], [d - 0.3 for d in GAINS]):
        got = sequential.fhm(claim, horizon=30, alpha=0.2, v0=0.2, hair=1e-9)
        seen = claim[: len(got["xi"])]
        assert sequential.wealth_at(0.0, seen, got["xi"]) == close(math.log(got["X"][-1]))
        decided = sequential.decided_at(got["X"], 0.2) is not None
        assert (sequential.gain_lower(seen, got["xi"], 0.2) >= 0) == decided


def test_confidence_sequence_wealth_falls_in_the_gain() -> None:
    xi = sequential.nscore(SECOND, FIRST, bins=11)["xi"]
    values = [sequential.wealth_at(-0.999 + 0.01 * i, GAINS, xi) for i in range(200)]
    assert values == sorted(values, reverse=True)


# --- Bands ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("ks_one_sided_eps", lambda g: g["n"] <= 100))
def test_ks_width(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert bands.ks_width(given["n"], level(given)) == close(wanted["eps"])
    assert bands.dkw_width(given["n"], level(given)) == close(wanted["dkw"])


@pytest.mark.parametrize(("given", "wanted"), some("ks_one_sided_sf"))
def test_ks_tail(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert float(bands.ks_tail(given["n"], dec(given["eps"]))) == close(wanted["sf"])
    if given["n"] <= 40:
        assert float(bands.ks_tail_rational(given["n"], given["eps"])) == close(wanted["sf"])


@pytest.mark.parametrize(("given", "wanted"), some("ks_min_n", lambda g: g["eps"] >= 0.1))
def test_ks_rollouts(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert bands.ks_rollouts(given["eps"], level(given)) == wanted["n"]


@pytest.mark.parametrize(("given", "wanted"), some("cdf_band_functionals"))
def test_band_functionals(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    eps = bands.ks_width(len(given["data"]), level(given))
    assert eps == close(wanted["eps"])
    worst = bands.worst_cdf(given["data"], given["support_lower"], eps)
    assert bands.mean(worst) == close(wanted["mean_lower"])
    assert bands.mean(worst) == close(bands.cvar(worst, 1.0))
    assert bands.numeric_mean(worst, 1.0) == close(wanted["mean_lower"], tol=1e-3)
    for tau, value in wanted["quantile_lower"].items():
        assert bands.quantile(worst, float(tau)) == value
    for tau, value in wanted["cvar_lower"].items():
        assert bands.cvar(worst, float(tau)) == close(value)
    # the mirrored score has the mirrored bounds
    mirrored = bands.best_cdf([1 - x for x in given["data"]], 0.0, 1.0, eps)
    assert bands.mean(mirrored) == close(1 - wanted["mean_lower"])


def test_two_sided_ks_against_scipy() -> None:
    from scipy.stats import kstwo

    for n in (1, 2, 5, 12):
        assert bands.ks_width_two_sided(n) == close(float(kstwo.ppf(0.95, n)), rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_crossing_three_ways(n: int) -> None:
    low = [Fraction(max(0, 12 * i - 25), 100) for i in range(1, n + 1)]
    high = [Fraction(min(100, 11 * i + 20), 100) for i in range(1, n + 1)]
    exact = crossing.steck(low, high)
    assert crossing.crossing_probability(low, high) == exact
    floats = [float(x) for x in low], [float(x) for x in high]
    assert crossing.crossing_probability(*floats) == close(float(exact))
    assert crossing.brute_probability(*floats) == close(float(exact), rel=1e-2)


def test_crossing_is_birnbaum_tingey_on_a_shifted_line() -> None:
    n, eps = 12, 0.25
    high = [min(1.0, (i - 1) / n + eps) for i in range(1, n + 1)]
    assert 1 - crossing.crossing_probability([0.0] * n, high) == close(float(bands.ks_tail(n, dec(eps))))


@pytest.mark.parametrize("sides", [1, 2])
def test_equal_local_level_is_exact(sides: int) -> None:
    g, low, high = crossing.equal_local_level(6, 0.9, sides)
    assert 0 < g < 0.1
    joint = crossing.steck([Fraction(x) if sides == 2 else 0 for x in low], [Fraction(x) for x in high])
    assert float(joint) == close(0.9, rel=1e-9)


# --- Two rates, unpaired and paired -----------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("diff_two_proportions"))
def test_difference_intervals(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    *table, conf = given["x1"], given["n1"], given["x2"], given["n2"], given["conf"]
    assert two_rates.newcombe(*table, conf) == close(tuple(wanted["newcombe"]))
    assert two_rates.wald_difference(*table, conf) == close(tuple(wanted["wald"]))
    assert two_rates.agresti_caffo(*table, conf) == close(tuple(wanted["agresti_caffo"]))
    assert two_rates.miettinen_nurminen(*table, conf) == close(tuple(wanted["miettinen_nurminen"]), tol=1e-10)
    mee = two_rates.score_interval(*table, conf, corrected=False)
    assert mee == close(tuple(wanted["mee_score_uncorrected"]), tol=1e-10)


@pytest.mark.parametrize(("given", "wanted"), some("pooled_z_test"))
def test_pooled_z(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert two_rates.pooled_z(**given) == close((wanted["z"], wanted["p"]))
    assert two_rates.pooled_z(**given, corrected=True) == close((wanted["z_mn"], wanted["p_mn"]))


@pytest.mark.parametrize(("given", "wanted"), some("exact_2x2", lambda g: g["n1"] <= 17))
def test_exact_tests(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert {side: float(p) for side, p in two_rates.fisher(**given).items()} == close(wanted["fisher"])
    assert two_rates.barnard(**given) == close(wanted["barnard_pooled"])
    assert two_rates.barnard(**given, pooled=False) == close(wanted["barnard_unpooled"])
    assert two_rates.boschloo(**given) == close(wanted["boschloo"])


@pytest.mark.parametrize(("given", "wanted"), some("power_two_proportions_exact", lambda g: g["n1"] <= 30))
def test_power(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert two_rates.pooled_z_power(**given) == close(wanted["power"])


@pytest.mark.parametrize(("given", "wanted"), some("sample_size_two_proportions"))
def test_sample_size(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert two_rates.rollouts_each(**given) == close(wanted["n_raw"])
    assert math.ceil(two_rates.rollouts_each(**given)) == wanted["n"]


@pytest.mark.parametrize(("given", "wanted"), some("mcnemar"))
def test_mcnemar(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert paired.mcnemar(**given) == close(wanted)


@pytest.mark.parametrize(("given", "wanted"), some("paired_difference"))
def test_paired_intervals(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    both, b, c, neither, conf = given.values()
    n = both + b + c + neither
    assert paired.newcombe_paired(both, b, c, neither, conf) == close(tuple(wanted["newcombe_paired"]))
    assert paired.tango(b, c, n, conf) == close(tuple(wanted["tango"]))
    if "bootstrap_infinite_B" in wanted:
        assert paired.bootstrap_limit(b, c, n, conf) == close(wanted["bootstrap_infinite_B"])


def test_constrained_rates_beat_every_grid_point() -> None:
    def loglik(p1: float, p2: float) -> float:
        return 7 * math.log(p1) + 3 * math.log(1 - p1) + 4 * math.log(p2) + 8 * math.log(1 - p2)

    best = loglik(*two_rates.constrained_rates(7, 10, 4, 12, 0.1))
    assert all(best >= loglik(p2 + 0.1, p2) for p2 in (i / 1000 for i in range(1, 900)))


@pytest.mark.parametrize("table", [(9, 10, 3, 10), (4, 6, 0, 5), (0, 3, 0, 4)])
def test_coherent_p_at_zero_is_two_sided_barnard(table: tuple[int, int, int, int]) -> None:
    assert coherent.unpaired_p(*table, 0.0) == close(two_rates.barnard(*table)["two_sided"], rel=1e-9)


def test_coherent_accepted_set_can_be_disconnected() -> None:
    def p(delta: float) -> float:
        return coherent.unpaired_p(10, 17, 0, 4, delta, cells=400)

    assert p(0.0) < 0.05 < p(-0.1)
    assert p(0.2) > 0.05


@pytest.mark.parametrize("table", [(5, 5, 0, 5), (4, 5, 1, 5), (0, 4, 3, 5)])
def test_coherent_pair_never_contradicts_itself(table: tuple[int, int, int, int]) -> None:
    low, high = coherent.unpaired_interval(*table, step=0.1, cells=100)
    p = coherent.unpaired_printed_p(*table, step=0.1, cells=100)
    assert (low > 0 or high < 0) == (p <= 0.05)
    mirrored = coherent.unpaired_interval(*table[2:], *table[:2], step=0.1, cells=100)
    assert mirrored == close((-high, -low), tol=1e-6)


@pytest.mark.parametrize(("b", "c", "n"), [(5, 0, 8), (4, 1, 7), (0, 3, 6)])
def test_coherent_paired(b: int, c: int, n: int) -> None:
    low, high = coherent.paired_interval(b, c, n, step=0.1, cells=100)
    assert low < (b - c) / n < high
    assert (low > 0 or high < 0) == (coherent.paired_printed_p(b, c, n, step=0.1, cells=100) <= 0.05)
    assert coherent.paired_interval(c, b, n, step=0.1, cells=100) == close((-high, -low), tol=1e-6)


# --- Exact designs ----------------------------------------------------------------------------------------

BOUNDARY = [[n + 1 if n < 3 else min(n, s + 2 + n // 4) for s in range(n + 1)] for n in range(9)]


@pytest.mark.parametrize("either", [True, False])
def test_design_walk_agrees_with_all_sequences(either: bool) -> None:
    rule = exact_designs.rule_from(BOUNDARY, either)
    coefficients = exact_designs.bernstein(rule, 5)
    assert exact_designs.bernstein_by_recursion(rule, 5) == close([float(b) for b in coefficients])
    for p in (0.0, 0.2, 0.5, 0.9):
        assert exact_designs.false_rate(rule, 5, p) == close(exact_designs.from_bernstein(coefficients, p))


@pytest.mark.parametrize("either", [True, False])
def test_paired_design_walk_agrees_with_all_sequences(either: bool) -> None:
    rule = exact_designs.rule_from(BOUNDARY, either)
    coefficients = exact_designs.paired_bernstein(rule, 8)
    assert exact_designs.paired_bernstein_by_recursion(rule, 8) == close([float(b) for b in coefficients])
    for q in (0.0, 0.3, 0.8, 1.0):
        got = exact_designs.paired_walk(rule, 8, q / 2, q / 2)["first"]
        assert got == close(exact_designs.from_bernstein(coefficients, q))


def test_design_survival_gives_the_operating_characteristics() -> None:
    rule, p0, p1, horizon = exact_designs.rule_from(BOUNDARY), 0.3, 0.7, 8
    decided = expected = 0.0
    for n, states in enumerate(exact_designs.survival(rule, horizon)):
        for (s0, s1), q in states.items():
            mass = q * math.comb(n, s0) * p0**s0 * (1 - p0) ** (n - s0) if n else 0.0
            mass *= math.comb(n, s1) * p1**s1 * (1 - p1) ** (n - s1)
            verdict = rule(n, s0, s1) if n else 0
            decided += mass if verdict > 0 else 0.0
            expected += n * mass if verdict or n == horizon else 0.0
    got = exact_designs.walk(rule, horizon, p0, p1)
    assert (got["first"], got["expected"]) == close((decided, expected))
    assert got["first"] + got["second"] + got["undecided"] == close(1.0)


def test_futility_changes_rollouts_but_no_decision() -> None:
    rule = exact_designs.rule_from(BOUNDARY)
    for go in (exact_designs.walk, exact_designs.paired_walk):
        plain, short = go(rule, 8, 0.3, 0.4), go(rule, 8, 0.3, 0.4, curtail=True)
        assert short["first"] == close(plain["first"])
        assert short["second"] == close(plain["second"])
        assert short["expected"] < plain["expected"]


def test_swapped_policies_swap_the_verdicts() -> None:
    rule = exact_designs.formula_rule(12, 1.9)
    one, other = exact_designs.walk(rule, 12, 0.2, 0.6), exact_designs.walk(rule, 12, 0.6, 0.2)
    assert (one["first"], one["second"]) == close((other["second"], other["first"]))


# --- Means ------------------------------------------------------------------------------------------------

VALUES = [0.62, 0.71, 0.55, 0.9, 0.43, 0.81, 0.66, 0.58, 0.74, 0.69, 0.8, 0.61]


@pytest.mark.parametrize(("given", "wanted"), some("welch_and_t"))
def test_welch(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = means.welch(given["a"], given["b"])
    assert (got["t"], got["df"], got["p"]) == close((wanted["t"], wanted["df"], wanted["p_two_sided"]))
    assert means.student_interval(given["a"]) == close(tuple(wanted["a_t_interval_95"]))


@pytest.mark.parametrize("options", [{}, {"running": False}, {"horizon": 12}, {"horizon": 12, "ever": False}])
def test_hedged_interval_ends_where_the_capital_meets_its_target(options: dict[str, Any]) -> None:
    low, high = means.hedged_interval(VALUES, 0.0, 1.0, 0.9, **options)
    ever = options.pop("ever", True)
    lams = sequential.wsr_bets(VALUES, 0.1, **options)[0]
    for end in (low, high):
        plus, minus = sequential.wsr_capital(VALUES, lams, end)
        capital = [max(pair) / 2 for pair in zip(plus, minus, strict=True)]
        assert (max(capital) if ever else capital[-1]) == close(10, rel=1e-6)
    scaled = means.hedged_interval([2 * v - 1 for v in VALUES], -1.0, 1.0, 0.9, ever=ever, **options)
    assert scaled == close((2 * low - 1, 2 * high - 1), rel=1e-6)


def test_bernstein_and_hoeffding_by_hand() -> None:
    assert means.hoeffding_width(50) == close(math.sqrt(math.log(40) / 100))
    flat = [0.5] * 11
    assert means.bernstein_width(flat, 0, 1) == close(7 * math.log(80) / 30)
    assert means.bernstein_width(flat, 0, 2, sides=1) == close(14 * math.log(40) / 30)


# --- Structure --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("cluster_se"))
def test_clusters(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = structure.cluster_errors(given["values"], given["cluster"])
    assert got == close({name: wanted[name] for name in got})
    assert structure.design_effect(given["values"], given["cluster"]) >= 1


@pytest.mark.parametrize(("given", "wanted"), some("runs_by_tasks"))
def test_runs_by_tasks(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = structure.runs_by_tasks(given["matrix"])
    assert got == close({name: wanted[name] for name in got})


@pytest.mark.parametrize(("given", "wanted"), some("rogan_gladen"))
def test_rogan_gladen(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    table = {name: value for name, value in given.items() if name != "conf"}
    got = structure.rogan_gladen(**table, confidence=given["conf"])
    assert got == close({name: wanted[name] for name in got})


@pytest.mark.parametrize(("given", "wanted"), some("pass_at_k", lambda g: g["n"] <= 20))
def test_pass_at_k(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert structure.pass_at_k(**given) == close((wanted["pass_at_k"], wanted["pass_hat_k"]))


def test_mantel_haenszel() -> None:
    one = structure.mantel_haenszel([(30, 50, 16, 40)])
    assert one["difference"] == close(0.2)
    assert one["se_greenland_robins"] == close(math.sqrt(0.24 / 50 + 0.24 / 40))
    # with the same difference in every stratum the two variances are one
    even = structure.mantel_haenszel([(30, 50, 20, 50), (9, 10, 28, 40), (12, 60, 0, 7)])
    assert even["difference"] == close(0.2)
    assert even["se_sato"] == close(even["se_greenland_robins"])


def test_cmh_and_kappa_against_statsmodels() -> None:
    import numpy as np

    pytest.importorskip("statsmodels")
    from statsmodels.stats.contingency_tables import StratifiedTable
    from statsmodels.stats.inter_rater import cohens_kappa

    strata = [(20, 50, 10, 40), (30, 60, 25, 70), (5, 20, 9, 21)]
    tables = [np.array([[x1, n1 - x1], [x2, n2 - x2]]) for x1, n1, x2, n2 in strata]
    theirs = StratifiedTable(tables).test_null_odds()
    assert structure.cmh(strata) == close((theirs.statistic, theirs.pvalue))
    table = [[20, 5, 1], [3, 15, 4], [2, 2, 9]]
    kappa = cohens_kappa(table)
    assert structure.cohen_kappa(table) == close((kappa.kappa, kappa.std_kappa))


def test_ppi() -> None:
    truth, judged, others = [1, 0, 1, 1, 0, 1], [0.9, 0.2, 0.7, 0.8, 0.4, 0.6], [0.3, 0.8, 0.9, 0.6, 0.5, 0.7, 0.9, 0.1]
    assert structure.ppi_mean(truth, judged, others, power=0)["estimate"] == close(4 / 6)
    plain = structure.ppi_mean(truth, judged, others, power=1)
    assert plain["estimate"] == close(sum(others) / 8 + (sum(truth) - sum(judged)) / 6)
    tuned = structure.ppi_mean(truth, judged, others)
    assert 0 < tuned["power"] <= 1
    assert tuned["se"] <= plain["se"] + 1e-12


# --- Many -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("multiplicity"))
def test_multiplicity(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    p = given["p"]
    assert many.bonferroni(p) == close(wanted["bonferroni"])
    assert many.sidak(p) == close(wanted["sidak"])
    assert many.holm(p) == close(wanted["holm"])
    assert many.benjamini_hochberg(p) == close(wanted["bh"])
    for alpha in (0.01, 0.05, 0.06, 0.1, 0.25):
        assert many.holm_rejects(p, alpha) == [adjusted <= alpha for adjusted in many.holm(p)]


def test_e_benjamini_hochberg_is_bh_on_inverses() -> None:
    evidence = [100.0, 30.0, 8.0, 45.0, 1.0]
    inverses = many.benjamini_hochberg([1 / e for e in evidence])
    assert many.e_benjamini_hochberg(evidence, 0.05) == [p <= 0.05 for p in inverses]


@pytest.mark.parametrize(("given", "wanted"), some("compact_letter_display"))
def test_letters(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert many.letters(given["names"], given["means"], given["significant_pairs"]) == wanted


def test_rank_intervals() -> None:
    assert many.rank_intervals(4, [(0, 2), (0, 3), (1, 3)]) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert many.rank_intervals(3, []) == [(1, 3)] * 3


@pytest.mark.parametrize(("given", "wanted"), some("bradley_terry_elo"))
def test_bradley_terry(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    got = many.bradley_terry(given["wins"])
    assert got == close(wanted["log_strength"], tol=1e-8)
    assert many.elo(got) == close(wanted["elo"], rel=1e-8)


def test_davidson_matches_the_seen_wins_and_ties() -> None:
    wins, ties = [[0, 7, 9], [3, 0, 6], [1, 4, 0]], [[0, 4, 2], [4, 0, 5], [2, 5, 0]]
    t, nu = many.davidson(wins, ties)
    seen, expected = [0.0] * 3, [0.0] * 3
    expected_ties = 0.0
    for i in range(3):
        for j in range(3):
            if i != j:
                games = wins[i][j] + wins[j][i] + ties[i][j]
                middle = nu * math.exp((t[i] + t[j]) / 2)
                norm = math.exp(t[i]) + math.exp(t[j]) + middle
                seen[i] += wins[i][j] + ties[i][j] / 2
                expected[i] += games * (math.exp(t[i]) + middle / 2) / norm
                expected_ties += games * middle / norm / 2
    assert expected == close(seen, tol=1e-6)
    assert expected_ties == close(11, tol=1e-6)


# --- Scores, order-free -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "wanted"), some("gaffke_one_sample"))
def test_order_free_scores(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    z = given["scores"]
    assert float(score_tails.p_low(z, given["m"])) == close(wanted["p_low"])
    assert float(score_tails.p_low([1 - dec(x) for x in z], 1 - dec(given["m"]))) == close(wanted["p_high"])
    if len(z) <= 5:
        assert score_tails.interval(z, given["confidence"]) == close((wanted["low"], wanted["high"]))
