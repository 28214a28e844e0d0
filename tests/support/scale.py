"""What several tests of scale share."""

from __future__ import annotations

import numpy as np

from surefoot import Scores


def scores(size: int, seed: int) -> Scores:
    return Scores(np.random.default_rng(seed).beta(4, 2, size).tolist())
