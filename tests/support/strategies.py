"""Hypothesis strategies that several test files share."""

from hypothesis import strategies as st

from surefoot import PairTally, Scores, Tally

confidences = st.floats(0.5, 0.999)
draws = st.floats(0.0, 1.0)
rates = st.floats(0.0, 1.0)


@st.composite
def tallies(draw: st.DrawFn, most: int = 300) -> Tally:
    """A tally of 1 to `most` rollouts."""
    trials = draw(st.integers(1, most))
    return Tally(draw(st.integers(0, trials)), trials)


@st.composite
def scores(draw: st.DrawFn, most: int = 60) -> Scores:
    """Scores in [0, 1], partial credit and ties included."""
    level = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    return Scores(draw(st.lists(level, min_size=1, max_size=most)))


@st.composite
def pair_tallies(draw: st.DrawFn, most: int = 60) -> PairTally:
    """A paired tally of 1 to `most` pairs."""
    cells = draw(st.lists(st.integers(0, most // 4), min_size=4, max_size=4).filter(any))
    return PairTally(*cells)
