"""What several tests of closed ranking share."""

import itertools

import numpy as np

from surefoot.core.verdict import Verdict

NAMES = ("a", "b", "c", "d", "e", "f", "g")


def named(rows):
    return [dict(zip(NAMES, map(float, row), strict=False)) for row in rows]


def claims(state):
    names = state.rule.names
    pairs = itertools.permutations(range(len(names)), 2)
    return {(i, j) for i, j in pairs if state.verdict(names[i], names[j]) is Verdict.BETTER}


def draws(rates, size, seed):
    return (np.random.default_rng(seed).random((size, len(rates))) < rates).astype(float)
