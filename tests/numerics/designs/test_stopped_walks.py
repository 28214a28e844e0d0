"""Tests of `surefoot.numerics.designs.stopped_walks`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.designs import exact_designs, stopped_walks
from tests.oracles import exact_designs as twin
from tests.support.exact_designs import KINDS, boundaries, every_family

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


# --- walks against brute force, for any boundary ---


@every_family
@every_side
@given(data=st.data())
@settings(max_examples=12)
def test_coefficients_are_the_counts_of_all_sequences(family, both, data):
    horizon = 5 if family == "binary" else 7
    limits = data.draw(boundaries(horizon))
    rule = twin.rule_from(limits.tolist(), both)
    counted = (twin.bernstein if family == "binary" else twin.paired_bernstein)(rule, horizon)
    found = stopped_walks.coefficients(KINDS[family](horizon, mirrored=both), limits)
    assert found == pytest.approx([float(b) for b in counted], abs=1e-14)


@every_family
def test_a_narrow_band_below_only_raises_the_error(family):
    horizon = 40
    shape = exact_designs.binary_limits if family == "binary" else exact_designs.paired_limits
    limits = shape(horizon, 2.0)
    whole = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False), limits)
    narrow = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False, depth=lambda _: 2), limits)
    assert (narrow >= whole - 1e-15).all()
    assert (narrow > whole + 1e-9).any()
    deep = exact_designs.deep(paired=family == "paired")
    used = stopped_walks.coefficients(KINDS[family](horizon, mirrored=False, depth=deep), limits)
    assert used == pytest.approx(whole, abs=1e-11)
