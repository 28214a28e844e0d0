"""Strengths that explain who beat whom, for many sets of games at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    games = points + np.swapaxes(points, -1, -2)
    won = points.sum(axis=-1)
    size = points.shape[-1]
    theta = np.zeros(points.shape[:-1])
    eta = np.full(points.shape[:-2], _NO_TIES)
    free = np.zeros(points.shape[:-2], bool) if ties is None else ties > 0.0
    eta = np.where(free, 0.0, eta)
    total = games.sum(axis=(-1, -2)) / 2.0
    hessian = np.empty((*points.shape[:-2], size + 1, size + 1))
    slope = np.empty((*points.shape[:-2], size + 1))
    for _ in range(200):
        half = (theta[..., :, None] - theta[..., None, :]) / 2.0
        above, below, tie = np.exp(half), np.exp(-half), np.exp(eta)[..., None, None]
        every = above + below + tie
        win, draw = above / every, tie / every
        score = win + draw / 2.0
        slope[..., :size] = won - (games * score).sum(axis=-1) - ridge * theta
        slope[..., size] = np.where(
            free, (0.0 if ties is None else ties) - (games * draw).sum(axis=(-1, -2)) / 2.0, 0.0
        )
        spread = games * (win + draw / 4.0 - score**2)
        hessian[..., :size, :size] = 1.0 / size - spread  # the constant pins the mean, which no game can see
        place = np.arange(size)
        hessian[..., place, place] += spread.sum(axis=-1) + ridge + 1e-12 * total[..., None]
        cross = np.where(free[..., None], (games * draw * (0.5 - score)).sum(axis=-1), 0.0)
        hessian[..., :size, size] = hessian[..., size, :size] = cross
        own = (games * draw * (1.0 - draw)).sum(axis=(-1, -2)) / 2.0
        hessian[..., size, size] = np.where(free, own + 1e-12 * total, 1.0)
        if np.abs(slope).max() <= 1e-11 * max(1.0, float(total.max())):
            break
        step = np.linalg.solve(hessian, slope[..., None])[..., 0]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-300))
        theta = theta + step[..., :size]
        eta = np.where(free, eta + step[..., size], eta)
    return theta - theta.mean(axis=-1, keepdims=True), eta
