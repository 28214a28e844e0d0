"""What several tests of score strata share."""

import numpy as np

from surefoot.numerics import exponential_sums


def pooled(*samples):
    return [exponential_sums.pool(np.asarray(z, float)) for z in samples]
