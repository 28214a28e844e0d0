"""Bets against a hypothesis on means, with the means that contradict it pooled.

The members of a group get one mean, and the bet is on what they are off it: the sum of u times the scores, whose mean
is 0 or less if the hypothesis holds. Many studies side by side, one per row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erf

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

NIL = 1e-12  # two means nearer than this are equal: the order of a sum must not decide anything


class Known(NamedTuple):
    """What is known of the policies, a row or a square per study.

    Attributes:
        means: The mean score of each.
        omega: What it weighs in a pooled mean; 0 where it does not run.
        running: Who runs.
        rounds: The rounds that each ran.
        moments: Mean products of two policies' scores.
    """

    means: Floats
    omega: Floats
    running: Flags
    rounds: Floats
    moments: Floats


class Pooled(NamedTuple):
    """What is bet on, a row for each bet that differs.

    Attributes:
        study: The study.
        u: What each policy's score is multiplied by.
        trust: How sure it is that the mean of each policy contradicts the hypothesis.
        number: The bet of each gambler.
    """

    study: Ints
    u: Floats
    trust: Floats
    number: Ints


def used_rows(keys: Ints, most: int) -> tuple[Ints, Ints]:
    """The different ones of these keys below `most`, rising, and the place of each among them."""
    used = np.zeros(most, bool)
    used[keys] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[keys]


def by_masks(known: Known, study: Ints, masks: Ints, number: Ints) -> Pooled:
    """Bets on groups of few policies: masks of the group that each policy is in; equal groups are weighed once."""
    size = masks.shape[1]
    key, place = used_rows((study[:, None] << size) + masks, len(known.means) << size)
    own = key >> size
    inside = (key[:, None] >> np.arange(size) & 1).astype(bool)
    u, trust = on_groups(known, own, inside)
    each = trust[place]
    return Pooled(study, u[place, np.arange(size)] * each, each, number)


def on_groups(known: Known, study: Ints, inside: Flags) -> tuple[Floats, Floats]:
    """What is bet on each group, before it is weighed by trust, and how sure it is that its means differ as seen."""
    weight = known.omega[study] * inside
    means = known.means[study]
    with np.errstate(invalid="ignore"):
        level = np.einsum("ga,ga->g", weight, means) / weight.sum(axis=1)
    off = means - level[:, None]
    off = np.where(np.abs(off) > NIL, off, 0.0) * inside  # NaN is not
    u = weight * off
    quad = np.einsum("ga,ga->g", products(u, known.moments, study), u)
    rounds = np.where(inside & known.running[study], known.rounds[study], np.inf).min(axis=1)
    rounds[np.isinf(rounds)] = 0.0
    signal = np.einsum("ga,ga->g", u, off)
    z = rounds * signal / np.sqrt((rounds + 2.0) * np.where(quad > 0.0, quad, 1.0))
    return u, np.where(quad > 0.0, erf(z / math.sqrt(2.0)), 0.0)


def products(u: Floats, squares: Floats, study: Ints) -> Floats:
    """Each row times the square of its study."""
    those = np.broadcast_to(squares, (len(u), *squares.shape[1:])) if len(squares) == 1 else squares[study]
    found: Floats = np.einsum("pa,pab->pb", u, those)
    return found
