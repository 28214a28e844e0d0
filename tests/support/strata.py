"""What several tests of strata share."""

import numpy as np
from hypothesis import strategies as st

from surefoot import Tally

drawn = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=4
).map(lambda rows: {str(i): (Tally(round(a * m), m), Tally(round(b * n), n)) for i, (m, n, a, b) in enumerate(rows)})


def rows(strata):
    return [(a.successes, a.trials, b.successes, b.trials) for a, b in strata.values()]


def shares(layout, weigh):
    counts = np.array([n + m for n, m in layout], float)
    return counts / counts.sum() if weigh == "rollouts" else np.full(len(layout), 1 / len(layout))


def blocks(rows, size):
    return [rows[start : start + size] for start in range(0, len(rows), size)]
