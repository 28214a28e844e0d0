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
    return one.kind in ("at least", "top") or not one.ranks[a] < one.ranks[b]


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

        make = {"chain": chain_groups, "top": top_groups}.get(one.kind, star_groups)
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


def top_sets(size: int, top: int) -> Iterator[Hypothesis]:
    """Every set of so many that may each be at least as good as all outside: rank 0 inside, 1 outside."""
    for those in itertools.combinations(range(size), top):
        yield Hypothesis("top", tuple(int(a not in those) for a in range(size)))


def top_groups(ranks: Mapping[int, int], mean: Mapping[int, float], omega: Mapping[int, float]) -> Groups:
    """Members below a level and outsiders above it, where both pull equally: the level is found by halving."""

    def pull(level: float) -> float:
        low = sum(omega[a] * max(0.0, level - mean[a]) for a in ranks if ranks[a] == 0)
        return low - sum(omega[a] * max(0.0, mean[a] - level) for a in ranks if ranks[a] == 1)

    low, high = -1.0, 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if pull(middle) < 0.0 else (low, middle)
    group = [a for a in ranks if (mean[a] < high - NIL if ranks[a] == 0 else mean[a] > high + NIL)]
    return [group] if group else []


class TopStudy(Study):
    """The best few: a policy runs while it is in some of the sets left and not in all."""

    def open_pairs(self) -> set[tuple[int, int]]:
        """The pairs of which both are in some sets and not in all."""
        inside = [{a for a in range(self.size) if one.ranks[a] == 0} for one in self.alive]
        able = sorted(set.union(*inside) - set.intersection(*inside))
        return set(itertools.combinations(able, 2))


class Direction:
    """One gambler on the differences of two policies: methods.md section 8, one bet at a time."""

    def __init__(self, target: float, horizon: int, g: float) -> None:
        self.target, self.horizon, self.g = target, horizon, g
        self.log_wealth = self.log_best = self.squares = 0.0
        self.bets, self.least, self.weights = 0, math.inf, [1.0 / GRID] * GRID

    def bet(self, d: float) -> None:
        """One round in which both ran."""
        spread = (2.0 * self.g + self.squares) / (2.0 + self.bets)
        low = min(0.9, math.sqrt(2.0 * self.target / (self.horizon * spread)))
        grid = [0.99 * low ** (1.0 - q / (GRID - 1)) for q in range(GRID)]
        need = self.target - self.log_wealth
        mean = sum(w * stake for w, stake in zip(self.weights, grid, strict=True))
        stake = max(mean, math.sqrt(2.0 * max(need, NIL) / ((self.horizon - self.bets) * spread)))
        stake = min(0.99, stake)
        if math.isfinite(self.least):
            stake = min(stake, max(0.0, (math.exp(need) * (1.0 + NIL) - 1.0) / self.least))
        self.log_wealth += math.log1p(stake * d)
        self.log_best = max(self.log_best, self.log_wealth)
        grown = [w * (1.0 + stake * d) for w, stake in zip(self.weights, grid, strict=True)]
        self.weights = [w / sum(grown) for w in grown]
        self.squares, self.bets = self.squares + d * d, self.bets + 1
        self.least = min(self.least, d) if d > NIL else self.least


class GatedStudy:
    """Claims of pairs at a tenth of the error; once they leave few orders, all rounds for those at nine tenths."""

    def __init__(self, size: int, horizon: int, error: float, g: float, most: int, futility: float = 0.0) -> None:
        self.size, self.horizon, self.error, self.g, self.most = size, horizon, error, g, most
        self.futility = futility
        pairs = list(itertools.permutations(range(size), 2))
        target = math.log(len(pairs) / (0.1 * error))
        self.sides = {pair: Direction(target, horizon, g) for pair in pairs}
        self.better: set[tuple[int, int]] = set()
        self.past: list[tuple[list[float], list[int]]] = []
        self.running = list(range(size))
        self.closure: Study | None = None
        self.watch = _Rest([Hypothesis("chain", (0,) * size)], horizon, error, g, futility)  # for futility only

    def step(self, scores: Sequence[float]) -> None:
        """One more round."""
        self.past.append((list(scores), list(self.running)))
        if self.closure is not None:
            self.closure.step(scores)
            self.better, self.running = self.closure.better, self.closure.running
            return
        for (a, b), side in self.sides.items():
            if {a, b} <= set(self.running):
                side.bet(scores[a] - scores[b])
        self._claim()
        left = [one for one in weak_orders(self.size) if all(one.ranks[a] < one.ranks[b] for a, b in self.better)]
        if len(left) <= self.most:
            self.closure = _Rest(left, self.horizon, self.error, self.g, self.futility)
            for row, ran in self.past:
                self.closure.running = ran
                self.closure.step(row)
            self.better, self.running = self.closure.better, self.closure.running
            return
        self.watch.better, self.watch.running = self.better, self.running
        self.watch.step(scores)
        self.running = self.watch.running

    def _claim(self) -> None:
        ordered = sorted(self.sides, key=lambda pair: -self.sides[pair].log_best)
        for place, (a, b) in enumerate(ordered):
            if self.sides[a, b].log_best < math.log((len(ordered) - place) / (0.1 * self.error)):
                return
            if not {(a, b), (b, a)} & self.better:
                over = {a, *(x for x, y in self.better if y == a)}
                under = {b, *(y for x, y in self.better if x == b)}
                self.better |= set(itertools.product(over, under))


class _Rest(Study):
    """Orders that are left, at nine tenths of the error; pairs are called hopeless as at the whole of it."""

    def __init__(self, left: Sequence[Hypothesis], horizon: int, error: float, g: float, futility: float) -> None:
        super().__init__(left, horizon, 1.0 - 0.9 * error, g, futility)
        self.whole, self.told = error, left[0].ranks == (0,) * self.size and len(left) == 1

    def step(self, scores: Sequence[float]) -> None:
        """One more round; where it only watches, the claims come from elsewhere."""
        kept = set(self.better)
        super().step(scores)
        if self.told:
            self.better = kept
            open_ = self.open_pairs()
            self.running = [a for a in range(self.size) if any(a in pair for pair in open_ - self.futile)]

    def hopeless(self, pair: tuple[int, int]) -> bool:
        """See `Study.hopeless`."""
        own, self.error = self.error, self.whole
        found = super().hopeless(pair)
        self.error = own
        return found
