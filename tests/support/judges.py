"""What several tests of judges share."""

from scipy.special import bdtr


def least(draws, coverage=0.93):
    """The number of covered draws below which a true coverage of `coverage` would be a one-in-a-thousand accident."""
    return next(k for k in range(draws + 1) if bdtr(k, draws, coverage) > 1e-3)
