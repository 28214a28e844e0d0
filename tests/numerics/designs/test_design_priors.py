"""Tests of `surefoot.numerics.designs.design_priors`."""

import math

import numpy as np
import pytest

from surefoot.numerics.designs import design_priors


def test_the_copula_is_that_of_the_bivariate_normal():
    def both(*rates: float) -> float:
        return float(design_priors.copula(*(np.array([rate]) for rate in rates))[0])

    assert both(0.5, 0.5, 0.6) == pytest.approx(0.25 + math.asin(0.6) / (2 * math.pi), abs=1e-13)  # Sheppard (1899)
    assert both(0.7, 0.2, 0.0) == pytest.approx(0.14, abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(both(0.85, 0.95, 0.6), abs=1e-12)
    assert both(0.95, 0.85, 0.6) == pytest.approx(0.8297088, abs=1e-6)  # scipy.stats.multivariate_normal.cdf
