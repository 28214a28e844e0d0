"""Exact binary designs (methods.md sections 10 and 10b), walked state by state: who is declared better, and when.

A rule is a function `decide(n, s0, s1)`: +1 "first better", -1 "second better", 0 go on; s1 successes of the first
policy, s0 of the second. Paired rules are `decide(n, c, b)` with b first-only and c second-only wins, so the same
boundary array cz serves both. Everything is brute force; N up to about 30 for walks, 6 to 8 for enumerations.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

Rule = Callable[[int, int, int], int]


def rule_from(cz: Sequence[Sequence[int]], either: bool = True) -> Rule:
    """First better iff s1 > cz[n][s0]; mirrored, second better iff s0 > cz[n][s1] (when `either`)."""

    def decide(n: int, s0: int, s1: int) -> int:
        first = s1 > cz[n][s0]
        second = either and s0 > cz[n][s1]
        assert not (first and second), f"the boundary declares both better at n={n}, s0={s0}, s1={s1}"
        return int(first) - int(second)

    return decide


def formula_rule(horizon: int, c: float, either: bool = True) -> Rule:
    """sqrt(2n)[asin sqrt((s1+.5)/(n+1)) - asin sqrt((s0+.5)/(n+1))] >= c h(n), n of N.

    h(n) = sqrt(1 + .15 ln(N/n)) (1 - .22 exp(-sqrt((N - n)/(.06 N)))).
    """

    def decide(n: int, s0: int, s1: int) -> int:
        limit = c * math.sqrt(1 + 0.15 * math.log(horizon / n))
        limit *= 1 - 0.22 * math.exp(-math.sqrt((horizon - n) / (0.06 * horizon)))
        angle = math.asin(math.sqrt((s1 + 0.5) / (n + 1))) - math.asin(math.sqrt((s0 + 0.5) / (n + 1)))
        value = math.sqrt(2 * n) * angle
        return int(value >= limit) - int(either and -value >= limit)

    return decide


def paired_formula_rule(horizon: int, k: float, either: bool = True) -> Rule:
    """2 sqrt(m)[asin sqrt((b+3/8)/(m+3/4)) - pi/4] >= k sqrt(1+.45 ln(N/n)) (1-.2 e^(-sqrt((N-n)/.1N))), m = b+c."""

    def decide(n: int, c: int, b: int) -> int:
        limit = k * math.sqrt(1 + 0.45 * math.log(horizon / n))
        limit *= 1 - 0.2 * math.exp(-math.sqrt((horizon - n) / (0.1 * horizon)))

        def value(wins: int) -> float:
            m = b + c
            return 2 * math.sqrt(m) * (math.asin(math.sqrt((wins + 0.375) / (m + 0.75))) - math.pi / 4)

        return int(value(b) >= limit) - int(either and value(c) >= limit)

    return decide


def _walk(decide: Rule, horizon: int, moves: list[tuple[int, int, float]], curtail: bool) -> dict[str, float]:
    """Forward probabilities of every living state; an undecided run counts N pairs unless curtailed."""
    hopeless = _hopeless(decide, horizon, [(a, b) for a, b, _ in moves]) if curtail else set()
    alive = {(0, 0): 1.0}
    out = {"first": 0.0, "second": 0.0, "undecided": 0.0, "expected": 0.0}
    for n in range(1, horizon + 1):
        fresh: dict[tuple[int, int], float] = {}
        for (s0, s1), mass in alive.items():
            for a, b, chance in moves:
                fresh[s0 + a, s1 + b] = fresh.get((s0 + a, s1 + b), 0.0) + mass * chance
        alive = {}
        for (s0, s1), mass in fresh.items():
            verdict = decide(n, s0, s1)
            if verdict:
                out["first" if verdict > 0 else "second"] += mass
                out["expected"] += n * mass
            elif n == horizon or (n, s0, s1) in hopeless:
                out["undecided"] += mass
                out["expected"] += n * mass
            else:
                alive[s0, s1] = mass
    return out


def _hopeless(decide: Rule, horizon: int, moves: list[tuple[int, int]]) -> set[tuple[int, int, int]]:
    """Undecided states from which no decision state can be reached any more, backwards from N."""
    out: set[tuple[int, int, int]] = set()
    for n in range(horizon, 0, -1):
        for s0, s1 in product(range(n + 1), repeat=2):
            if max(a + b for a, b in moves) == 1 and s0 + s1 > n:
                continue
            after = ((n + 1, s0 + a, s1 + b) for a, b in moves)
            if not decide(n, s0, s1) and (n == horizon or all(state in out for state in after)):
                out.add((n, s0, s1))
    return out


def walk(decide: Rule, horizon: int, p0: float, p1: float, curtail: bool = False) -> dict[str, float]:
    """Exact {first, second, undecided, expected} at rates p0 (second policy) and p1 (first policy)."""
    moves = [(a, b, (p0 if a else 1 - p0) * (p1 if b else 1 - p1)) for a in (0, 1) for b in (0, 1)]
    return _walk(decide, horizon, moves, curtail)


def paired_walk(decide: Rule, horizon: int, u: float, v: float, curtail: bool = False) -> dict[str, float]:
    """The same for pairs: first-only with chance u, second-only with chance v."""
    return _walk(decide, horizon, [(0, 0, 1 - u - v), (0, 1, u), (1, 0, v)], curtail)


def false_rate(decide: Rule, horizon: int, p: float) -> float:
    """f(p): P("first better") when both rates are p."""
    return walk(decide, horizon, p, p)["first"]


def _first_verdict(decide: Rule, steps: Sequence[tuple[int, int]]) -> int:
    """The verdict of one whole sequence of (second, first) outcomes."""
    s0 = s1 = 0
    for n, (a, b) in enumerate(steps, 1):
        s0, s1 = s0 + a, s1 + b
        verdict = decide(n, s0, s1)
        if verdict:
            return verdict
    return 0


def bernstein(decide: Rule, horizon: int) -> list[Fraction]:
    """b_m = P("first better" | m successes among the 2N rollouts): all 4^N sequences, one after another."""
    wins = [0] * (2 * horizon + 1)
    for steps in product([(0, 0), (0, 1), (1, 0), (1, 1)], repeat=horizon):
        if _first_verdict(decide, steps) > 0:
            wins[sum(a + b for a, b in steps)] += 1
    return [Fraction(w, math.comb(2 * horizon, m)) for m, w in enumerate(wins)]


def paired_bernstein(decide: Rule, horizon: int) -> list[Fraction]:
    """b_m = P("first better" | m discordant among N, in random order, each a fair coin): all 3^N sequences."""
    wins = [0] * (horizon + 1)
    for steps in product([(0, 0), (0, 1), (1, 0)], repeat=horizon):
        if _first_verdict(decide, steps) > 0:
            wins[sum(a + b for a, b in steps)] += 1
    return [Fraction(w, math.comb(horizon, m) * 2**m) for m, w in enumerate(wins)]


def survival(decide: Rule, horizon: int) -> list[dict[tuple[int, int], float]]:
    """q_n(s0, s1) = P(no decision before n | s0, s1): sum of w_a(s0) w_b(s1) q_{n-1} over undecided states."""
    q: list[dict[tuple[int, int], float]] = [{(0, 0): 1.0}]
    for n in range(1, horizon + 1):
        now = {}
        for s0, s1 in product(range(n + 1), repeat=2):
            total = 0.0
            for a, b in product((0, 1), repeat=2):
                before = s0 - a, s1 - b
                if before in q[-1] and (n == 1 or not decide(n - 1, *before)):
                    total += (s0 if a else n - s0) / n * ((s1 if b else n - s1) / n) * q[-1][before]
            now[s0, s1] = total
        q.append(now)
    return q


def paired_survival(decide: Rule, horizon: int) -> list[dict[tuple[int, int], float]]:
    """q_n(c, b) = (b/n) q_{n-1}(c, b-1) + (c/n) q_{n-1}(c-1, b) + ((n-b-c)/n) q_{n-1}(c, b), undecided only."""
    q: list[dict[tuple[int, int], float]] = [{(0, 0): 1.0}]
    for n in range(1, horizon + 1):
        now = {}
        for c in range(n + 1):
            for b in range(n + 1 - c):
                total = 0.0
                for before, ways in (((c, b - 1), b), ((c - 1, b), c), ((c, b), n - b - c)):
                    if before in q[-1] and (n == 1 or not decide(n - 1, *before)):
                        total += ways / n * q[-1][before]
                now[c, b] = total
        q.append(now)
    return q


def bernstein_by_recursion(decide: Rule, horizon: int) -> list[float]:
    """The unpaired b_m from q: a first decision at (n, s0, s1) leaves m - s0 - s1 successes in 2(N - n) rollouts."""
    out = [0.0] * (2 * horizon + 1)
    for n, states in enumerate(survival(decide, horizon)):
        for (s0, s1), q in states.items():
            if n and decide(n, s0, s1) > 0:
                for m in range(s0 + s1, s0 + s1 + 2 * (horizon - n) + 1):
                    ways = math.comb(n, s0) * math.comb(n, s1) * math.comb(2 * (horizon - n), m - s0 - s1)
                    out[m] += q * ways / math.comb(2 * horizon, m)
    return out


def paired_bernstein_by_recursion(decide: Rule, horizon: int) -> list[float]:
    """The paired b_m from q: C(n,k) C(N-n,m-k)/C(N,m) * C(k,b)/2^k * q at every first decision, k = b + c."""
    out = [0.0] * (horizon + 1)
    for n, states in enumerate(paired_survival(decide, horizon)):
        for (c, b), q in states.items():
            if n and decide(n, c, b) > 0:
                k = b + c
                for m in range(k, k + horizon - n + 1):
                    ways = math.comb(n, k) * math.comb(horizon - n, m - k) / math.comb(horizon, m)
                    out[m] += q * ways * math.comb(k, b) / 2**k
    return out


def from_bernstein(coefficients: Sequence[float | Fraction], p: float) -> float:
    """Sum of b_m Bin(m; degree, p)."""
    degree = len(coefficients) - 1
    return math.fsum(
        float(b) * math.comb(degree, m) * p**m * (1 - p) ** (degree - m) for m, b in enumerate(coefficients)
    )
