"""The ratio of two means, by its formula: pairs as one sample, and two groups by the largest p-value over null points.

u = t_new - r t_old; (T - u) / ((1 + r) T) against 1 / (1 + r). Groups z = 1 - t_new / T and t_old / T with v = (1, r),
tau = 1 (methods 0.3, section 21d; methods, section 14).
"""

from collections.abc import Sequence
from typing import Any

from tests.oracles.score_tails import mp, number, p_joint, p_low


def paired(new: Sequence[float], old: Sequence[float], limit: float, ratio: float) -> tuple[Any, Any]:
    """The p-values of "the ratio is at least r" and "at most r"."""
    top, r = number(limit), number(ratio)
    shares = [(top - (number(a) - r * number(b))) / ((1 + r) * top) for a, b in zip(new, old, strict=True)]
    return p_low(shares, 1 / (1 + r)), p_low([1 - z for z in shares], r / (1 + r))


def joint_at(new: Sequence[float], old: Sequence[float], limit: float, ratio: float, mean: Any) -> Any:
    """The joint p-value of "the ratio is at least r" at one null point: the new mean, and the old one that fits it."""
    top, r = number(limit), number(ratio)
    first, second = [1 - number(a) / top for a in new], [number(b) / top for b in old]
    one = 1 - number(mean) / top
    return p_joint([first, second], [1, r], [one, (mp.mpf(1) - one) / r])
