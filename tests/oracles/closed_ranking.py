"""A ranking by closed testing over weak orders, one gambler at a time: methods.md section 18 as written.

Policies are 0, 1, 2, ...; a hypothesis is what `weak_orders`, `best_sets` or `against` list. Slow on purpose: dicts and
loops, no arrays. Two numbers that differ by less than `NIL` count as equal, so that the order of a sum decides nothing.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NIL = 1e-12
GRID = 16

Groups = list[list[int]]


class Hypothesis(NamedTuple):
    """What one gambler bets against: the kind of order, and a rank for each policy, low is good."""

    kind: str
    ranks: tuple[int, ...]


def weak_orders(size: int) -> Iterator[Hypothesis]:
    """Every ranking with ties."""
    for ranks in itertools.product(range(size), repeat=size):
        if set(ranks) == set(range(max(ranks) + 1)):
            yield Hypothesis("chain", ranks)


def best_sets(size: int) -> Iterator[Hypothesis]:
    """Every set that may be tied best: rank 0 inside, 1 outside."""
    for inside in itertools.product((0, 1), repeat=size):
        if 0 in inside:
            yield Hypothesis("star", inside)


def best_ones(size: int) -> Iterator[Hypothesis]:
    """Every policy that may be at least as good as all others."""
    for best in range(size):
        yield Hypothesis("at least", tuple(int(a != best) for a in range(size)))


def against(size: int, baseline: int) -> Iterator[Hypothesis]:
    """Every way the others may stand to the baseline: -1 above it, 0 equal, 1 below."""
    for signs in itertools.product((-1, 0, 1), repeat=size):
        if signs[baseline] == 0:
            yield Hypothesis("star", signs)


def blocks(one: Hypothesis, a: int, b: int) -> bool:
    """Whether the hypothesis contradicts the claim that a is better than b (or does not imply it)."""
    return one.kind == "at least" or not one.ranks[a] < one.ranks[b]


def chain_groups(ranks: Mapping[int, int], mean: Mapping[int, float], omega: Mapping[int, float]) -> Groups:
    """Blocks from best to worst, adjacent ones pooled while the later mean is at least the earlier."""

    def level(group: list[int]) -> float:
        return sum(omega[a] * mean[a] for a in group) / sum(omega[a] for a in group)

    stack: Groups = []
    for rank in sorted(set(ranks.values())):
        stack.append([a for a in ranks if ranks[a] == rank])
        while len(stack) > 1 and level(stack[-1]) >= level(stack[-2]) - NIL:
            last = stack.pop()
            stack[-1] = stack[-1] + last
    return stack


def star_groups(ranks: Mapping[int, int], mean: Mapping[int, float], omega: Mapping[int, float]) -> Groups:
    """The middle policies pooled with those on the wrong side of the pooled mean: the one set that fits."""
    middle = [a for a in ranks if ranks[a] == 0]
    others = [a for a in ranks if ranks[a] != 0]
    if not middle:
        return []
    for size in range(len(others) + 1):
        for more in itertools.combinations(others, size):
            group = middle + list(more)
            level = sum(omega[a] * mean[a] for a in group) / sum(omega[a] for a in group)
            wrong = {a: ranks[a] * (mean[a] - level) for a in others}  # above 0: on the wrong side
            if all(wrong[a] >= -NIL for a in more) and all(wrong[a] <= NIL for a in others if a not in more):
                return [group]
    raise AssertionError("one set always fits")


def normal(z: float) -> float:
    """The normal distribution."""
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


class Study:
    """One study: every hypothesis's gambler in turn."""

    def __init__(
        self, hypotheses: Sequence[Hypothesis], horizon: int, confidence: float, g: float, futility: float = 0.0
    ) -> None:
        self.size = len(hypotheses[0].ranks)
        self.horizon, self.error, self.g, self.futility = horizon, 1.0 - confidence, g, futility
        self.alive = list(hypotheses)
        self.log_wealth = dict.fromkeys(hypotheses, 0.0)
        self.log_best = dict.fromkeys(hypotheses, 0.0)
        self.weights = {one: [1.0 / GRID] * GRID for one in hypotheses}
        self.rounds = 0
        everyone = range(self.size)
        self.total = dict.fromkeys(everyone, 0.0)
        self.products = {(a, b): 0.0 for a in everyone for b in everyone}
        self.least: dict[tuple[int, int], float] = {}
        self.rollouts = dict.fromkeys(everyone, 0)
        self.better: set[tuple[int, int]] = set()
        self.futile: set[tuple[int, int]] = set()
        self.running = list(everyone)

    def bet(self, one: Hypothesis) -> dict[str, Any] | None:
        """What the gambler of one hypothesis stakes on the next round; none where it does not bet."""
        t, g = self.rounds, self.g
        if t == 0:
            return None
        mean = {a: self.total[a] / t for a in self.running}
        omega = {a: (g / 2) / ((g + self.products[a, a] - t * mean[a] ** 2) / (t + 2)) for a in self.running}

        def spread(u: Mapping[int, float]) -> float:
            quad = sum(u[a] * u[b] * self.products[a, b] for a in u for b in u)
            return (quad + g * sum(v * v for v in u.values())) / (t + 2)

        make = chain_groups if one.kind == "chain" else star_groups
        u: dict[int, float] = {}
        c = 0.0
        for group in make({a: one.ranks[a] for a in self.running}, mean, omega):
            level = sum(omega[a] * mean[a] for a in group) / sum(omega[a] for a in group)
            own = {a: omega[a] * (mean[a] - level) for a in group if abs(mean[a] - level) > NIL}
            if not own:
                continue
            z = t * sum(v * (mean[a] - level) for a, v in own.items()) / math.sqrt((t + 2) * spread(own))
            share = 2.0 * normal(z) - 1.0
            u.update({a: share * v for a, v in own.items()})
            c = max(c, share)
        half = sum(map(abs, u.values())) / 2
        if half == 0.0:
            return None
        sd = math.sqrt(spread(u))
        top = 0.99 * sd / half
        low = min(math.sqrt(2.0 * math.log(1.0 / self.error) / self.horizon), 0.9 * top)
        grid = [low * (top / low) ** (q / (GRID - 1)) for q in range(GRID)]
        centre = sum(w * stake for w, stake in zip(self.weights[one], grid, strict=True))
        need = max(0.0, math.log(1.0 / self.error) - self.log_wealth[one])
        kappa = math.sqrt(c) * max(centre, math.sqrt(2.0 * need / (self.horizon - t))) / sd
        kappa = min(kappa, 0.99 / half)
        gains = [
            self.least[a, b] * min(u[a], -u[b]) for a in u for b in u if u[a] > 0.0 > u[b] and (a, b) in self.least
        ]
        if gains:
            kappa = min(kappa, (math.exp(need) * (1.0 + 1e-12) - 1.0) / min(gains))
        return {"u": u, "kappa": kappa, "sd": sd, "grid": grid, "mean": centre}

    def step(self, scores: Sequence[float]) -> None:
        """One more round: scores in [0, 1], those of policies that do not run ignored."""
        bets = {one: self.bet(one) for one in self.alive}
        for one, bet in bets.items():
            if bet is None:
                continue
            y = sum(v * scores[a] for a, v in bet["u"].items())
            self.log_wealth[one] += math.log1p(bet["kappa"] * y)
            self.log_best[one] = max(self.log_best[one], self.log_wealth[one])
            scaled, centre = y / bet["sd"], bet["mean"]
            self.weights[one] = [
                w * (1.0 + stake * scaled) / (1.0 + centre * scaled)
                for w, stake in zip(self.weights[one], bet["grid"], strict=True)
            ]
        self.rounds += 1
        for a in self.running:
            self.total[a] += scores[a]
            self.rollouts[a] += 1
            for b in self.running:
                self.products[a, b] += scores[a] * scores[b]
                if scores[a] > scores[b]:
                    self.least[a, b] = min(self.least.get((a, b), math.inf), scores[a] - scores[b])
        target = math.log(1.0 / self.error)
        left = [one for one in self.alive if self.log_best[one] < target]
        if not left:  # the last ones standing stay: rejecting fewer costs no error, and no claim contradicts another
            least = min(self.log_best[one] for one in self.alive)
            left = [one for one in self.alive if self.log_best[one] <= least + 1e-9]
            for one in left:
                self.log_best[one] = math.nextafter(target, 0.0)
        self.alive = left
        pairs = list(itertools.permutations(range(self.size), 2))
        self.better = {(a, b) for a, b in pairs if not any(blocks(one, a, b) for one in self.alive)}
        open_ = self.open_pairs()
        self.futile = {pair for pair in open_ if self.hopeless(pair)} if self.futility else set()
        self.running = [a for a in range(self.size) if any(a in pair for pair in open_ - self.futile)]

    def open_pairs(self) -> set[tuple[int, int]]:
        """The pairs a < b that neither claim settles."""
        pairs = itertools.combinations(range(self.size), 2)
        return {(a, b) for a, b in pairs if not {(a, b), (b, a)} & self.better}

    def hopeless(self, pair: tuple[int, int]) -> bool:
        """Whether a pair will hardly be decided within the horizon; as it was, once one of the two has paused."""
        a, b = pair
        n, left = self.rounds, self.horizon - self.rounds
        if not {a, b} <= set(self.running):
            return pair in self.futile
        if n < 5 or left <= 0:
            return False
        gain = self.total[a] - self.total[b]
        squares = self.products[a, a] + self.products[b, b] - 2.0 * self.products[a, b]
        spread = (2.0 * self.g + squares) / (n + 2)
        z = abs(gain) / math.sqrt(n * spread)
        goal = 2.3 * math.sqrt(math.log(1.0 / self.error) / math.log(20.0))
        chance = 1.0 - normal((goal - z * math.sqrt(self.horizon / n)) / math.sqrt(left / n))
        return chance < self.futility

    def p_value(self, a: int, b: int) -> float:
        """The adjusted anytime p-value of the claim that a is better than b."""
        return max(math.exp(-best) for one, best in self.log_best.items() if blocks(one, a, b))

    @property
    def finished(self) -> bool:
        """Whether nobody runs any more."""
        return not self.running or self.rounds >= self.horizon


class BestStudy(Study):
    """Which is best: a policy runs while it and another may be."""

    def open_pairs(self) -> set[tuple[int, int]]:
        """The pairs of which both may still be best."""
        able = [a for a in range(self.size) if any(one.ranks[a] == 0 for one in self.alive)]
        return set(itertools.combinations(able, 2))


class AgainstStudy(Study):
    """Each against a baseline: only its own pairs count."""

    baseline = 0

    def open_pairs(self) -> set[tuple[int, int]]:
        """The open pairs with the baseline in them."""
        return {pair for pair in Study.open_pairs(self) if self.baseline in pair}
