"""Adjustment of p-values and e-values for many questions.

Each function takes p-values (or e-values) and gives adjusted ones in the same order: what is at most one minus the
confidence stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from surefoot import _check


def bonferroni(p_values: Sequence[float]) -> tuple[float, ...]:
    """Bonferroni's adjustment of p-values: no false rejection, under any dependence.

    Assumptions:
        Valid p-values, whatever their dependence. Controls the chance of any false answer.

    Example:
        >>> from surefoot.reference import bonferroni
        >>> bonferroni([0.01, 0.04, 0.03, 0.2])
        (0.04, 0.16, 0.12, 0.8)

    Reference:
        Dunn (1961), "Multiple comparisons among means".
    """
    kept = _p_values(p_values)
    return tuple(min(1.0, len(kept) * p) for p in kept)


def sidak(p_values: Sequence[float]) -> tuple[float, ...]:
    """Šidák's adjustment of p-values: no false rejection, under independence.

    Assumptions:
        Valid p-values, independent or positively dependent in Šidák's sense.

    Example:
        >>> from surefoot.reference import sidak
        >>> [round(p, 6) for p in sidak([0.01, 0.04])]
        [0.0199, 0.0784]

    Reference:
        Šidák (1967), "Rectangular confidence regions for the means of multivariate normal distributions".
    """
    kept = _p_values(p_values)
    return tuple(1.0 if p == 1.0 else -math.expm1(len(kept) * math.log1p(-p)) for p in kept)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Which answers stand with no false one among them? Never fewer than Bonferroni's.

    Assumptions:
        Valid p-values, whatever their dependence. Controls the chance of any false answer.

    Example:
        >>> from surefoot.stats import holm
        >>> holm([0.01, 0.04, 0.03, 0.2])
        (0.04, 0.09, 0.09, 0.2)

    Reference:
        Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    kept = _p_values(p_values)
    adjusted = [0.0] * len(kept)
    worst = 0.0
    for rank, place in enumerate(sorted(range(len(kept)), key=kept.__getitem__)):
        worst = max(worst, min(1.0, (len(kept) - rank) * kept[place]))
        adjusted[place] = worst
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Which answers stand with few false ones among them? For many metrics or tasks.

    Assumptions:
        Valid p-values, independent or positively regression dependent. Controls the expected share of false
        answers among those that stand, not the chance of any.

    Example:
        >>> from surefoot.reference import benjamini_hochberg
        >>> [round(p, 4) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.2])]
        [0.04, 0.0533, 0.0533, 0.2]

    Reference:
        Benjamini and Hochberg (1995), "Controlling the false discovery rate".
    """
    return _stepped_up(_p_values(p_values))


def e_benjamini_hochberg(evidence: Sequence[float]) -> tuple[float, ...]:
    """Benjamini-Hochberg procedure for e-values: few false rejections, under any dependence.

    Gives adjusted p-values: an answer stands when its own is at most the share of false answers allowed.

    Assumptions:
        Valid e-values (evidence), whatever their dependence, at any stopping time.

    Example:
        >>> from surefoot.reference import e_benjamini_hochberg
        >>> e_benjamini_hochberg([100.0, 50.0, 1.0])
        (0.03, 0.03, 1.0)

    Reference:
        Wang and Ramdas (2022), "False discovery rate control with e-values".
    """
    kept = []
    for place, value in enumerate(_listed(evidence, "evidence")):
        number = value if value == math.inf else _check.real(value, f"evidence[{place}]")
        if number < 0.0:
            raise _check.refused(f"evidence[{place}]", "be 0 or more", value)
        kept.append(1.0 / number if number > 0.0 else math.inf)
    return _stepped_up(kept)


def _stepped_up(kept: list[float]) -> tuple[float, ...]:
    """The smallest share of false answers at which each stands, among itself and all that are smaller."""
    adjusted = [0.0] * len(kept)
    best = 1.0
    order = sorted(range(len(kept)), key=kept.__getitem__)
    for rank in range(len(kept), 0, -1):
        place = order[rank - 1]
        best = min(best, len(kept) * kept[place] / rank)
        adjusted[place] = best
    return tuple(adjusted)


def _p_values(values: Iterable[Any]) -> list[float]:
    return [_check.rate(value, f"p_values[{place}]") for place, value in enumerate(_listed(values, "p_values"))]


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    kept = list(values.tolist() if hasattr(values, "tolist") else values)
    _check.filled(kept, name, "hold at least one value")
    return kept
