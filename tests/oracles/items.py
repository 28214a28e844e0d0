"""Slow twins of `surefoot.stats.items`, by counting every placement of the marks."""

from __future__ import annotations

from itertools import combinations, product


def excess(marked: list[list[int]], drawn: list[list[int]], item: int) -> float:
    """The chance that an item has as many marks or more, over all placements of each stratum's marks on its draws."""
    own = sum(marked[item])
    counts = []
    for stratum in range(len(drawn[0])):
        owner = [at for at, row in enumerate(drawn) for _ in range(row[stratum])]
        total = sum(row[stratum] for row in marked)
        counts.append([sum(owner[one] == item for one in chosen) for chosen in combinations(range(len(owner)), total)])
    every = [sum(each) for each in product(*counts)]
    return sum(count >= own for count in every) / len(every)


def reversal(weak: tuple[int, int], strong: tuple[int, int]) -> float:
    """The chance that the stronger half passes as little or less, over all placements of the successes."""
    (lost, few), (won, many) = weak, strong
    placements = list(combinations(range(few + many), lost + won))
    return sum(sum(one >= few for one in chosen) <= won for chosen in placements) / len(placements)
