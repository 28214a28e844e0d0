"""Exact designs: walks against brute force, proved errors, the published figures, and how tables are kept."""

import json
import math
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import DataError
from surefoot.numerics import (
    bernstein,
    design_priors,
    design_search,
    dynamic_programs,
    exact_designs,
    formula_designs,
    futility,
    stopped_walks,
)
from surefoot.numerics.operating import characteristics, onward
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs
from tests.oracles import exact_designs as twin

KINDS = {"binary": stopped_walks.BinaryWalk, "paired": stopped_walks.PairedWalk}
every_family = pytest.mark.parametrize("family", KINDS)
every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


@st.composite
def boundaries(draw, horizon: int) -> np.ndarray:
    """Any monotone table that never decides against what was seen."""
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for n in range(1, horizon + 1):
        above = draw(st.lists(st.integers(0, 4), min_size=n + 1, max_size=n + 1))
        limits[n, : n + 1] = np.maximum.accumulate(np.minimum(np.arange(n + 1) + above, n))
    return limits


# --- walks against brute force, for any boundary ---


@every_family
@every_side
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_coefficients_are_the_counts_of_all_sequences(family, both, data):
    horizon = 5 if family == "binary" else 7
    limits = data.draw(boundaries(horizon))
    rule = twin.rule_from(limits.tolist(), both)
    counted = (twin.bernstein if family == "binary" else twin.paired_bernstein)(rule, horizon)
    found = stopped_walks.coefficients(KINDS[family](horizon, mirrored=both), limits)
    assert found == pytest.approx([float(b) for b in counted], abs=1e-14)


@every_family
@every_side
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_stopping_chances_are_those_of_the_slow_walk(family, both, data):
    horizon = 11
    limits = data.draw(boundaries(horizon))
    second, first = data.draw(st.sampled_from([(0.2, 0.5), (0.35, 0.3), (0.0, 0.4), (0.45, 0.55)]))
    walk = KINDS[family](horizon, mirrored=both)
    rule = twin.rule_from(limits.tolist(), both)
    for given_up in (False, True):
        quits = futility.unreachable(limits, mirrored=both) if given_up else None
        found = characteristics(walk, limits, second, first, quits=quits)
        if family == "binary":
            slow = twin.walk(rule, horizon, second, first, given_up)
        else:
            slow = twin.paired_walk(rule, horizon, first, second, given_up)
        assert found.first.sum() == pytest.approx(slow["first"], abs=1e-13)
        assert found.second.sum() == pytest.approx(slow["second"], abs=1e-13)
        assert found.pairs[0] == pytest.approx(slow["expected"], abs=1e-12)
    assert onward(walk, limits, (0, 0, 0), second, first) == pytest.approx((slow["first"], slow["second"]), abs=1e-13)


@every_family
def test_a_narrow_band_below_only_raises_the_error(family):
    horizon = 40
    shape = formula_designs.binary_limits if family == "binary" else formula_designs.paired_limits
    limits = shape(horizon, 2.0)
    whole = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False), limits)
    narrow = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False, depth=lambda _: 2), limits)
    assert (narrow >= whole - 1e-15).all()
    assert (narrow > whole + 1e-9).any()
    deep = exact_designs.deep(paired=family == "paired")
    used = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False, depth=deep), limits)
    assert used == pytest.approx(whole, abs=1e-11)


