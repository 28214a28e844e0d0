"""A twin of the acceptance test, from Wald's lines and the definition of its two errors, in fractions."""

import math
from fractions import Fraction
from functools import cache

from tests.oracles.common import frac


def law(accept: list[int], reject: list[int], rate: Fraction) -> dict[tuple[int, int, str], Fraction]:
    """P(the test ends after n rollouts with f failures, and how), path by path: every count from the one before."""
    horizon = len(accept) - 1
    going: dict[int, Fraction] = {0: Fraction(1)}
    ended: dict[tuple[int, int, str], Fraction] = {}
    for n in range(1, horizon + 1):
        after: dict[int, Fraction] = {}
        for f, chance in going.items():
            after[f] = after.get(f, Fraction(0)) + chance * rate
            after[f + 1] = after.get(f + 1, Fraction(0)) + chance * (1 - rate)
        going = {}
        for f, chance in after.items():
            if f <= accept[n]:
                ended[n, f, "accepted"] = chance
            elif f >= reject[n]:
                ended[n, f, "rejected"] = chance
            elif n == horizon:
                ended[n, f, "undecided"] = chance
            else:
                going[f] = chance
    return ended


def chance(accept: list[int], reject: list[int], rate: float | Fraction, verdict: str) -> Fraction:
    """P(this verdict) at the rate."""
    return sum((p for (_, _, v), p in law(accept, reject, frac(rate)).items() if v == verdict), Fraction(0))


@cache
def tail(count: int, n: int, rate: Fraction) -> Fraction:
    """P(at most `count` failures in n rollouts)."""
    return sum((math.comb(n, f) * rate ** (n - f) * (1 - rate) ** f for f in range(count + 1)), Fraction(0))


def closings(good: float, bad: float, error: float, n: int) -> list[int]:
    """Every c such that "accept at most c failures of n" keeps both errors."""
    level = frac(error)
    return [c for c in range(n) if tail(c, n, frac(bad)) <= level and 1 - tail(c, n, frac(good)) <= level]


def fixed_size(good: float, bad: float, error: float) -> int:
    """The least n with such a c, by trying all."""
    n = 1
    while not closings(good, bad, error, n):
        n += 1
    return n


def design(good: float, bad: float, error: float) -> tuple[list[int], list[int]]:
    """Boundaries: horizon 1.5 fixed sizes, closed at the c next to the middle, lines moved in step by step."""
    horizon = math.ceil(1.5 * fixed_size(good, bad, error))
    while not closings(good, bad, error, horizon):
        horizon += 1
    win, loss = math.log(good / bad), math.log((1 - bad) / (1 - good))
    slope = win / (win + loss)
    last = min(closings(good, bad, error, horizon), key=lambda c: abs(c + 0.5 - slope * horizon))

    def lines(below: float, above: float) -> tuple[list[int], list[int]]:
        accept, reject = [-1], [1]
        for n in range(1, horizon + 1):
            a = max(math.floor(slope * n - below + 1e-12), last - (horizon - n), -1)
            r = min(max(math.ceil(slope * n + above - 1e-12), a + 1), last + 1)
            accept.append(min(a, last))
            reject.append(max(r, 1))
        accept[horizon], reject[horizon] = last, last + 1
        return accept, reject

    # The places where a line meets a lattice point, from far out to the middle.
    belows = sorted({slope * n - f for n in range(horizon + 1) for f in range(n + 1) if slope * n - f >= 0})[::-1]
    aboves = sorted({f - slope * n for n in range(horizon + 1) for f in range(n + 1) if f - slope * n >= 0})[::-1]
    at, to = 0, 0
    while True:
        old = at, to
        while at + 1 < len(belows) and _kept(lines(belows[at + 1], aboves[to]), bad, error, "accepted"):
            at += 1
        while to + 1 < len(aboves) and _kept(lines(belows[at], aboves[to + 1]), good, error, "rejected"):
            to += 1
        if (at, to) == old:
            return lines(belows[at], aboves[to])


def _kept(limits: tuple[list[int], list[int]], rate: float, error: float, verdict: str) -> bool:
    """In floats: the twin's own recursion is the same, and a hundred times faster than in fractions."""
    going, total = {0: 1.0}, 0.0
    accept, reject = limits
    for n in range(1, len(accept)):
        after: dict[int, float] = {}
        for f, p in going.items():
            after[f] = after.get(f, 0.0) + p * rate
            after[f + 1] = after.get(f + 1, 0.0) + p * (1 - rate)
        going = {}
        for f, p in after.items():
            if f <= accept[n]:
                total += p if verdict == "accepted" else 0.0
            elif f >= reject[n]:
                total += p if verdict == "rejected" else 0.0
            else:
                going[f] = p
    return total <= error
