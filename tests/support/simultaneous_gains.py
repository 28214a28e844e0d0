"""What several tests of simultaneous gains share."""

import itertools

from surefoot import Tally
from surefoot.stats import gain_sides


def sides_of_all_tables(n1, n2, confidence):
    return {
        (x1, x2): gain_sides(Tally(x1, n1), Tally(x2, n2), confidence=confidence)
        for x1, x2 in itertools.product(range(n1 + 1), range(n2 + 1))
    }