@every_family
@every_side
def test_the_programme_is_the_one_written_down(family, both):
    # Backwards over a dictionary of states, every chance from its formula; methods.md sections 10 and 10b.
    horizon, cost = 7, 9.0
    points = design_priors.Alternatives(
        np.array([0.2, 0.3, 0.1]), np.array([0.6, 0.5, 0.45]), np.array([0.5, 0.3, 0.2])
    )
    chances = design_priors.binary_chances if family == "binary" else design_priors.paired_chances
    nulls = exact_designs.binomial_laws(14, 5) if family == "binary" else np.eye(8)[1:]
    walk = KINDS[family](horizon, mirrored=both)
    made = dynamic_programs.Programme(walk, chances(points, horizon), nulls, cost, stopped_walks.everything)
    weights = np.linspace(3.0, 1.0, len(nulls))
    rates = (1 - np.cos(np.pi * np.arange(1, 6) / 6)) / 2

    def binomial(k: int, n: int, p: float) -> float:
        return math.comb(n, k) * p**k * (1 - p) ** (n - k)

    def alternative(n: int, s: int, f: int) -> float:
        total = 0.0
        for low, high, weight in zip(*points, strict=True):
            if family == "binary":
                total += weight * binomial(s, n, low) * binomial(f, n, high)
            elif s + f <= n:
                ways = math.comb(n, s) * math.comb(n - s, f)
                total += weight * ways * low**s * high**f * (1 - low - high) ** (n - s - f)
        return total

    def null(n: int, s: int, f: int) -> float:
        if family == "binary":
            return sum(w * binomial(s, n, p) * binomial(f, n, p) for w, p in zip(weights, rates, strict=True))
        m = s + f
        return sum(
            w * math.comb(n, m) * math.comb(horizon - n, k - m) / math.comb(horizon, k) * math.comb(m, s) / 2**m
            for k, w in enumerate(weights, 1)
            if m <= k <= horizon - n + m
        )

    value: dict[tuple[int, int, int], float] = {}
    for n in range(horizon, -1, -1):
        for s in range(n + 1):
            for f in range(n + 1 - (s if family == "paired" else 0)):
                mine, theirs = alternative(n, s, f), alternative(n, f, s) if both else 0.0
                if n == horizon:
                    onward = cost * (mine + theirs)
                elif family == "binary":
                    onward = mine + theirs
                    for a in (0, 1):
                        for b in (0, 1):
                            share = (s + 1 if a else n + 1 - s) * (f + 1 if b else n + 1 - f) / (n + 1) ** 2
                            onward += share * value[n + 1, s + a, f + b]
                else:
                    more = (f + 1) * value[n + 1, s, f + 1] + (s + 1) * value[n + 1, s + 1, f]
                    onward = mine + theirs + (more + (n + 1 - s - f) * value[n + 1, s, f]) / (n + 1)
                stops = [onward]
                if f > s:
                    stops.append(null(n, s, f) + cost * theirs)
                if both and s > f:
                    stops.append(null(n, s, f) + cost * mine)
                value[n, s, f] = min(stops)
    assert made.respond(weights)[0] == pytest.approx(value[0, 0, 0], rel=1e-12)


@every_side
def test_the_value_is_that_of_the_boundary_it_gives(both):
    # Lagrange: value = pairs + cost x (1 - power) + sum of w x error, in each direction.
    made = exact_designs.binary_programme(24, 0.05, design_priors.for_binary(), 20.0, mirrored=both)
    weights = np.random.default_rng(3).uniform(0.2, 3.0, len(made.nulls))
    bound, limits = design_search.dual_bound(made, weights, 0.05)
    seen = made.assess(limits)
    assert bound == pytest.approx(seen.objective + weights @ (made.nulls @ seen.coefficients - 0.05), rel=1e-12)
    for n in range(1, 25):  # and it does not run into the edge of the band
        above = limits[n, : n + 1] - np.arange(n + 1)
        assert made.high[n] == n or above[made.walk.valid(n, np.arange(n + 1), above + 1)].max(initial=0) < made.high[n]


@every_family
@every_side
def test_no_boundary_beats_the_bound(family, both):
    if family == "binary":
        made = exact_designs.binary_programme(24, 0.05, design_priors.for_binary(), 20.0, mirrored=both, bounding=True)
        shape = formula_designs.binary_limits
    else:
        made = exact_designs.paired_programme(24, 0.05, mirrored=both, bounding=True)
        shape = formula_designs.paired_limits
    weights = np.random.default_rng(3).uniform(0.2, 3.0, len(made.nulls))
    bound, own = design_search.dual_bound(made, weights, 0.05)
    for limits in (own, design_search.monotone(own), shape(24, 1.5), shape(24, 2.0), shape(24, 2.5)):
        seen = made.assess(limits)
        assert bound <= seen.objective + weights @ (made.nulls @ seen.coefficients - 0.05) + 1e-9


