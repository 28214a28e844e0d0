"""Bradley-Terry and Davidson strengths of policies from pairwise preferences, with intervals and ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot._arguments import write
from surefoot.core.assumptions import EACH_STRENGTH, PREFERENCES_APART
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.stats import score_gains

if TYPE_CHECKING:
    import numpy as np

    from surefoot.numerics.arrays import Floats


Preference = tuple[str, str, str | float]
_OUTCOMES: dict[object, float] = {"first": 1.0, "second": 0.0, "tie": 0.5, 1: 1.0, 0: 0.0, 0.5: 0.5}
FEW = 30
"""Below so many units to resample the interval is likely too narrow."""
_RIDGE = 0.01  # holds a strength finite where a resample or a left-out session leaves it open; far less than one game
_BLOCK = 250_000  # cells fitted at a time: about a tenth of a second


@dataclass(frozen=True, slots=True)
class Strengths(Record):
    """Strengths of policies from preferences.

    Attributes:
        names: The policies, strongest first.
        log_strengths: Their log strengths, with mean 0: a lead of d wins a share 1 / (1 + exp(-d)) of games.
        elos: The same on the Elo scale, with mean 1000.
        intervals: An interval on each log strength.
        ranks: The best and worst rank of each, all holding together, by simultaneous intervals on the differences.
        tie_strength: Davidson's tie parameter; none where ties count as half wins.
        preferences: How many preferences.
        confidence: The confidence of each interval.
        seed: The seed of the resamples.
        notes: What a reader must know besides.
    """

    names: tuple[str, ...]
    log_strengths: tuple[float, ...]
    elos: tuple[float, ...]
    intervals: tuple[Interval, ...]
    ranks: tuple[tuple[int, int], ...]
    tie_strength: float | None
    preferences: int
    confidence: float
    seed: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def elo_ends(self) -> tuple[tuple[int, int], ...]:
        """The ends of each interval on the Elo scale, rounded outward."""
        return tuple((math.floor(_elo(one.low)), math.ceil(_elo(one.high))) for one in self.intervals)

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        rows = []
        for i, name in enumerate(self.names):
            low, high = self.elo_ends[i]
            best, worst = self.ranks[i]
            place = f"rank {best}" if best == worst else f"rank {best} to {worst}"
            rows.append(f"{name:<{width}}  Elo {self.elos[i]:.0f} [{low}, {high}]  {place}")
        return "\n".join(rows)


def bradley_terry(
    preferences: Iterable[Preference],
    *,
    rng: _check.Rng,
    sessions: Iterable[Hashable] | None = None,
    prior: float = 0.0,
    resamples: int = 1_000,
    confidence: float = 0.95,
) -> Strengths:
    """Bradley-Terry strengths from pairwise preferences, a tie being half a win for each.

    Below 30 independent sessions (or preferences) the intervals are Student's t with a jackknife variance over them;
    from 30 on percentiles of a bootstrap. Ranks go by t intervals on all differences at Bonferroni's shares.

    Args:
        preferences: First policy, second policy and which was preferred: "first", "second" or "tie" (or 1, 0, 0.5).
        rng: A seed, kept with the result, or a Generator.
        sessions: The session of each preference (one person, one scene); sessions are then what is independent.
        prior: Wins added between every two policies that met, half of them to each side; for data in which a policy
            never lost.
        resamples: How many resamples.
        confidence: How often such intervals hold a strength, nearly.

    Assumptions:
        Independent preferences (or sessions); one strength per policy, whoever the rival.

    Example:
        >>> from surefoot.stats import bradley_terry
        >>> games = [("a", "b", "first")] * 7 + [("a", "b", "second")] * 3 + [("b", "c", "tie")] * 4
        >>> found = bradley_terry(games + [("a", "c", 1)] * 6 + [("a", "c", 0)] * 2, rng=7)
        >>> [round(elo) for elo in found.elos]
        [1112, 954, 934]

    Reference:
        Bradley and Terry (1952), "Rank analysis of incomplete block designs"; Ford (1957) for when strengths
        exist.
    """
    return _strengths(preferences, rng, sessions, prior, resamples, confidence, davidson_ties=False)


def davidson(
    preferences: Iterable[Preference],
    *,
    rng: _check.Rng,
    sessions: Iterable[Hashable] | None = None,
    prior: float = 0.0,
    resamples: int = 1_000,
    confidence: float = 0.95,
) -> Strengths:
    """Davidson strengths from pairwise preferences, with a parameter for how readily people call a tie.

    Intervals and ranks are those of `bradley_terry`.

    Args:
        preferences: First policy, second policy and which was preferred: "first", "second" or "tie" (or 1, 0, 0.5).
        rng: A seed, kept with the result, or a Generator.
        sessions: The session of each preference (one person, one scene); sessions are then what is independent.
        prior: Wins added between every two policies that met, half of them to each side; for data in which a policy
            never lost.
        resamples: How many resamples.
        confidence: How often such intervals hold a strength, nearly.

    Assumptions:
        Independent preferences (or sessions); a tie is as likely as its strength times the geometric mean of the
        two policies' strengths.

    Example:
        >>> from surefoot.reference import davidson
        >>> games = [("a", "b", "first")] * 7 + [("a", "b", "second")] * 3 + [("b", "c", "tie")] * 4
        >>> found = davidson(games + [("a", "c", 1)] * 6 + [("a", "c", 0)] * 2, rng=7)
        >>> round(found.tie_strength, 3)
        0.512

    Reference:
        Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison
        experiments".
    """
    return _strengths(preferences, rng, sessions, prior, resamples, confidence, davidson_ties=True)


def _strengths(
    preferences: Iterable[Preference],
    rng: _check.Rng,
    sessions: Iterable[Hashable] | None,
    prior: float,
    resamples: int,
    confidence: float,
    *,
    davidson_ties: bool,
) -> Strengths:
    import numpy as np

    from surefoot.numerics.rates import bradley_terry

    resamples = check_resamples(resamples, confidence)
    if _check.real(prior, "prior") < 0.0:
        raise _check.refused("prior", "be 0 or more", prior)
    generator, seed = _check.generator(rng)
    games = _Games(preferences, sessions)
    seen = games.points(games.counts[None])[0]
    added = prior / 2.0 * (seen + seen.T > 0.0)

    def fitted(counts: Floats, ridge: float) -> tuple[Floats, Floats]:
        return bradley_terry.fit(games.points(counts) + added, games.ties(counts) if davidson_ties else None, ridge)

    games.refuse_unlinked(seen + added)
    if davidson_ties and not prior:
        games.refuse_unbounded_ties()
    theta, eta = (found[0] for found in fitted(games.counts[None], 0.0))
    covariance, freedom, least = bradley_terry.jackknife(
        games.units(), added, theta, eta, free=bool(davidson_ties and games.ties(games.counts[None])[0]), ridge=_RIDGE
    )
    if covariance.diagonal().max() <= 1e-18:
        alike = f"differ to show a spread; got {games.size:,} that are alike. There is no interval."
        raise _check.wrong("preferences", alike, preferences)
    if games.independent < FEW:
        method, reach = "t", _reach(covariance.diagonal(), freedom.diagonal(), (1.0 - confidence) / 2.0)
        lows, highs = theta - reach, theta + reach
        is_open = games.open_share(games.counts - games.kinds()[0], added) > 0.0
    else:
        method, drawn = "bootstrap", games.resampled(resamples, generator)
        lows, highs = _percentiles(drawn, fitted, confidence, len(theta))
        is_open = games.open_share(drawn, added) > (1.0 - confidence) / 2.0
    return _told(
        games,
        theta,
        (lows, highs),
        _ranks(theta, covariance, least, freedom, confidence),
        method=f"{'Davidson' if davidson_ties else 'Bradley-Terry'} {method}",
        tie_strength=float(np.exp(eta)) if davidson_ties else None,
        confidence=float(confidence),
        notes=games.notes(resamples, is_open=is_open),
        seed=seed,
    )


def _told(
    games: _Games,
    theta: Floats,
    ends: tuple[Floats, Floats],
    ranks: list[tuple[int, int]],
    *,
    method: str,
    tie_strength: float | None,
    confidence: float,
    notes: tuple[str, ...],
    seed: int | None,
) -> Strengths:
    """The strengths as a result, the strongest first."""

    def interval(i: int) -> Interval:
        return Interval(
            low=min(float(ends[0][i]), float(theta[i])),
            high=max(float(ends[1][i]), float(theta[i])),
            estimate=float(theta[i]),
            confidence=confidence,
            method=method,
            trials=games.size,
            scale="score",
            assumptions=(PREFERENCES_APART, EACH_STRENGTH),
            notes=notes,
            seed=seed,
        )

    order = sorted(range(len(games.names)), key=lambda i: -theta[i])
    return Strengths(
        names=tuple(games.names[i] for i in order),
        log_strengths=tuple(float(theta[i]) for i in order),
        elos=tuple(_elo(float(theta[i])) for i in order),
        intervals=tuple(interval(i) for i in order),
        ranks=tuple(ranks[i] for i in order),
        tie_strength=tie_strength,
        preferences=games.size,
        confidence=confidence,
        seed=seed,
        notes=notes,
    )


def _percentiles(
    drawn: Floats, fitted: Callable[..., tuple[Floats, Floats]], confidence: float, policies: int
) -> tuple[Floats, Floats]:
    """The ends of a bootstrap interval on each log strength."""
    import numpy as np

    from surefoot.numerics import arrays

    step = max(1, _BLOCK // policies**2)
    parts = [(drawn[start : start + step], _RIDGE) for start in range(0, len(drawn), step)]
    tries = np.concatenate([strengths for strengths, _ in arrays.spread(fitted, parts)])
    lows, highs = zip(*(percentile_ends(tries[:, i], confidence) for i in range(policies)), strict=True)
    return np.array(lows), np.array(highs)


def _reach(variances: Floats, freedom: Floats, tail: float) -> Floats:
    """How far t intervals reach to each side."""
    import numpy as np
    from scipy import special

    return np.asarray(-special.stdtrit(freedom, tail) * np.sqrt(np.maximum(variances, 0.0)))


def _ranks(
    theta: Floats, covariance: Floats, least: Floats, freedom: Floats, confidence: float
) -> list[tuple[int, int]]:
    """Best and worst rank of each policy by t intervals on all differences of strengths that hold together.

    Each difference has its Bonferroni share of the error: with the confidence, no policy is called stronger than one
    that is as strong, and every rank interval holds every rank that its policy may have.
    """
    import numpy as np

    own, size = covariance.diagonal(), len(theta)
    variances = np.maximum(own[:, None] + own[None, :] - 2.0 * covariance, least)
    reach = _reach(variances, freedom, (1.0 - confidence) / (size * (size - 1)))
    stronger = theta[:, None] - theta[None, :] > reach + 1e-9
    return [(1 + int(stronger[:, i].sum()), size - int(stronger[i].sum())) for i in range(size)]


def check_resamples(resamples: int, confidence: float) -> int:
    """How many resamples, at least enough for one in each tail."""
    least = int(2.0 / (1.0 - _check.confidence(confidence))) + 1
    resamples = _check.whole(resamples, "resamples")
    if resamples < least:
        hint = f"At this confidence fewer than {least:,} resamples leave a tail empty."
        raise _check.refused("resamples", f"be at least {least:,}", resamples, hint)
    return resamples


def percentile_ends(means: Floats, confidence: float) -> tuple[float, float]:
    """The values with at least half the error at or beyond them on each side: mirrored data, mirrored ends."""
    import numpy as np

    each = (1.0 - confidence) / 2.0
    rank = max(0, int(np.ceil(each * means.size * (1.0 - 1e-12))) - 1)
    ordered = np.partition(means, (rank, means.size - 1 - rank))
    return float(ordered[rank]), float(ordered[means.size - 1 - rank])


def _elo(strength: float) -> float:
    return 1000.0 + 400.0 * strength / math.log(10.0)


class _Games:
    """The preferences, counted by who met whom and how it ended."""

    def __init__(self, preferences: Iterable[Preference], sessions: Iterable[Hashable] | None) -> None:
        import numpy as np

        places: dict[str, int] = {}
        cells: dict[tuple[int, int, float], int] = {}
        kept = []
        for number, row in enumerate(preferences, 1):
            if len(row) != 3:
                raise _check.refused("preferences", f"be of three parts (row {number})", row)
            first, second, outcome = row
            try:
                points = _OUTCOMES[outcome]
            except (KeyError, TypeError):
                must = f"end in first, second or tie (row {number})"
                raise _check.refused("preferences", must, outcome) from None
            if first == second:
                raise _check.refused("preferences", f"name two policies (row {number})", first)
            one, other = (places.setdefault(name, len(places)) for name in (first, second))
            key = (one, other, points) if one < other else (other, one, 1.0 - points)
            kept.append(cells.setdefault(key, len(cells)))
        _check.filled(kept, "preferences", "hold at least one")
        self.names, self.cells, self.size = tuple(places), tuple(cells), len(kept)
        self.counts = np.bincount(kept, minlength=len(cells)).astype(float)
        self.table: Floats | None = None
        if sessions is not None:
            numbers, groups = score_gains.labels(sessions, self.size, "sessions")
            self.table = np.zeros((groups, len(cells)))
            np.add.at(self.table, (numbers, np.asarray(kept)), 1.0)

    def notes(self, resamples: int, *, is_open: bool) -> tuple[str, ...]:
        """What the intervals rest on, and whether an end is held finite."""
        few = self.independent < FEW
        basis = f"{self.independent:,} {self.unit}." if few else f"{resamples:,} resamples."
        where = f"Without one of the {self.unit}" if few else "In many resamples"
        held = f"{where} a policy never lost or never won: that end is held finite, not known."
        return (basis, held) if is_open else (basis,)

    def points(self, counts: Floats) -> Floats:
        """What each won against each, for every row of counts."""
        import numpy as np

        found = np.zeros((counts.shape[0], len(self.names), len(self.names)))
        for cell, (one, other, points) in enumerate(self.cells):
            found[:, one, other] += points * counts[:, cell]
            found[:, other, one] += (1.0 - points) * counts[:, cell]
        return found

    def ties(self, counts: Floats) -> Floats:
        """How many ties, for every row of counts."""
        import numpy as np

        tied = np.array([points == 0.5 for _, _, points in self.cells])
        return np.asarray(counts[:, tied].sum(axis=1))

    @property
    def unit(self) -> str:
        """What is independent of one another: the preferences, or the sessions."""
        return "preferences" if self.table is None else "sessions"

    @property
    def independent(self) -> int:
        """How many of them there are."""
        return self.size if self.table is None else self.table.shape[0]

    def kinds(self) -> tuple[Floats, Floats]:
        """The counts of every kind of unit, and how many units are of each."""
        import numpy as np

        if self.table is None:
            return np.eye(len(self.cells)), self.counts
        kinds, times = np.unique(self.table, axis=0, return_counts=True)
        return kinds, times.astype(float)

    def units(self) -> list[tuple[Floats, Floats, Floats]]:
        """Blocks of points and ties of every kind of unit, and how many units are of each."""
        kinds, times = self.kinds()
        step = max(1, _BLOCK // len(self.names) ** 2)
        blocks = [(kinds[start : start + step], times[start : start + step]) for start in range(0, len(kinds), step)]
        return [(self.points(rows), self.ties(rows), numbers) for rows, numbers in blocks]

    def resampled(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Counts of preferences, or of whole sessions, drawn again."""
        import numpy as np

        if self.table is None:
            return rng.multinomial(self.size, self.counts / self.size, size=resamples).astype(float)
        groups = self.table.shape[0]
        drawn = rng.multinomial(groups, np.full(groups, 1.0 / groups), size=resamples)
        return np.asarray(drawn @ self.table)

    def open_share(self, counts: Floats, added: Floats) -> float:
        """The share of rows of counts in which a policy never lost or never won."""
        met: Any = self.points(counts) + added > 0.0
        return 1.0 - float((met.any(axis=1).all(axis=1) & met.any(axis=2).all(axis=1)).mean())

    def refuse_unbounded_ties(self) -> None:
        """Refuse data that Davidson's model explains ever better as ties and leads grow together without end.

        So it is when leads can be given to the policies with every win over a lead of at least 1 and every tie within
        one of at most 1: such leads are found, or a circle of wins and ties forbids them.
        """
        import numpy as np
        from scipy.sparse import csgraph, csr_array

        if all(points != 0.5 for _, _, points in self.cells):
            return
        most = np.zeros((len(self.names), len(self.names)))  # the lead of the second over the first, at most
        for one, other, points in sorted(self.cells, key=lambda cell: cell[2] != 0.5):  # ties first, wins over them
            if points >= 0.5:
                most[one, other] = 1.0 if points == 0.5 else -1.0
            if points <= 0.5:
                most[other, one] = 1.0 if points == 0.5 else -1.0
        try:
            csgraph.bellman_ford(csr_array(most))
        except csgraph.NegativeCycleError:
            return
        raise _check.wrong(
            "preferences",
            "hold wins that ties cannot explain away: here strengths, or the readiness to tie, would be infinite.",
            None,
            f"Give {write('prior', 1)} to hold them, or use `bradley_terry`.",
        )

    def refuse_unlinked(self, points: Floats) -> None:
        """Refuse data in which some strength is not determined, and say which policies are to blame."""
        from scipy.sparse import csgraph, csr_array

        links = csr_array(points > 0.0)
        for kind, why in (
            ("weak", "never met the others. Compare them with at least one of the others"),
            (
                "strong",
                "never lost to (or never beat) the others: strengths would be infinite. "
                f"Give {write('prior', 1)} to hold them",
            ),
        ):
            count, group = csgraph.connected_components(links, directed=True, connection=kind)
            if count > 1:
                apart = [name for name, own in zip(self.names, group, strict=True) if own == group[0]]
                raise _check.wrong("preferences", f"link all policies; {', '.join(sorted(apart))} {why}.")
