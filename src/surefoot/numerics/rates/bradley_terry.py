"""Strengths that explain who beat whom, for many sets of games at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


_NO_TIES = -40.0


def fit(points: Floats, ties: Floats | None = None, ridge: float = 0.0) -> tuple[Floats, Floats]:
    """Log strengths (mean 0) and log tie parameter of the largest likelihood, by damped Newton steps.

    Args:
        points: points[..., i, j] is what i won against j, a tie being half.
        ties: Number of ties in each set of games, to fit Davidson's tie parameter; without it ties are half wins
            of a Bradley-Terry model.
        ridge: Weight of a normal prior on each strength, which keeps it finite where a policy never lost.
    """
    size = points.shape[-1]
    theta = np.zeros(points.shape[:-1])
    free = np.zeros(points.shape[:-2], bool) if ties is None else ties > 0.0
    eta = np.where(free, 0.0, _NO_TIES)
    total = (points + np.swapaxes(points, -1, -2)).sum(axis=(-1, -2)) / 2.0
    place = np.arange(size)
    for _ in range(200):
        slope, hessian = derivatives(points, ties, theta, eta, free)
        slope[..., :size] -= ridge * theta
        hessian[..., :size, :size] += 1.0 / size  # the constant pins the mean, which no game can see
        hessian[..., place, place] += ridge + 1e-12 * total[..., None]
        hessian[..., size, size] += np.where(free, 1e-12 * total, 1.0)
        if np.abs(slope).max() <= 1e-11 * max(1.0, float(total.max())):
            break
        step = np.linalg.solve(hessian, slope[..., None])[..., 0]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-300))
        theta = theta + step[..., :size]
        eta = np.where(free, eta + step[..., size], eta)
    return theta - theta.mean(axis=-1, keepdims=True), eta


def derivatives(points: Floats, ties: Floats | None, theta: Floats, eta: Floats, free: Any) -> tuple[Floats, Floats]:
    """Slope and information of the log likelihood in the log strengths and, last, the log tie parameter.

    Args:
        points: points[..., i, j] is what i won against j, a tie being half.
        ties: Number of ties in each set of games.
        theta: Log strengths.
        eta: Log tie parameter.
        free: Whether the tie parameter of each set is fitted; its derivatives are 0 otherwise.
    """
    games = points + np.swapaxes(points, -1, -2)
    size = points.shape[-1]
    half = (theta[..., :, None] - theta[..., None, :]) / 2.0
    above, below, tie = np.exp(half), np.exp(-half), np.exp(eta)[..., None, None]
    every = above + below + tie
    win, draw = above / every, tie / every
    score = win + draw / 2.0
    slope = np.zeros((*points.shape[:-2], size + 1))
    slope[..., :size] = points.sum(axis=-1) - (games * score).sum(axis=-1)
    drawn = (games * draw).sum(axis=(-1, -2)) / 2.0
    slope[..., size] = np.where(free, (0.0 if ties is None else ties) - drawn, 0.0)
    spread = games * (win + draw / 4.0 - score**2)
    information = np.zeros((*points.shape[:-2], size + 1, size + 1))
    information[..., :size, :size] = -spread
    place = np.arange(size)
    information[..., place, place] += spread.sum(axis=-1)
    cross = np.where(np.asarray(free)[..., None], (games * draw * (0.5 - score)).sum(axis=-1), 0.0)
    information[..., :size, size] = information[..., size, :size] = cross
    own = (games * draw * (1.0 - draw)).sum(axis=(-1, -2)) / 2.0
    information[..., size, size] = np.where(free, own, 0.0)
    return slope, information


def jackknife(
    units: Sequence[tuple[Floats, Floats, Floats]],
    held: Floats,
    theta: Floats,
    eta: Floats,
    *,
    free: bool,
    ridge: float,
) -> tuple[Floats, Floats, Floats]:
    """Covariance of the log strengths over independent units, degrees of freedom and least variance of differences.

    Each unit is left out in turn, by one Newton step from the estimate (CR3). The degrees of freedom are those of a sum
    of squares that weighs each unit by its share of the information (Satterthwaite), less one for the mean; those of a
    strength by itself stand on the diagonal. The least variance of a difference is that of
    independent games: a few units may agree by chance.

    Args:
        units: Blocks of units: points and ties of each, and how many units are alike.
        held: Points that no unit carries: those of a prior.
        theta: Fitted log strengths, with mean 0.
        eta: Fitted log tie parameter.
        free: Whether the tie parameter was fitted.
        ridge: Keeps the step finite where a single unit links two groups of policies.
    """
    size = len(theta)
    found = [(*derivatives(points, ties, theta, eta, free), weights) for points, ties, weights in units]
    whole = derivatives(held, None, theta, eta, free)[1]
    whole = whole + sum((weights[:, None, None] * information).sum(axis=0) for _, information, weights in found)
    whole[:size, :size] += 1.0 / size
    whole[size, size] += 0.0 if free else 1.0
    inverse = np.linalg.inv(whole)[:size]
    loose = ridge * np.diag(np.append(np.ones(size), 0.0))
    number, first, second = 0.0, np.zeros(size), np.zeros((size, size))
    shares, squares = np.zeros((size, size)), np.zeros((size, size))
    for slope, information, weights in found:
        moved = np.linalg.solve(whole - information + loose, slope[..., None])[:, :size, 0]
        number += float(weights.sum())
        first += weights @ moved
        second += (moved * weights[:, None]).T @ moved
        own = inverse @ information @ inverse.T
        alone = np.diagonal(own, axis1=1, axis2=2)
        each = alone[:, :, None] + alone[:, None, :] - 2.0 * own
        place = np.arange(size)
        each[:, place, place] = alone
        shares += np.tensordot(weights, each, axes=1)
        squares += np.tensordot(weights, each**2, axes=1)
    covariance = (number - 1.0) / number * (second - np.outer(first, first) / number)
    own = inverse[:, :size].diagonal()
    least = own[:, None] + own[None, :] - 2.0 * inverse[:, :size]
    return covariance, np.maximum(1.0, shares**2 / squares - 1.0), least