def test_a_bounding_programme_is_never_above():
    points, nulls = design_priors.thirty_five(), exact_designs.binomial_laws(60, 31)
    weights = np.full(31, 10.0)
    walk = stopped_walks.BinaryWalk(30, mirrored=True)

    def value(reach: int, *, bounding: bool) -> float:
        chances = design_priors.binary_chances(points, 30)
        made = dynamic_programs.Programme(walk, chances, nulls, 25.0, lambda _: reach, bounding=bounding)
        return made.respond(weights)[0]

    whole = value(30, bounding=False)
    assert value(30, bounding=True) == pytest.approx(whole, rel=1e-13)
    assert value(6, bounding=True) < whole < value(6, bounding=False)


# --- the figures, computed exactly through the public rules ---


def thirty_five(rule: ExactBinary, *, curtailed: bool = False) -> tuple[float, float]:
    """(mean pairs, mean power) over the 35 alternatives."""
    points = design_priors.thirty_five()
    assert len(points.first) == 35
    done = [rule.operating(f, s, curtailed=curtailed) for s, f in zip(points.second, points.first, strict=True)]
    pairs = [sum(n * chance for n, chance in enumerate(stopping, 1)) for stopping, _ in done]
    return float(np.mean(pairs)), float(np.mean([shares["better"] for _, shares in done]))


@pytest.mark.parametrize(("horizon", "pairs", "power"), [(50, 29.10, 0.729), (200, 62.05, 0.921)])
def test_exact_binary_reaches_its_figures(horizon, pairs, power):
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    mean, right = thirty_five(rule)
    assert mean <= pairs
    assert right >= power


def test_exact_binary_reaches_its_figures_at_500():
    rule = ExactBinary(500, confidence=0.90, claim="either")
    points = design_priors.thirty_five()
    found = characteristics(rule.design.walk(), rule.design.limits, points.second, points.first)
    assert found.pairs.mean() <= 85.0
    assert found.first.sum(axis=1).mean() >= 0.9865


def test_stopping_for_certain_futility_saves_pairs_and_no_power():
    rule = ExactBinary(50, confidence=0.90, claim="either")
    mean, right = thirty_five(rule)
    curtailed, same = thirty_five(rule, curtailed=True)
    assert same == pytest.approx(right, abs=1e-12)
    assert curtailed <= 28.0 < mean


def test_no_rule_can_do_much_better():
    rule = ExactBinary(50, confidence=0.90, claim="either")
    mean, power = thirty_five(rule)
    bound = exact_designs.binary_bound(50, 0.05, power, mirrored=True, rounds=60)
    assert bound < mean <= 1.01 * bound
    assert bound > 28.80  # methods.md section 10: 28.84 at power .7301


@pytest.mark.slow
@pytest.mark.parametrize(("horizon", "within"), [(200, 1.015), (500, 1.02)])
def test_no_rule_can_do_much_better_at_long_horizons(horizon, within):
    rule = ExactBinary(horizon, confidence=0.90, claim="either")
    mean, power = thirty_five(rule)
    bound = exact_designs.binary_bound(horizon, 0.05, power, mirrored=True, rounds=80)
    assert bound < mean <= within * bound


@pytest.mark.parametrize(
    ("horizon", "power", "pairs"), [(50, 0.55, 36.6), (100, 0.735, 59.0), (200, 0.89, 85.5)], ids=[50, 100, 200]
)
def test_exact_paired_binary_reaches_its_figures(horizon, power, pairs):
    rule = ExactPairedBinary(horizon, claim="either")
    rates = [(0.75, 0.60), (0.90, 0.60), (0.90, 0.40), (0.70, 0.50), (0.55, 0.45), (0.95, 0.85)]
    mean, right = [], []
    for first, second in rates:
        tied = float(design_priors.copula(np.array([first]), np.array([second]), np.array([0.6]))[0])
        for both in (first * second, tied):
            stopping, shares = rule.tied(first, second, both, curtailed=False)
            mean.append(sum(n * chance for n, chance in enumerate(stopping, 1)))
            right.append(shares["better"])
    assert np.mean(right) >= power
    assert np.mean(mean) <= pairs
    assert rule.certificate.high <= 0.025


def test_no_paired_rule_can_do_much_better():
    rule, points = ExactPairedBinary(50, claim="either"), design_priors.twelve()
    found = characteristics(rule.design.walk(), rule.design.limits, points.second, points.first)
    mean, power = float(found.pairs.mean()), float(found.first.sum(axis=1).mean())
    bound = exact_designs.paired_bound(50, 0.025, power, mirrored=True, rounds=60)
    assert bound < mean <= 1.02 * bound


