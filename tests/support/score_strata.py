"""What several tests of score strata share."""

import numpy as np

from surefoot.numerics.scores import score_tails


def pooled(*samples):
    return [score_tails.pool(np.asarray(z, float)) for z in samples]
