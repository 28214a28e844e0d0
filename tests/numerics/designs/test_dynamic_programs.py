"""Tests of `surefoot.numerics.designs.exact_designs`."""

import math

import numpy as np
import pytest

from surefoot.numerics.designs import exact_designs, stopped_walks
from tests.support.exact_designs import KINDS, every_family

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


@every_family
@every_side
def test_the_programme_is_the_one_written_down(family, both):
    # Backwards over a dictionary of states, every chance from its formula; methods.md sections 10 and 10b.
    horizon, cost = 7, 9.0
    points = exact_designs.Alternatives(
        np.array([0.2, 0.3, 0.1]), np.array([0.6, 0.5, 0.45]), np.array([0.5, 0.3, 0.2])
    )
    chances = exact_designs.binary_chances if family == "binary" else exact_designs.paired_chances
    nulls = exact_designs.binomial_laws(14, 5) if family == "binary" else np.eye(8)[1:]
    walk = KINDS[family](horizon, mirrored=both)
    made = exact_designs.Programme(walk, chances(points, horizon), nulls, cost, stopped_walks.everything)
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


def test_a_bounding_programme_is_never_above():
    points, nulls = exact_designs.thirty_five(), exact_designs.binomial_laws(60, 31)
    weights = np.full(31, 10.0)
    walk = stopped_walks.BinaryWalk(30, mirrored=True)

    def value(reach: int, *, bounding: bool) -> float:
        chances = exact_designs.binary_chances(points, 30)
        made = exact_designs.Programme(walk, chances, nulls, 25.0, lambda _: reach, bounding=bounding)
        return made.respond(weights)[0]

    whole = value(30, bounding=False)
    assert value(30, bounding=True) == pytest.approx(whole, rel=1e-13)
    assert value(6, bounding=True) < whole < value(6, bounding=False)
