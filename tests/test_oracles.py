"""Do the slow twins agree with the stored reference values, and with each other?"""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles import one_rate, shortage
from tests.oracles.common import dec, z_two_sided
from tests.reference import cases, doc, groups

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
    assert len(groups()) == 39
    assert sum(len(cases(group)) for group in groups()) == 962
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


def test_max_expected_shortage_of_one_rollout_has_a_closed_form() -> None:
    assert shortage.max_optimal_shortage(1, 0.95)[0] == close(0.95 + 0.05 * math.log(0.05), tol=1e-9)
