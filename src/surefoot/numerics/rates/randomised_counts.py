"""Bounds from the randomised count t = k + u, k binomial and u uniform on [0, 1], and how tight such bounds are.

Tightness. How far below a proportion its lower bound falls on average, and the proved maximum of that over proportions.

A lower bound that rises with the count k cuts [0, 1] at its values L_0 <= ... <= L_n. Between L_j and L_{j+1} a
proportion x is above the bound for certain at counts below j and for a share u_j(x) of the draws at count j. With
G_j(p) the integral of u_j up to p,

    shortage(p) = sum_k pmf(k; n, p) [ (p - L_{k+1})+ + G_k(p) ]
    slope(p)    = chance(bound <= p) - n sum_k pmf(k; n-1, p) m_k(p),   m_k = G_k + length_{k+1} - G_{k+1},

and every m_k grows with p while every pmf has one peak. So the slope is enclosed on any box by sums of non-negative
terms, and the enclosure gives an upper bound of the shortage on the box whose gap falls with the square of its width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import roots
from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats, Ints


_ALMOST_ZERO, _ALMOST_ONE = 1e-300, float(np.nextafter(1.0, 0.0))
_ROUNDING = 1e-13
_CHUNK = 64
_ROUNDS = 40


def low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X + U > k + u) = tail; 0 where k + u < 1 - tail and 1 where k + u > n + 1 - tail."""
    k, u, n, tail = _together(k, u, n, tail)
    with np.errstate(all="ignore"):
        none = -np.expm1(np.log((1.0 - tail) / u) / n)  # u (1-p)^n = 1 - tail
        every = np.exp(np.log(tail / (1.0 - u)) / n)  # (1-u) p^n = tail
    ends = np.where(k == 0, np.where(u > 1.0 - tail, none, 0.0), np.where(u < 1.0 - tail, every, 1.0))

    def lacking(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        mass = binomial.pmf(k, n, p)
        return binomial.at_least(k, n, p) - u * mass - tail, mass * (k - u * (k - n * p) / (1.0 - p)) / p

    def bracket(k: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        return binomial.exact_low(k, n, tail), binomial.exact_low(k + 1.0, n, tail)  # u = 0 and u = 1

    return _between(ends, lacking, bracket, k, u, n, tail)


def high(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """One minus the lower bound of the failures with the same u, solved for p so that a tiny p keeps its digits."""
    k, u, n, tail = _together(k, u, n, tail)
    with np.errstate(all="ignore"):
        every = np.exp(np.log((1.0 - tail) / u) / n)  # u p^n = 1 - tail
        none = -np.expm1(np.log(tail / (1.0 - u)) / n)  # (1-u) (1-p)^n = tail
    ends = np.where(k == n, np.where(u > 1.0 - tail, every, 1.0), np.where(u < 1.0 - tail, none, 0.0))

    def lacking(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        mass = binomial.pmf(k, n, p)
        return tail - binomial.at_most(k, n, p) + u * mass, mass * (n - k - u * (n * p - k) / p) / (1.0 - p)

    def bracket(k: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        return binomial.exact_high(k, n, tail), binomial.exact_high(k - 1.0, n, tail)  # u = 0 and u = 1

    return _between(ends, lacking, bracket, k, u, n, tail)


def unbiased(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> tuple[Floats, Floats]:
    """Both ends of the interval whose acceptance region [t1, t2] has size 1 - tail and is unbiased."""
    low, high = unbiased_low(k, u, n, tail), unbiased_high(k, u, n, tail)
    # At a confidence of a few percent the interval can be a single point, which rounding would turn inside out.
    middle = (low + high) / 2.0
    return np.minimum(low, middle), np.maximum(high, middle)


def unbiased_low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p whose unbiased acceptance region ends at t2 = k + u (Lehmann-Romano 5.5).

    The two conditions on t1 and t2 differ by (1-p) times the difference of their weights, P(t - 1 < X + U <= t) for
    n - 1: unbiased is equal weights.
    """
    k, u, n, tail = _together(k, u, n, tail)
    # Thresholds compare the draw, not k + u, which would lose digits of u for a large k.
    late = (k == n) & ((u > 1.0 - tail) | (u == 1.0 - tail) & (n > 1))
    inside = ~late & ((k > 1) | (k == 1) & (u > 1.0 - tail))
    answer: Floats = np.where(late, 1.0, 0.0)
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def excess(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        mass = binomial.pmf(k, n, p)
        over = binomial.at_least(k + 1.0, n, p) + (1.0 - u) * mass
        return _weight(*_first(np.maximum(tail - over, 0.0), n, p), n, p) - _weight(k, u, mass, n, p)

    most = np.clip(low(k, u, n, tail), _ALMOST_ZERO, _ALMOST_ONE)
    answer[inside] = roots.solve(excess, _ALMOST_ZERO, most, k, u, n, tail)
    return answer


def unbiased_high(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p whose unbiased acceptance region starts at t1 = k + u."""
    k, u, n, tail = _together(k, u, n, tail)
    early = (k == 0) & ((u < tail) | (u == tail) & (n > 1))
    inside = ~early & ((k < n - 1.0) | (k == n - 1.0) & (u < tail))
    answer: Floats = np.where(early, 0.0, 1.0)
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def excess(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        mass = binomial.pmf(k, n, p)
        under = binomial.at_most(k - 1.0, n, p) + u * mass
        return _weight(k, u, mass, n, p) - _weight(*_last(np.maximum(tail - under, 0.0), n, p), n, p)

    # At the left end of the bracket P(X + U <= t) = tail: the bound of the mirrored draw.
    least = np.clip(high(k, np.subtract(1.0, u), n, tail), _ALMOST_ZERO, _ALMOST_ONE)
    answer[inside] = roots.solve(excess, least, _ALMOST_ONE, k, u, n, tail)
    return answer


def _weight(k: Floats, u: Floats, mass: Floats, n: Floats, p: Floats) -> Floats:
    """P(k + u - 1 < X + U <= k + u) for n - 1, from the probability `mass` of k for n."""
    weight: Floats = mass * ((1.0 - u) * (k / (n * p)) + u * ((n - k) / (n * (1.0 - p))))
    return weight


def _first(level: Floats, n: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Whole and fractional part of the t with P(X + U <= t) = level, and the probability of the whole part."""
    whole = _search(lambda count: binomial.at_most(count, n, p) >= level, n)
    mass = binomial.pmf(whole, n, p)
    with np.errstate(all="ignore"):
        part = (level - binomial.at_most(whole - 1.0, n, p)) / mass
    return whole, np.clip(np.where(np.isfinite(part), part, 0.0), 0.0, 1.0), mass


def _last(level: Floats, n: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Whole and fractional part of the t with P(X + U > t) = level, and the probability of the whole part."""
    whole = _search(lambda count: binomial.at_least(count + 1.0, n, p) <= level, n)
    mass = binomial.pmf(whole, n, p)
    with np.errstate(all="ignore"):
        part = 1.0 - (level - binomial.at_least(whole + 1.0, n, p)) / mass
    return whole, np.clip(np.where(np.isfinite(part), part, 1.0), 0.0, 1.0), mass


def _search(enough: Callable[[Floats], Flags], n: Floats) -> Floats:
    """The first count in 0 ... n that is enough, for each element."""
    least, most = np.zeros(n.shape), np.array(n, float)
    while (least < most).any():
        middle = np.floor((least + most) / 2.0)
        found = enough(middle)
        least, most = np.where(found, least, np.minimum(middle + 1.0, most)), np.where(found, middle, most)
    return least


def _between(
    ends: Floats,
    function: Callable[..., tuple[Floats, Floats]],
    bracket: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]],
    *args: Floats,
) -> Floats:
    """The closed forms at no success and at no failure; elsewhere a root between the ends that u = 0 and u = 1 give."""
    k, _, n, _ = args
    inside = np.array((k > 0) & (k < n))
    answer: Floats = np.array(ends)
    if not inside.any():
        return answer
    k, u, n, tail = (x[inside] for x in args)
    plain, other = bracket(k, n, tail)
    answer[inside] = np.where(u == 0.0, plain, other)
    inside[inside] = between = (u > 0.0) & (u < 1.0)
    if between.any():
        sides = (np.clip(end(plain, other)[between], _ALMOST_ZERO, _ALMOST_ONE) for end in (np.minimum, np.maximum))
        answer[inside] = roots.newton(function, *sides, *(x[between] for x in (k, u, n, tail)))
    return answer


def _together(*items: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(item, float) for item in items)))


@dataclass(frozen=True)
class Curve:
    """The shortage of one lower bound as a function of the proportion.

    Attributes:
        n: The binomial total.
        edges: L_0 ... L_n and 1.
        fills: G_j over its whole piece, j = 0 ... n.
        tail: The error of the randomised bound; None for a bound without a draw.
    """

    n: int
    edges: Floats
    fills: Floats
    tail: float | None

    def value(self, points: ArrayLike) -> Floats:
        """The expected shortage at each point."""
        return self._read(np.atleast_1d(np.asarray(points, float)))[0]

    def maximise(self, tolerance: float) -> tuple[float, float, float]:
        """(low, high, at): low <= maximum over [0, 1] <= high, at most `tolerance` apart unless rounding forbids."""
        starts = np.linspace(0.0, 1.0, 17 + 2 * int(self.n**0.5))
        left, right = starts[:-1], starts[1:]
        best, at, closed = -np.inf, 0.0, -np.inf
        allowed = max(tolerance - 2.0 * _ROUNDING, 0.0)
        tops = np.empty(0)
        for _ in range(_ROUNDS):
            tops, value, place = self._bound(left, right)
            if value > best:
                best, at = value, place
            done = tops <= best + max(allowed, _ROUNDING)
            closed = max(closed, tops[done].max(initial=-np.inf))
            left, right, tops = left[~done], right[~done], tops[~done]
            if not len(left):
                break
            cuts = left[:, None] + (right - left)[:, None] * np.array([0.0, 0.25, 0.5, 0.75])
            left, right = cuts.ravel(), np.column_stack([cuts[:, 1:], right]).ravel()
        best, at = self._polish(best, at, float(starts[1]))
        high = max(best, closed, float(tops.max(initial=-np.inf)))
        return max(0.0, best - _ROUNDING), float(high + _ROUNDING), float(at)

    def _polish(self, best: float, at: float, reach: float) -> tuple[float, float]:
        """A better point near the best one; the curve is flat there, so a proof alone leaves it loose."""
        for _ in range(5):
            points = np.clip(np.linspace(at - reach, at + reach, 17), 0.0, 1.0)
            values = self.value(points)
            top = int(np.argmax(values))
            if values[top] > best:
                best, at = float(values[top]), float(points[top])
            reach /= 7.0
        return best, at

    def _bound(self, left: Floats, right: Floats) -> tuple[Floats, float, float]:
        """An upper bound of the shortage on each box, and the best end of a box with its place."""
        tops = np.empty(len(left))
        best, at = -np.inf, 0.0
        for first in range(0, len(left), _CHUNK):
            box = slice(first, first + _CHUNK)
            top, value, place = self._bound_chunk(left[box], right[box])
            tops[box] = top
            if value > best:
                best, at = value, place
        return tops, best, at

    def _bound_chunk(self, left: Floats, right: Floats) -> tuple[Floats, float, float]:
        points, index = np.unique(np.concatenate([left, right]), return_inverse=True)
        values, weights, masses, peaks, modes = self._read(points, slopes=True)
        a, b = index[: len(left)], index[len(left) :]
        width = right - left
        least = np.minimum(masses[a], masses[b])
        most = np.maximum(masses[a], masses[b])
        most = np.where((left[:, None] < modes) & (modes < right[:, None]), peaks, most)
        # What was left out of the sums is below 1e-16.
        falls_least = self.n * (least * weights[a]).sum(axis=1)
        falls_most = self.n * (most * weights[b]).sum(axis=1) + 1e-16
        steepest = self._chance(right, left) - falls_least
        shallowest = self._chance(left, right) - falls_most
        with np.errstate(all="ignore"):
            meet = (values[b] - values[a] - shallowest * width) / (steepest - shallowest)
        meet = np.clip(np.where(np.isfinite(meet), meet, 0.0), 0.0, width)
        tent = values[a] + steepest * meet
        tops = np.where(steepest <= 0.0, values[a], np.where(shallowest >= 0.0, values[b], tent))
        tops = np.maximum(tops, np.maximum(values[a], values[b]))
        top = int(np.argmax(values))
        return tops, float(values[top]), float(points[top])

    def _chance(self, cut: Floats, p: Floats) -> Floats:
        """P(bound <= cut) when the proportion is p."""
        if self.tail is not None:
            # For the randomised bound this is 1 - tail at cut = p, whatever p: the box needs no other value.
            return np.full(len(p), 1.0 - self.tail)
        return binomial.at_most(np.searchsorted(self.edges[:-1], cut, side="right") - 1.0, self.n, p)

    def _read(self, points: Floats, slopes: bool = False) -> tuple[Floats, ...]:
        """Shortage at the points and, for slopes, all that their enclosure needs."""
        first, _ = binomial.likely(self.n, float(points.min()))
        _, last = binomial.likely(self.n, float(points.max()))
        counts = np.arange(first, last + 1)
        filled = self._filled(points, first, last + 1)
        over = np.maximum(points[:, None] - self._edge(counts + 1), 0.0)
        full = self._masses(points, counts)
        held = (full * (over + filled[:, :-1])).sum(axis=1)
        if not slopes:
            return (held,)
        lengths = np.clip(
            points[:, None] - self._edge(counts + 1), 0.0, self._edge(counts + 2) - self._edge(counts + 1)
        )
        weights = filled[:, :-1] + np.maximum(lengths - filled[:, 1:], 0.0)
        below = self.n - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            masses = full * ((self.n - counts) / (self.n * (1.0 - points[:, None])))
        masses[points == 1.0] = counts == below
        modes = np.minimum(counts, below) / max(below, 1)
        peaks = binomial.pmf(np.minimum(counts, below), below, modes) * (counts <= below)
        return held, weights, masses, peaks, modes

    @cached_property
    def _choose(self) -> Floats:
        """Logarithms of the binomial coefficients."""
        logs: Floats = binomial.log_pmf(np.arange(self.n + 1), self.n, 0.5) + self.n * np.log(2.0)
        return logs

    def _masses(self, points: Floats, counts: Ints) -> Floats:
        """P(X = k) for points by counts: a few passes, right to about n roundings, which `_ROUNDING` allows for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.multiply.outer(np.log(points), counts) + np.multiply.outer(np.log1p(-points), self.n - counts)
        logs += self._choose[counts]
        masses: Floats = np.exp(logs, out=logs)
        certain = (points == 0.0) | (points == 1.0)
        masses[certain] = binomial.pmf(counts, self.n, points[certain][:, None])
        return masses

    def _edge(self, index: Ints) -> Floats:
        return self.edges[np.minimum(index, self.n + 1)]

    def _filled(self, points: Floats, first: int, last: int) -> Floats:
        """G_k at every point for k = first ... last; 0 for a piece not yet reached."""
        counts = np.arange(first, last + 1)
        whole = np.append(self.fills, 0.0)[np.minimum(counts, self.n + 1)]
        filled = np.where(points[:, None] >= self._edge(counts + 1), whole, 0.0)
        piece = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, self.n)
        inside = (piece >= first) & (piece <= last) & (points < self.edges[piece + 1]) & (points > self.edges[piece])
        rows, columns = np.flatnonzero(inside), piece[inside]
        if len(rows):
            filled[rows, columns - first] = _fill(columns, self.n, self.edges[columns], points[rows], self.tail)
        return filled


def optimal(n: int, tail: float) -> Curve:
    """The curve of the randomised lower bound with error `tail`."""
    lows = binomial.exact_low(np.arange(n + 1), n, tail)
    edges = np.append(lows, 1.0)
    return Curve(n, edges, _fill(np.arange(n + 1), n, edges[:-1], edges[1:], tail), tail)


def steps(lows: ArrayLike) -> Curve:
    """The curve of a bound without a draw, from its values at 0 ... n successes."""
    lows = np.asarray(lows, float)
    edges = np.append(lows, 1.0)
    if (np.diff(edges) < 0).any():
        raise ValueError("`lows` must rise with the count and stay at or below 1.")
    return Curve(len(lows) - 1, edges, np.diff(edges), None)


def _fill(piece: Ints, n: int, low: Floats, high: Floats, tail: float | None) -> Floats:
    """The integral of u_j from `low`, its piece's left edge, to `high`."""
    if tail is None:
        return high - low
    out = np.empty(len(piece))
    none, every = piece == 0, (piece == n) & (piece > 0)
    # u_0 = (1 - tail)(1-x)^-n and u_n = 1 - (low/x)^n have integrals in closed form.
    out[none] = (1.0 - tail) * _grown(-np.log1p(-np.minimum(high[none], 1.0 - 1e-16)), n - 1)
    ratio = np.log(high[every] / low[every])
    out[every] = (high[every] - low[every]) - low[every] * _grown(ratio, 1 - n)
    # Near either end a piece is wide and curved; elsewhere u_j is nearly straight.
    edge = ~none & ~every & (np.minimum(piece, n - piece) < 30)
    for chosen, nodes in ((edge, 32), (~none & ~every & ~edge, 10)):
        if chosen.any():
            out[chosen] = _quadrature(piece[chosen], n, low[chosen], high[chosen], tail, nodes)
    return out


def _grown(x: Floats, rate: int) -> Floats:
    """(exp(rate x) - 1) / rate, and x where the rate is 0."""
    return x if rate == 0 else np.expm1(rate * x) / rate


def _quadrature(piece: Ints, n: int, low: Floats, high: Floats, tail: float, nodes: int) -> Floats:
    """Gauss-Legendre in the log odds, where u_j has no pole near its piece however small the error is."""
    at, weight = np.polynomial.legendre.leggauss(nodes)
    start, stop = np.log(low / (1.0 - low)), np.log(high / (1.0 - high))
    odds = np.exp((start + stop)[:, None] / 2.0 + (stop - start)[:, None] / 2.0 * at)
    x = odds / (1.0 + odds)
    count = piece[:, None]
    share = (binomial.at_least(count, n, x) - tail) / binomial.pmf(count, n, x)
    area: Floats = (share * (x / (1.0 + odds))) @ weight * (stop - start) / 2.0
    return area


_NODES = 32


def unbiased_widths(n: int, tail: float) -> Floats:
    """Mean widths at 0 ... n successes: the Bernstein coefficients of the expected width.

    A proportion x is in the interval of count k for the draws u with t1(x) <= k + u <= t2(x); integrate their share
    over x. Between the x where t1 or t2 pass a whole number both lie in known cells, and the two conditions that
    define them are linear in their fractional parts.
    """
    lows = unbiased_low(np.arange(2, n + 1), 0.0, n, tail)  # t2 passes 2 ... n here
    highs = 1.0 - lows[::-1]  # t1 passes 1 ... n-1 here
    cuts = np.unique(np.concatenate([[0.0], lows, highs, [1.0]]))
    left, right = cuts[:-1], cuts[1:]
    middle = (left + right) / 2.0
    first, last = np.searchsorted(highs, middle), 1 + np.searchsorted(lows, middle)
    apart = first < last  # both in one cell: a single point, which rounding has made a piece
    left, right, first, last = left[apart], right[apart], first[apart], last[apart]
    x, weight = _nodes(left, right)
    start, stop = _parts(first[:, None], last[:, None], n, x, tail)
    widths = np.zeros(n + 2)
    np.add.at(widths, first + 1, right - left)  # cells strictly between the two are covered by every draw
    np.add.at(widths, last, left - right)
    widths = np.cumsum(widths)[: n + 1]
    np.add.at(widths, first, ((1.0 - start) * weight).sum(axis=1))
    np.add.at(widths, last, (stop * weight).sum(axis=1))
    return widths


def _nodes(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights: in the log odds, except on the pieces that touch 0 or 1."""
    at, weight = np.polynomial.legendre.leggauss(_NODES)
    with np.errstate(divide="ignore"):
        start, stop = np.log(left / (1.0 - left)), np.log(right / (1.0 - right))
    plain = ~(np.isfinite(start) & np.isfinite(stop))
    start, stop = np.where(plain, left, start), np.where(plain, right, stop)
    y = (start + stop)[:, None] / 2.0 + (stop - start)[:, None] / 2.0 * at
    x = np.where(plain[:, None], y, 1.0 / (1.0 + np.exp(-y)))
    scale = np.where(plain[:, None], 1.0, x * (1.0 - x))
    return x, scale * weight * (stop - start)[:, None] / 2.0


def _parts(first: Ints, last: Ints, n: int, x: Floats, tail: float) -> tuple[Floats, Floats]:
    """The fractional parts of t1 and t2 in the cells `first` and `last`."""
    # Size 1 - tail is stop b2 - start b1 = outside; unbiased is equal interpolated weights of n - 1 at t1 and t2.
    outside = binomial.at_most(first - 1, n, x) + binomial.at_least(last, n, x) - tail
    b1, b2 = binomial.pmf(first, n, x), binomial.pmf(last, n, x)
    before1, after1 = binomial.pmf(first - 1, n - 1, x), binomial.pmf(first, n - 1, x)
    before2, after2 = binomial.pmf(last - 1, n - 1, x), binomial.pmf(last, n - 1, x)
    rise, fall, apart = after1 - before1, after2 - before2, before2 - before1
    scale = rise * b2 - fall * b1
    start, stop = (apart * b2 + fall * outside) / scale, (outside * rise + apart * b1) / scale
    return np.clip(start, 0.0, 1.0), np.clip(stop, 0.0, 1.0)
