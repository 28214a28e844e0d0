"""Tests of `surefoot.numerics.designs.design_search`."""

import numpy as np
import pytest

from surefoot.numerics.designs import design_search, exact_designs
from tests.support.exact_designs import every_family

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


@every_side
def test_the_value_is_that_of_the_boundary_it_gives(both):
    # Lagrange: value = pairs + cost x (1 - power) + sum of w x error, in each direction.
    made = exact_designs.binary_programme(24, 0.05, exact_designs.for_binary(), 20.0, mirrored=both)
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
        made = exact_designs.binary_programme(24, 0.05, exact_designs.for_binary(), 20.0, mirrored=both, bounding=True)
        shape = exact_designs.binary_limits
    else:
        made = exact_designs.paired_programme(24, 0.05, mirrored=both, bounding=True)
        shape = exact_designs.paired_limits
    weights = np.random.default_rng(3).uniform(0.2, 3.0, len(made.nulls))
    bound, own = design_search.dual_bound(made, weights, 0.05)
    for limits in (own, design_search.monotone(own), shape(24, 1.5), shape(24, 2.0), shape(24, 2.5)):
        seen = made.assess(limits)
        assert bound <= seen.objective + weights @ (made.nulls @ seen.coefficients - 0.05) + 1e-9


def test_no_boundary_is_given_that_does_not_keep_the_error(monkeypatch):
    made = exact_designs.paired_programme(6, 0.05, mirrored=True)
    nothing = np.full(len(made.nulls), 1e-12)  # errors cost nothing: every lead decides, and ten repairs do not help
    monkeypatch.setattr(design_search, "_REPAIRS", 10)
    with pytest.raises(design_search.NoBoundaryError, match="No boundary was found that keeps the error"):
        design_search.search(made, 1e-9, design_search.Ascent(0.5, 40.0, 1), checks=np.eye(7), weights=nothing, tries=1)


def test_a_boundary_keeps_the_error_and_the_work_is_told():
    made = exact_designs.paired_programme(8, 0.2, mirrored=True)
    told = []
    ascent, checks = design_search.Ascent(0.5, 40.0, 5), np.eye(9)
    limits = design_search.search(made, 0.2, ascent, checks=checks, report=told.append)
    assert (checks @ made.assess(limits).coefficients).max() <= 0.2 + 1e-12
    assert (np.diff(limits, axis=1) >= 0).all()
    assert told == sorted(told)
    assert told[:5] == pytest.approx([0.14, 0.28, 0.42, 0.56, 0.7])
    assert told[-1] == pytest.approx(1.0)
    bounds = [bound for bound, _ in design_search.ascend(made, 0.2, ascent)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] <= made.assess(limits).objective
