"""Agreement of two judges beyond chance."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import ITEMS_SOFTENED, JUDGES_APART
from surefoot.core.interval import Interval

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


def cohen_kappa(first: Iterable[Hashable], second: Iterable[Hashable], *, confidence: float = 0.95) -> Interval:
    """How far do two judges agree beyond chance? 1 is full agreement, 0 is chance.

    Args:
        first: Labels of the first judge.
        second: Labels of the second judge, of the same items in the same order.
        confidence: How often such intervals hold the agreement, nearly.

    Assumptions:
        Independent items, labelled by both judges, in categories without an order.

    Example:
        >>> from surefoot.stats import cohen_kappa
        >>> print(cohen_kappa([1, 1, 0, 0, 1, 0, 1, 1] * 5, [1, 1, 0, 0, 1, 1, 1, 1] * 5))
        0.714 [0.408, 0.888] n=40 (95% softened Cohen's kappa interval).

    Reference:
        Cohen (1960), "A coefficient of agreement for nominal scales"; Fleiss, Cohen and Everitt (1969) for the
        standard error, here of the softened table.
    """
    import numpy as np
    from scipy import special

    confidence = _check.confidence(confidence)
    one, other = list(first), list(second)
    if len(one) != len(other):
        raise _check.wrong("second", f"label the {len(one):,} items of `first`; got {len(other):,}.", second)
    if len(one) < 2:
        raise _check.wrong("first", f"label at least 2 items; got {len(one)}.", first)
    kinds = {label: place for place, label in enumerate(dict.fromkeys([*one, *other]))}
    if any(isinstance(label, float) and label != label for label in kinds):
        raise _check.wrong(
            ("first", "second"),
            "label every item; got NaN for some.",
            (first, second),
            "Leave those items out of both.",
        )
    if len(kinds) < 2:
        raise _check.wrong(
            ("first", "second"),
            "use at least 2 labels; got one. Where all labels are alike, agreement beyond chance is not defined.",
            (first, second),
        )
    table = np.zeros((len(kinds), len(kinds)))
    np.add.at(table, ([kinds[label] for label in one], [kinds[label] for label in other]), 1.0)
    estimate, _ = _kappa(table)
    more = float(special.ndtri((1.0 + confidence) / 2.0)) ** 2
    centre, error = _kappa(table + more / table.size)
    half = float(special.stdtrit(len(one) - 1, (1.0 + confidence) / 2.0)) * error
    return Interval(
        low=min(estimate, max(-1.0, centre - half)),
        high=max(estimate, min(1.0, centre + half)),
        estimate=estimate,
        confidence=confidence,
        method="softened Cohen's kappa",
        trials=len(one),
        scale="score",
        assumptions=(JUDGES_APART, ITEMS_SOFTENED),
    )


def _kappa(table: Floats) -> tuple[float, float]:
    """Kappa of a table of counts, and its large-sample standard error."""
    import numpy as np

    total = float(table.sum())
    share = table / total
    rows, columns, alike = share.sum(axis=1), share.sum(axis=0), np.diag(share)
    by_chance = float((rows * columns).sum())
    kappa = (float(np.trace(table)) / total - by_chance) / (1.0 - by_chance)  # of whole numbers, so never above 1
    same = float((alike * (1.0 - (rows + columns) * (1.0 - kappa)) ** 2).sum())
    weight = share * (columns[:, None] + rows[None, :]) ** 2
    different = (1.0 - kappa) ** 2 * float(weight.sum() - np.trace(weight))
    variance = same + different - (kappa - by_chance * (1.0 - kappa)) ** 2
    return kappa, math.sqrt(max(0.0, variance) / total) / (1.0 - by_chance)
