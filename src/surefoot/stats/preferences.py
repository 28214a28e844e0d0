"""How strong is each policy, when people only said which of two they preferred?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot._arguments import write
from surefoot.core.assumptions import EACH_STRENGTH, PREFERENCES_APART
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.words import spoken
from surefoot.stats import bootstrap, differences

if TYPE_CHECKING:
    import numpy as np

    from surefoot.numerics.arrays import Floats


Preference = tuple[str, str, str | float]
_OUTCOMES: dict[object, float] = {"first": 1.0, "second": 0.0, "tie": 0.5, 1: 1.0, 0: 0.0, 0.5: 0.5}
_RIDGE = 0.01  # holds a strength finite in a resample where a policy never lost; worth far less than one game
_BLOCK = 250_000  # cells fitted at a time: about a tenth of a second


@dataclass(frozen=True, slots=True)
class Strengths(Record):
    """Strengths of policies from preferences.

    Attributes:
        names: The policies, strongest first.
        log_strengths: Their log strengths, with mean 0: a lead of d wins a share 1 / (1 + exp(-d)) of games.
        elos: The same on the Elo scale, with mean 1000.
        intervals: An interval on each log strength.
        ranks: The best and worst rank in the middle share of resamples, each by itself.
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
    """How strong is each policy, from pairwise preferences? A tie is half a win for each.

    Args:
        preferences: First policy, second policy and which was preferred: "first", "second" or "tie" (or 1, 0, 0.5).
        rng: A seed, kept with the result, or a Generator.
        sessions: The session of each preference (one person, one scene); whole sessions are then resampled.
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
    """How strong is each policy, and how readily do people call a tie?

    Args:
        preferences: First policy, second policy and which was preferred: "first", "second" or "tie" (or 1, 0, 0.5).
        rng: A seed, kept with the result, or a Generator.
        sessions: The session of each preference (one person, one scene); whole sessions are then resampled.
        prior: Wins added between every two policies that met, half of them to each side; for data in which a policy
            never lost.
        resamples: How many resamples.
        confidence: How often such intervals hold a strength, nearly.

    Assumptions:
        Independent preferences (or sessions); a tie is as likely as its strength times the geometric mean of the
        two policies' strengths.

    Example:
        >>> from surefoot.stats import davidson
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

    from surefoot.numerics import bradley_terry, work_blocks

    resamples = bootstrap.check_resamples(resamples, confidence)
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
    drawn = games.resampled(resamples, generator)
    step = max(1, _BLOCK // len(games.names) ** 2)
    parts = [(drawn[start : start + step], _RIDGE) for start in range(0, resamples, step)]
    tries = np.concatenate([strengths for strengths, _ in work_blocks.spread(fitted, parts)])
    if np.ptp(tries, axis=0).max() <= 1e-9:
        raise _check.wrong(
            "preferences",
            f"differ to be resampled; got {games.size:,} that are alike. They show no spread: there is no interval.",
            preferences,
        )
    ranks = 1 + (tries[:, None, :] > tries[:, :, None] + 1e-9).sum(axis=2)
    order = sorted(range(len(games.names)), key=lambda i: -theta[i])
    met_both = games.points(drawn) + added > 0.0
    finite = float(np.mean(met_both.any(axis=1).all(axis=1) & met_both.any(axis=2).all(axis=1)))
    notes: tuple[str, ...] = (f"{resamples:,} resamples.",)
    if 1.0 - finite > (1.0 - confidence) / 2.0:
        notes += (
            f"In many resamples {spoken().a_policy} never lost or never won: that end is held finite, not known.",
        )
    method = "Davidson bootstrap" if davidson_ties else "Bradley-Terry bootstrap"
    intervals, places = [], []
    for i in order:
        low, high = bootstrap.percentile_ends(tries[:, i], confidence)
        intervals.append(
            Interval(
                low=min(low, float(theta[i])),
                high=max(high, float(theta[i])),
                estimate=float(theta[i]),
                confidence=float(confidence),
                method=method,
                trials=games.size,
                scale="score",
                assumptions=(PREFERENCES_APART, EACH_STRENGTH),
                notes=notes,
                seed=seed,
            )
        )
        best, worst = bootstrap.percentile_ends(ranks[:, i].astype(float), confidence)
        places.append((int(best), int(worst)))
    return Strengths(
        names=tuple(games.names[i] for i in order),
        log_strengths=tuple(float(theta[i]) for i in order),
        elos=tuple(_elo(float(theta[i])) for i in order),
        intervals=tuple(intervals),
        ranks=tuple(places),
        tie_strength=float(np.exp(eta)) if davidson_ties else None,
        preferences=games.size,
        confidence=float(confidence),
        seed=seed,
        notes=notes,
    )


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
            numbers, groups = differences.labels(sessions, self.size, "sessions")
            self.table = np.zeros((groups, len(cells)))
            np.add.at(self.table, (numbers, np.asarray(kept)), 1.0)

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

    def resampled(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Counts of preferences, or of whole sessions, drawn again."""
        import numpy as np

        if self.table is None:
            return rng.multinomial(self.size, self.counts / self.size, size=resamples).astype(float)
        groups = self.table.shape[0]
        drawn = rng.multinomial(groups, np.full(groups, 1.0 / groups), size=resamples)
        return np.asarray(drawn @ self.table)

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
