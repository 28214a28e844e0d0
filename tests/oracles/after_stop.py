"""After the stop (methods.md section 17), state by state and sequence by sequence, from the formulas.

A rule is `decide(n, second, first)` as in `exact_designs`; moves are (second's step, first's step). A run ends by a
verdict, at the horizon, or where it is given up: a set of states (n, second, first).
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from tests.oracles.exact_designs import Rule

State = tuple[int, int, int]
STREAMS = [(0, 0), (0, 1), (1, 0), (1, 1)]
PAIRS = [(0, 0), (0, 1), (1, 0)]


def foreseen(decide: Rule, horizon: int, moves: list[tuple[int, int]]) -> Callable[[int, int, int], Fraction]:
    """The chance of any verdict from a state: two rates uniform beforehand, seen through the counts."""
    known: dict[State, Fraction] = {}

    def weight(n: int, s: int, f: int, move: tuple[int, int]) -> Fraction:
        if len(moves) == 4:
            ours, theirs = (Fraction(count + 1, n + 2) for count in (f, s))
            return (theirs if move[0] else 1 - theirs) * (ours if move[1] else 1 - ours)
        differ, won = Fraction(f + s + 1, n + 2), Fraction(f + 1, f + s + 2)
        return {(0, 0): 1 - differ, (0, 1): differ * won, (1, 0): differ * (1 - won)}[move]

    def chance(n: int, s: int, f: int) -> Fraction:
        if n and decide(n, s, f):
            return Fraction(1)
        if n == horizon:
            return Fraction(0)
        if (n, s, f) not in known:
            known[n, s, f] = sum((weight(n, s, f, (a, b)) * chance(n + 1, s + a, f + b) for a, b in moves), Fraction(0))
        return known[n, s, f]

    return chance


def runs(decide: Rule, horizon: int, moves: list[tuple[int, int]], quits: Callable[..., bool]) -> Iterator[list]:
    """Every sequence of moves up to where its run ends."""

    def grow(steps: list[tuple[int, int]], s: int, f: int) -> Iterator[list]:
        n = len(steps)
        if n and (decide(n, s, f) or n == horizon or quits(n, s, f)):
            yield steps
            return
        for a, b in moves:
            yield from grow([*steps, (a, b)], s + a, f + b)

    return grow([], 0, 0)


def rao_blackwell(decide: Rule, horizon: int, moves: list[tuple[int, int]], quits: Callable[..., bool]) -> dict:
    """The mean gain of the first pair over all sequences that end in a state: all are alike given its counts."""
    seen: dict[State, list[int]] = {}
    for steps in runs(decide, horizon, moves, quits):
        end = len(steps), sum(a for a, _ in steps), sum(b for _, b in steps)
        seen.setdefault(end, []).append(steps[0][1] - steps[0][0])
    return {end: Fraction(sum(gains), len(gains)) for end, gains in seen.items()}


def survival(decide: Rule, horizon: int, moves: list[tuple[int, int]], quits: Callable[..., bool]) -> dict:
    """P(counts reached without ending before | counts) of every end: sequences that do, over all with those counts."""
    ways: dict[State, int] = {}
    for steps in runs(decide, horizon, moves, quits):
        end = len(steps), sum(a for a, _ in steps), sum(b for _, b in steps)
        ways[end] = ways.get(end, 0) + 1
    every = {
        (n, s, f): math.comb(n, s) * math.comb(n, f) if len(moves) == 4 else math.comb(n, s) * math.comb(n - s, f)
        for n, s, f in ways
    }
    return {end: Fraction(count, every[end]) for end, count in ways.items()}


def law(end: State, chance: float, first: float, second: float, *, streams: bool) -> float:
    """P(the run ends there) at two success rates; or at the chances of a win by one policy alone."""
    n, s, f = end
    if streams:
        ours = math.comb(n, f) * first**f * (1 - first) ** (n - f)
        return chance * ours * math.comb(n, s) * second**s * (1 - second) ** (n - s)
    ways = math.comb(n, s) * math.comb(n - s, f)
    return chance * ways * first**f * second**s * (1 - first - second) ** (n - s - f)


def betting_chance(values: list[float], need: float, left: int) -> float:
    """2 Phi((left m - sqrt(2 need left v)) / sqrt(v left (1 + left/n))), at most 1."""
    n = len(values)
    mean = math.fsum(values) / (n + 2)
    variance = max((0.2 + math.fsum(value**2 for value in values)) / (n + 1) - mean**2, 1e-4)
    z = (left * mean - math.sqrt(2 * max(need, 0.0) * left * variance)) / math.sqrt(variance * left * (1 + left / n))
    return min(1.0, math.erfc(-z / math.sqrt(2)))


def every_state(horizon: int, moves: list[tuple[int, int]]) -> Iterator[State]:
    """All states before the horizon."""
    for n in range(1, horizon):
        for s, f in product(range(n + 1), repeat=2):
            if len(moves) == 4 or s + f <= n:
                yield n, s, f


def reached(
    decide: Rule, horizon: int, moves: list[tuple[int, int]], quits: Callable[..., bool]
) -> dict[State, tuple[int, float]]:
    """Every end with its verdict and P(not ended before | counts), by the recursion over counts."""
    before, out = {(0, 0): 1.0}, {}
    for n in range(1, horizon + 1):
        now: dict[tuple[int, int], float] = {}
        for (s0, f0), q in before.items():
            for a, b in moves:
                s, f = s0 + a, f0 + b
                if len(moves) == 4:
                    share = (s if a else n - s) / n * ((f if b else n - f) / n)
                else:
                    share = {(0, 0): n - s - f, (0, 1): f, (1, 0): s}[a, b] / n
                now[s, f] = now.get((s, f), 0.0) + share * q
        before = {}
        for (s, f), q in now.items():
            verdict = decide(n, s, f)
            if verdict or n == horizon or quits(n, s, f):
                out[n, s, f] = verdict, q
            else:
                before[s, f] = q
    return out


EDGES = (0.0, 0.1, 0.2, 0.3, 0.45, 1.0)


def score(end: State, c: float, *, streams: bool) -> float:
    """z_c = ((x - y)/n - c) / sqrt(v/n), v at the rates fitted with the gain c."""
    n, y, x = end
    if streams:
        p0 = min(max((x + y + 1) / (2 * n + 2) - c / 2, 0.0), 1 - c)
        p1 = p0 + c
        v = p1 * (1 - p1) + p0 * (1 - p0)
    else:
        v = max((x + y + 0.5) / (n + 1), c) - c * c
    return ((x - y) / n - c) / math.sqrt(v / n)


def root(end: State) -> float:
    """The signed root of the likelihood ratio of the pairs that differ."""
    _, y, x = end
    total = sum(2 * k * math.log(2 * k / (x + y)) for k in (x, y) if k)
    return math.copysign(math.sqrt(max(total, 0.0)), x - y)


def rates(gain: float, share: float, *, streams: bool) -> tuple[float, float]:
    """(first, second) with this gain, `share` of the way through what the second may be."""
    second = share * (1 - gain) / (1 if streams else 2)
    return second + gain, second


def upper_tail(ends: dict, end: State, gain: float, share: float, *, streams: bool) -> float:
    """P(a verdict for the first policy at least as far as `end`) at a gain: what decides the near end."""
    n, s, f = end

    def further(other: State) -> bool:
        if not streams:
            return root(other) >= root(end) - 1e-12
        return other[0] < n or (other[0] == n and other[2] - other[1] >= f - s)

    chosen = ((other, q) for other, (verdict, q) in ends.items() if verdict > 0 and further(other))
    first, second = rates(gain, share, streams=streams)
    return math.fsum(law(other, q, first, second, streams=streams) for other, q in chosen)


def lower_tail(ends: dict, end: State, gain: float, share: float, c: float, *, streams: bool) -> float:
    """P(at most as far as `end`, a verdict for the second policy lowest) at a gain: what decides the far end."""
    limit = score(end, c, streams=streams) + 1e-12
    first, second = rates(gain, share, streams=streams)
    return math.fsum(
        law(other, q, first, second, streams=streams)
        for other, (verdict, q) in ends.items()
        if verdict < 0 or score(other, c, streams=streams) <= limit
    )
