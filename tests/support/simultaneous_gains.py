"""What several tests of simultaneous gains share."""

import itertools

from surefoot import Tally
from surefoot.reference import central_gains


def sides_of_all_tables(n1, n2, confidence):
    tables = list(itertools.product(range(n1 + 1), range(n2 + 1)))
    compared = [(Tally(x1, n1), Tally(x2, n2)) for x1, x2 in tables]
    sides = (sides for _, sides in central_gains(compared, confidence=confidence))
    return dict(zip(tables, sides, strict=True))
