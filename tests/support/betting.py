"""What several tests of betting share."""

import numpy as np


def sequence(seed: int, pairs: int, gap: float = 0.2, binary: bool = False) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    first, second = rng.random(pairs), rng.random(pairs)
    if binary:
        return (first < 0.5 + gap).astype(float).tolist(), (second < 0.5).astype(float).tolist()
    return np.round(first ** (1 - gap), 2).tolist(), np.round(second, 2).tolist()


def gains(first: list[float], second: list[float]) -> list[float]:
    return [a - b for a, b in zip(first, second, strict=True)]
