"""Tests of `surefoot.sequential.nscore`."""

import numpy as np
import pytest

from surefoot.sequential import NScore, Savi, Wsr, run, simulate
from tests.oracles import sequential as twin
from tests.support.betting import sequence


@pytest.mark.parametrize(
    ("own", "other", "binary"),
    [
        ({"bins": 2}, {"bins": 2}, True),
        ({"bins": 11}, {"bins": 11}, False),
        ({"bins": 21}, {"bins": 21}, False),
        ({"bins": None}, {"bins": None}, False),
        ({"levels": tuple(j / 100 for j in range(101))}, {"levels": [j / 100 for j in range(101)]}, False),
        ({"bins": 11, "mass": 0.5}, {"bins": 11, "mass": 0.5}, False),
    ],
)
def test_nscore_is_its_twin(own, other, binary):
    first, second = sequence(3, 25, binary=binary)
    states = run(NScore(25, **own), zip(first, second, strict=True))
    trace = twin.nscore(second, first, alpha=0.05, **other)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["xi"], abs=1e-9)


def test_uneven_levels_are_their_own_bins():
    levels = (0.0, 0.1, 0.4, 1.0)
    rng = np.random.default_rng(0)
    first, second = rng.choice(levels, 30).tolist(), rng.choice(levels, 30).tolist()
    states = run(NScore(30, levels=levels), zip(first, second, strict=True))
    trace = twin.nscore(second, first, levels=list(levels), alpha=0.05)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    rule = NScore(30, levels=levels)
    with pytest.raises(ValueError, match="`first` must be one of the declared levels"):
        rule.step(rule.start(), (0.2, 0.1))
    with pytest.raises(ValueError, match="`second` must be one of the declared levels"):
        simulate(rule, [0.1], [0.2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Savi(9, margin=0.1), "`margin` must be 0 for theta-SAVI; got 0.1. The betting rules"),
        (lambda: Wsr(9, claim="same"), "`margin` must be above 0 for the claim 'same'"),
        (lambda: Wsr(9, claim="first not worse"), "`margin` must be above 0"),
        (lambda: Wsr(9, margin=1.0), "`margin` must be below the width of the score range"),
        (lambda: Wsr(9, claim="same", margin=0.1, confidence=0.4), "`confidence` must be above 0.5"),
        (lambda: NScore(9, bins=1), "`bins` must be at least 2"),
        (lambda: NScore(9, levels=(0.5,)), "`levels` must be two or more rising numbers"),
        (lambda: NScore(9, levels=(0.0, 2.0)), r"`levels` must be in the range \[0, 1\]"),
        (lambda: NScore(9, mass=0), "`mass` must be above 0"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
