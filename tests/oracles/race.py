"""A race for the best of many, from the formulas, one policy and one number at a time."""

import math
from collections.abc import Sequence

REGRETS = [u / 100 for u in range(41)]


class Gambler:
    """One gambler of a race: 16 stakes mixed, a floor that hurries, and no more than enough."""

    def __init__(self, guess: float, target: float) -> None:
        self.log, self.square, self.bets, self.least = 0.0, 2 * guess, 0, math.inf
        self.weights, self.target = [1.0] * 16, target

    def copy(self, share: float) -> "Gambler":
        """One that has learned the same and starts from a share of the wealth."""
        other = Gambler(0.0, self.target)
        other.log, other.square, other.bets = self.log + math.log(share), self.square, self.bets
        other.weights = list(self.weights)
        return other

    def stake(self, horizon: float, left: float) -> tuple[float, list[float]]:
        """The stake of the next bet, and those of the grid."""
        spread = self.square / (2 + self.bets)
        low = min(0.9, math.sqrt(2 * self.target / (horizon * spread)))
        grid = [0.99 * low ** (1 - q / 15) for q in range(16)]
        mean = sum(w * g for w, g in zip(self.weights, grid, strict=True)) / sum(self.weights)
        need = max(self.target - self.log, 1e-12)
        stake = min(0.99, max(mean, math.sqrt(2 * need / (left * spread))))
        if self.least < math.inf:
            stake = min(stake, (math.exp(self.target - self.log) * (1 + 1e-12) - 1) / self.least)
        return stake, grid

    def bet(self, d: float, horizon: float, left: float) -> float:
        """One bet; the stake."""
        stake, grid = self.stake(horizon, left)
        self.log += math.log1p(stake * d)
        self.weights = [w * (1 + g * d) for w, g in zip(self.weights, grid, strict=True)]
        self.square, self.bets = self.square + d * d, self.bets + 1
        if d > 1e-12:
            self.least = min(self.least, d)
        return stake


def added(a: float, b: float) -> float:
    """Log of e^a + e^b."""
    top = max(a, b)
    return top + math.log(math.exp(a - top) + math.exp(b - top))


def race(
    streams: Sequence[Sequence[float]],
    horizon: int,
    confidence: float = 0.95,
    within: float | None = None,
    binary: bool = True,
    shared: bool = False,
    budget: int | None = None,
) -> dict:
    """A whole race; ties go to the fewest rollouts, then to list order."""
    size, target = len(streams), -math.log(1 - confidence)
    status, sums, counts = [1] * size, [0.0] * size, [0] * size
    own = [Gambler(0.5 if binary else 0.2, target) for _ in streams]
    against: list[Gambler | None] = [None] * size
    gaps: list[list[float]] = [[] for _ in streams]
    champion, champions, t = None, 0, 0
    opening = 20 if horizon > 100 else max(5, horizon // 5)

    def leader(among: Sequence[int]) -> int:
        return max(among, key=lambda i: ((sums[i] + 0.5) / (counts[i] + 1), -counts[i], -i))

    while True:
        runs = [i for i in range(size) if status[i] == 1]
        if len(runs) <= 1:
            break
        lead = leader(runs)
        host = lead if champion is None else champion
        often = 1 if shared else min(8, max(1, math.floor(0.7 * math.sqrt(len(runs) - 1) + 0.5)))
        cost, used = len(runs) + often - 1, sum(counts)
        left = horizon - t if budget is None else max(1.0, (budget - used) / cost)
        if t >= horizon if budget is None else used + cost > budget:
            break
        total = {}
        for i in runs:
            many = often if i == host else 1
            total[i] = (sum(streams[i][(counts[i] + q) % len(streams[i])] for q in range(many)), many)
        x = {i: many / n for i, (many, n) in total.items()}
        mean = {i: (sums[i] + 0.5) / (counts[i] + 1) for i in runs}
        for i in runs:
            e = {b: math.exp(18 * (mean[b] - mean[lead]) * math.sqrt(t + 2)) for b in runs if b != i}
            if sum(e.values()) > 1e-12:
                d = sum(e[b] * x[b] for b in e) / sum(e.values()) - x[i]
                own[i].bet(d, t + left, left)
            gambler = against[i]
            if champion is not None and i != champion and gambler is not None and within is not None:
                stake = gambler.bet(x[champion] - x[i] + within, t + left, left)
                gaps[i] = [
                    g + math.log1p(stake * (x[champion] - x[i] + u)) for g, u in zip(gaps[i], REGRETS, strict=True)
                ]
        for i, (many, n) in total.items():
            sums[i], counts[i] = sums[i] + many, counts[i] + n
        t += 1
        for i in runs:
            gambler = against[i]
            if own[i].log >= target:
                status[i] = 0
            elif gambler is not None and i != champion and added(own[i].log, gambler.log) >= target:
                status[i] = 2
        if within is not None and t >= opening:
            among = [i for i in range(size) if status[i] == 1] or [i for i in range(size) if status[i] == 2]
            lead = leader(among)
            high = (sums[lead] + 0.5) / (counts[lead] + 1)
            new = champion is None or status[champion] == 0
            if not new and champion is not None:
                low = (sums[champion] + 0.5) / (counts[champion] + 1)
                new = high - low > 2 * math.sqrt((low * (1 - low) + high * (1 - high) + 0.01) / (counts[lead] + 1))
            if new:
                champion, champions = lead, champions + 1
                for i in range(size):
                    status[i] = 1 if status[i] == 2 else status[i]
                    if status[i] == 1:
                        against[i] = own[i].copy(0.8)
                        gaps[i] = [own[i].log + math.log(0.8)] * len(REGRETS)
                        own[i].log += math.log(0.2)
    regret = None
    if champion is not None:
        rest = [i for i in range(size) if i != champion and status[i]]
        bounds = [[u for u, g in zip(REGRETS, gaps[i], strict=True) if added(own[i].log, g) >= target] for i in rest]
        regret = max([one[0] if one else 1.0 for one in bounds], default=0.0)
    return {
        "rounds": t, "used": sum(counts), "state": status, "log_wealth": [one.log for one in own],
        "champion": champion, "champions": champions, "regret": regret,
    }  # fmt: skip
