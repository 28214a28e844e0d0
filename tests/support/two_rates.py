"""What several tests of two rates share."""

import math

import numpy as np

from surefoot import Tally, reference, stats


def tallies_of(asked):
    return Tally(asked["x1"], asked["n1"]), Tally(asked["x2"], asked["n2"])


def pmf(n, p):
    k = np.arange(n + 1)
    ways = np.array([math.comb(n, j) for j in k], float)
    return ways * p[:, None] ** k * (1.0 - p[:, None]) ** (n - k)


def published(name):
    """A method by its name, among those of answers or among those beside them."""
    return getattr(stats if name in stats.__all__ else reference, name)