def test_the_copula_is_that_of_the_bivariate_normal():
    def both(*rates: float) -> float:
        return float(design_priors.copula(*(np.array([rate]) for rate in rates))[0])

    assert both(0.5, 0.5, 0.6) == pytest.approx(0.25 + math.asin(0.6) / (2 * math.pi), abs=1e-13)  # Sheppard (1899)
    assert both(0.7, 0.2, 0.0) == pytest.approx(0.14, abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(both(0.85, 0.95, 0.6), abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(0.8297088, abs=1e-6)  # scipy.stats.multivariate_normal.cdf


def test_both_directions_at_95_percent_within_100_pairs():
    # The settings at which another tool's anytime rule has power .30 with 86 pairs, and needs 40 pairs.
    rule = ExactBinary(100, claim="either")
    stopping, shares = rule.operating(0.75, 0.60)
    assert shares["better"] >= 0.55
    assert sum(n * chance for n, chance in enumerate(stopping, 1)) <= 81
    stopping, shares = rule.operating(0.90, 0.60)
    assert shares["better"] > 0.98
    assert sum(n * chance for n, chance in enumerate(stopping, 1)) <= 34


# --- certificates ---


@every_family
@every_side
@pytest.mark.parametrize("horizon", [20, 50, 100])
def test_shipped_tables_are_monotone_and_keep_their_error(family, both, horizon):
    for declared in designs.shipped(family):
        if (declared.horizon, declared.both) == (horizon, both):
            _prove(declared)


@pytest.mark.slow
@every_family
@pytest.mark.parametrize("horizon", designs.HORIZONS)
def test_every_shipped_certificate_is_proved_again(family, horizon):
    wanted = [declared for declared in designs.shipped(family) if declared.horizon == horizon]
    assert len(wanted) == 6
    for declared in wanted:
        _prove(declared)


def _prove(declared: designs.Declared) -> None:
    design = designs.read(designs.SHIPPED / f"{declared.family}.zip", declared)
    assert design is not None, declared.name
    limits = design.limits
    rows = np.arange(declared.horizon + 1)
    for n in rows[1:]:
        assert (np.diff(limits[n, : n + 1]) >= 0).all()
        # For a claim in both directions never both at once; and never against what was seen.
        assert (limits[n, : n + 1] >= rows[: n + 1])[: n // 2 + 1 if declared.family == "paired" else n + 1].all()
    total = stopped_walks.coefficients(design.walk(), limits)
    proved = float(total.max()) if declared.family == "paired" else bernstein.maximise(total)[1]
    assert proved <= declared.error
    assert proved <= design.proved + 1e-9
    assert design.proved >= 0.9 * declared.error or declared.horizon <= 30  # the error is used
    assert bernstein.maximise(total)[1] <= declared.error  # independent pairs


@every_family
@every_side
def test_unequal_rates_for_which_the_claim_is_false_are_no_worse(family, both):
    # By coupling, a monotone table errs most when the policies are equal.
    rule = (ExactBinary if family == "binary" else ExactPairedBinary)(20, claim="either" if both else "first better")
    if family == "binary":
        second = np.repeat(np.linspace(0.05, 0.95, 10), 10)
        first = second * np.tile(np.linspace(0.1, 1.0, 10), 10)
    else:
        second = np.repeat(np.linspace(0.05, 0.5, 10), 10)
        first = second * np.tile(np.linspace(0.1, 1.0, 10), 10)
    found = characteristics(rule.design.walk(), rule.design.limits, second, first)
    assert found.first.sum(axis=1).max() <= rule.certificate.high + 1e-12
    assert rule.certificate.high <= rule.error


def test_a_shuffled_fixed_list_keeps_the_error():
    # Exactly k of the environments differ, each by a fair coin, in random order: all 3^N sequences of a short list.
    rule = ExactPairedBinary(8, confidence=0.9)
    shares = twin.paired_bernstein(twin.rule_from(rule.design.limits.tolist(), False), 8)
    assert max(float(share) for share in shares) <= 0.1
    assert max(float(share) for share in shares) == pytest.approx(rule.certificate.low, abs=1e-12)


# --- formula rules ---


@pytest.mark.parametrize(("horizon", "constant"), [(200, 2.48694), pytest.param(500, 2.52905, marks=pytest.mark.slow)])
def test_the_binary_formula_is_calibrated_exactly(horizon, constant):
    walk = stopped_walks.BinaryWalk(horizon, mirrored=True)
    design, found = formula_designs.formula_design(walk, formula_designs.binary_limits, 0.05)
    assert found == pytest.approx(constant, abs=4e-4)
    assert design.proved <= 0.05
    assert (
        bernstein.maximise(stopped_walks.coefficients(walk, formula_designs.binary_limits(horizon, constant)))[1]
        <= 0.05
    )
    assert (
        bernstein.maximise(stopped_walks.coefficients(walk, formula_designs.binary_limits(horizon, found - 2e-3)))[0]
        > 0.05
    )


@pytest.mark.parametrize("shift", [-1.5, 2.0])
def test_the_constant_is_found_however_far_it_is_from_the_first_guess(shift):
    walk, told = stopped_walks.BinaryWalk(60, mirrored=True), []
    design, constant = formula_designs.formula_design(walk, formula_designs.binary_limits, 0.05)

    def shifted(horizon, one):
        return formula_designs.binary_limits(horizon, one - shift)

    same, other = formula_designs.formula_design(walk, shifted, 0.05, told.append)
    assert other - constant == pytest.approx(shift, abs=1e-12)
    assert same.proved == design.proved
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_paired_formula_of_the_methods_is_calibrated_for_independent_pairs():
    walk = stopped_walks.PairedWalk(100, mirrored=True)

    def worst(constant: float) -> float:
        limits = formula_designs.paired_limits(100, constant, rise=0.45, guard=0.0)
        return bernstein.maximise(stopped_walks.coefficients(walk, limits))[1]

    assert worst(2.648) <= 0.025 < worst(2.646)  # methods.md section 10b: 2.647


@pytest.mark.parametrize("constant", [1.7, 2.4])
def test_formula_tables_follow_their_formulas(constant):
    for horizon in (9, 22):
        tables = [
            (formula_designs.binary_limits(horizon, constant), twin.formula_rule(horizon, constant)),
            (
                formula_designs.paired_limits(horizon, constant, rise=0.45, guard=0.0),
                twin.paired_formula_rule(horizon, constant),
            ),
        ]
        for paired, (limits, rule) in enumerate(tables):
            read = twin.rule_from(limits.tolist())
            for n in range(1, horizon + 1):
                for r in range(n + 1):
                    for other in range(n + 1 - (r if paired else 0)):
                        assert read(n, r, other) == rule(n, r, other)


@pytest.mark.slow
@every_family
@every_side
def test_formula_rules_of_long_horizons_keep_their_error(family, both):
    make = ExactBinary if family == "binary" else ExactPairedBinary
    rule = make(700, claim="either" if both else "first better")
    assert rule.design.constant is not None
    assert rule.certificate.high <= rule.error
    assert rule.design.proved >= 0.95 * rule.error


# --- keeping tables ---


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(designs, "_cache", lambda: tmp_path)
    designs.design.cache_clear()
    yield tmp_path
    designs.design.cache_clear()


def test_other_horizons_are_computed_once_and_kept(cache, monkeypatch):
    declared = designs.Declared("binary", 13, 0.05, False)
    made = designs.design(declared)
    (kept,) = cache.rglob("*.zip")
    monkeypatch.setattr(designs, "compute", None)
    designs.design.cache_clear()
    again = designs.design(declared)
    assert (again.limits == made.limits).all()
    assert (again.proved, again.digest) == (made.proved, made.digest)
    assert not list(cache.rglob("tmp*"))
    assert again.limits.flags.writeable is False
    assert kept.stat().st_size < 2000


def test_a_damaged_cache_is_made_again(cache):
    declared = designs.Declared("paired", 12, 0.1, True)
    made = designs.design(declared)
    (kept,) = cache.rglob("*.zip")
    kept.write_bytes(b"not a table")
    designs.design.cache_clear()
    assert (designs.design(declared).limits == made.limits).all()
    assert designs.read(kept, declared) is not None


def test_a_place_that_cannot_be_written_is_left_alone(cache, monkeypatch):
    blocked = cache / "file"
    blocked.write_text("in the way")
    monkeypatch.setattr(designs, "_cache", lambda: blocked)
    assert designs.design(designs.Declared("binary", 7, 0.1, True)).proved <= 0.1
    assert blocked.read_text() == "in the way"


def test_a_changed_table_is_refused(tmp_path):
    declared = designs.Declared("binary", 9, 0.1, True)
    made = designs.compute(declared)
    path = tmp_path / "binary.zip"
    designs.keep(path, [made])
    assert (designs.read(path, declared).limits == made.limits).all()
    assert designs.read(path, declared._replace(horizon=10)) is None
    with zipfile.ZipFile(path) as file:
        index, stored = json.loads(file.read("index.json")), bytearray(file.read(declared.name))
    stored[4] ^= 1
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("index.json", json.dumps(index))
        file.writestr(declared.name, bytes(stored))
    with pytest.raises(DataError, match=r"binary.zip: the stored design binary-9-0.1-both is damaged"):
        designs.read(path, declared)
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="the stored designs cannot be read"):
        designs.read(path, declared)


def test_confidence_names_one_design_however_it_was_written():
    assert designs.error_of(0.95, both=True) == 0.025
    assert designs.error_of(1 - 0.05, both=False) == 0.05
    names = {declared.name for family in KINDS for declared in designs.shipped(family)}
    assert len(names) == 144


@pytest.mark.parametrize("family", KINDS)
def test_the_package_brings_what_it_says_and_nothing_else(family):
    with zipfile.ZipFile(designs.SHIPPED / f"{family}.zip") as file:
        names = set(json.loads(file.read("index.json")))
        assert {*names, "index.json"} == set(file.namelist())
    assert names == {declared.name for declared in designs.shipped(family)}


def test_a_search_that_cannot_keep_the_error_returns_nothing(monkeypatch):
    loose = exact_designs.Design(formula_designs.binary_limits(9, 1.0), 0.4)
    monkeypatch.setattr(exact_designs, "binary_design", lambda *_, **__: loose)
    with pytest.raises(ArithmeticError, match="does not keep its error"):
        designs.compute(designs.Declared("binary", 9, 0.1, True))


@pytest.mark.parametrize("kind", [ExactBinary, ExactPairedBinary])
def test_shipped_designs_are_neither_computed_nor_kept_again(kind, cache, monkeypatch):
    designs.design.cache_clear()
    monkeypatch.setattr(designs, "compute", None)
    for horizon in (20, 150, 500):
        assert kind(horizon, claim="either").design.declared.horizon == horizon
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("family", ["binary", "paired"])
def test_long_horizons_use_the_formula_and_are_proved_all_the_same(family, monkeypatch):
    monkeypatch.setattr(designs, "SEARCHED", 30)
    made = designs.compute(designs.Declared(family, 40, 0.05, True))
    assert made.constant is not None
    assert made.constant > 1.0
    walk = made.walk()
    assert 0.03 < made.proved == walk.worst(stopped_walks.coefficients(walk, made.limits)) <= 0.05


def test_a_place_for_shipped_designs_that_cannot_be_written_is_an_error(cache, monkeypatch):
    made = designs.compute(designs.Declared("binary", 9, 0.1, True))
    (cache / "file").write_text("")
    monkeypatch.setattr(designs, "SHIPPED", cache)
    with pytest.raises(OSError, match="file"):
        designs.keep(cache / "file" / "designs.zip", [made])


@pytest.mark.parametrize(
    ("platform", "place"),
    [("win32", "local"), ("darwin", "home/Library/Caches"), ("linux", "cache")],
)
def test_each_system_keeps_designs_where_it_keeps_caches(platform, place, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", platform)
    for name, folder in (("LOCALAPPDATA", "local"), ("HOME", "home"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert designs._cache() == tmp_path / place / "surefoot" / "designs"


def test_progress_is_told_on_a_terminal_only_when_it_takes_long(monkeypatch, capsys):
    declared = designs.Declared("binary", 450, 0.05, True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = designs._Progress(declared)
    progress(0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(designs, "_PATIENCE", -math.inf)
    progress(0.5)
    progress(1.0)
    told = capsys.readouterr().err
    assert "Computing the exact design for 450 pairs (once; it is kept):  50%" in told
    assert told.endswith("100%\n")
