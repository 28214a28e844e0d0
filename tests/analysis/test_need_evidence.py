"""The evidence for one need."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from surefoot import PairTally, Scores, Tally, stats
from surefoot.analysis.comparison_data import Combined, called
from surefoot.analysis.need_evidence import Seen, by_ends, lacking, sides_at
from surefoot.analysis.targets import hull
from surefoot.stats.one_sided_gains import asked


@pytest.mark.parametrize("edge", [-0.1, 0.0, 0.07])
def test_p_values_by_inversion_are_those_of_the_test(edge):
    make = partial(stats.exact_gain, Tally(45, 60), Tally(40, 60))
    direct = sides_at(make, edge, 0.05)

    def ends(error):  # of tables ordered at the same error
        return asked(Tally(45, 60), Tally(40, 60)).ends(error, 0.05)

    for one, other in zip(direct, by_ends(ends, edge), strict=True):
        assert other == 1.0 if one > 0.5 else other == pytest.approx(one, abs=2e-3, rel=0.02)


RNG = np.random.default_rng(4)
SCORES = [Scores(np.round(RNG.beta(4, 2, 60), 3).tolist()), Scores(np.round(RNG.beta(3, 2, 60), 3).tolist())]
CLUSTERS = [at // 3 for at in range(60)]
STRATA = {"a": (Tally(30, 40), Tally(24, 40)), "b": (Tally(18, 40), Tally(20, 40))}
MAKES = {
    "exact": partial(stats.exact_gain, Tally(45, 60), Tally(40, 60)),
    "pairs": partial(stats.exact_paired_gain, PairTally(20, 12, 5, 23)),
    "scores": partial(stats.score_gain, *SCORES),
    "paired scores": partial(stats.paired_score_gain, *SCORES),
    "clusters": partial(stats.cluster_gain, *SCORES, CLUSTERS),
    "strata": partial(stats.stratified_rate_gain, STRATA, weights="tasks"),
}
MAKES["both"] = Combined((MAKES["scores"], MAKES["clusters"]), hull)


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("error", [0.05, 0.01])
def test_p_values_agree_with_the_ends_of_the_interval(name, error):
    """Just beyond an end the p-value is at most the error, and just within it is above: for every method."""
    make = MAKES[name]
    ends = called(make, confidence=round(1 - 2 * error, 15), margin=0.0, central=True).interval
    nudge = 2e-3 * (ends.high - ends.low)
    assert sides_at(make, ends.low - nudge, error)[0] <= error < sides_at(make, ends.low + nudge, error)[0]
    assert sides_at(make, ends.high + nudge, error)[1] <= error < sides_at(make, ends.high - nudge, error)[1]


def test_what_a_need_lacks_is_what_a_plan_says():
    """A normal mean: n' = n ((z + z') half / (z gap))^2."""
    found = Seen(lambda edge: (1.0, 1.0), 0.0, (-0.1645, 0.1645), "gain", 100, "rollouts", "", "")
    assert lacking(found, -0.1, 0.05, 0.05) == pytest.approx(100 * (2.486 / 1) ** 2 - 100, rel=0.01)
    assert lacking(found, 0.0, 0.05, 0.05) is None


def test_the_rule_of_three():
    """No event in n rollouts shows a rate below 1% from n = 299 on."""
    found = Seen(lambda edge: (1.0, 1.0), 0.0, (0.0, 0.015), "rate", 200, "rollouts", "", "", Tally(0, 200))
    assert 99 <= lacking(found, 0.01, 0.05, 0.05) <= 110
