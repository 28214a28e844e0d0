"""What several tests of betting gains share."""

from hypothesis import strategies as st

from surefoot import Scores

values = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 1.0])
pairs = st.lists(st.tuples(values, values), min_size=2, max_size=14).filter(
    lambda data: len({round(a - b, 9) for a, b in data}) > 1  # a bootstrap refuses equal differences
)


def split(data):
    return Scores([a for a, _ in data]), Scores([b for _, b in data])
