"""Tests of `surefoot.numerics.designs.operating`."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.designs import design_search, operating
from surefoot.numerics.designs.operating import characteristics, onward
from surefoot.sequential import ExactPairedBinary
from tests.oracles import exact_designs as twin
from tests.support.exact_designs import KINDS, boundaries, every_family

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


@every_family
@every_side
@given(data=st.data())
@settings(max_examples=8)
def test_stopping_chances_are_those_of_the_slow_walk(family, both, data):
    horizon = 11
    limits = data.draw(boundaries(horizon))
    second, first = data.draw(st.sampled_from([(0.2, 0.5), (0.35, 0.3), (0.0, 0.4), (0.45, 0.55)]))
    walk = KINDS[family](horizon, mirrored=both)
    rule = twin.rule_from(limits.tolist(), both)
    for given_up in (False, True):
        quits = design_search.unreachable(limits, mirrored=both) if given_up else None
        found = characteristics(walk, limits, second, first, quits=quits)
        if family == "binary":
            slow = twin.walk(rule, horizon, second, first, given_up)
        else:
            slow = twin.paired_walk(rule, horizon, first, second, given_up)
        assert found.first.sum() == pytest.approx(slow["first"], abs=1e-13)
        assert found.second.sum() == pytest.approx(slow["second"], abs=1e-13)
        assert found.pairs[0] == pytest.approx(slow["expected"], abs=1e-12)
    assert onward(walk, limits, (0, 0, 0), second, first) == pytest.approx((slow["first"], slow["second"]), abs=1e-13)


def test_chances_over_a_list_are_those_of_all_its_orders():
    rule = ExactPairedBinary(horizon=8, claim="either")
    limits = rule.design.limits
    for first, second, population in ((4, 1, 8), (3, 3, 8), (5, 2, 9), (0, 0, 8)):
        found = operating.over_list(rule.design.walk(), limits, first, second, population)
        items = [1] * first + [-1] * second + [0] * (population - first - second)
        every = sorted(set(itertools.permutations(items)))
        stops = Counter()
        for order in every:
            for n in range(1, 9):
                b, c = order[:n].count(1), order[:n].count(-1)
                if b > limits[n, c] or c > limits[n, b]:
                    stops[n, "first" if b > limits[n, c] else "second"] += 1
                    break
        for n in range(1, 9):
            assert found.first[0, n] == pytest.approx(stops[n, "first"] / len(every), abs=1e-12)
            assert found.second[0, n] == pytest.approx(stops[n, "second"] / len(every), abs=1e-12)
