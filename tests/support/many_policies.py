"""What several tests of many policies share."""

import math

from surefoot import Interval
from surefoot.numerics import normal_quantiles
from surefoot.numerics.normal_quantiles import upper_quantile


def hybrid(first, second, *, confidence):
    """A quick interval of the gain, written here so that these tests rest on nothing else: Newcombe's hybrid score."""
    z = upper_quantile((1 - confidence) / 2)
    ends = []
    for tally in (first, second):
        k, n = tally.successes, tally.trials
        ends.append((normal_quantiles.wilson_low(k, n, z), k / n, normal_quantiles.wilson_high(k, n, z)))
    (l1, p1, u1), (l2, p2, u2) = ends
    low, high = p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)
    return Interval(low, high, p1 - p2, confidence, "hybrid", scale="gain")
