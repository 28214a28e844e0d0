"""Simulated studies, driven turn by turn to their own stop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.planning.sequential import plan_sequential
from surefoot.study.decision import rule_of
from surefoot.study.status import finding_of
from tests.support.studies import begun, driven, outcomes, plan

DECLARED = {"rule": "exact", "horizon": 100, "claim": "either", "confidence": 0.95, "environments": "independent"}


def runs(count, **rates):
    for seed in range(count):
        yield driven(begun(seed=seed, **DECLARED), outcomes(seed, **rates))


def mean_pairs(studies):
    used = [len(study.fold.counted) for study in studies]
    return sum(used) / len(used)


def test_a_clear_difference_stops_by_itself_as_its_rule_says():
    studies = list(runs(40, new=0.9, old=0.6))
    assert all(study.finished and study.next_turn() is None for study in studies)
    known = plan_sequential(rule_of(plan(**DECLARED)), 0.9, 0.6, rng=1)
    assert known.exact
    assert 31 <= known.expected_pairs <= 36
    assert mean_pairs(studies) == pytest.approx(known.expected_pairs, abs=9)  # three standard errors
    assert sum(study.verdict is sf.Verdict.BETTER for study in studies) >= 37
    assert not any(study.verdict is sf.Verdict.WORSE for study in studies)


def test_no_difference_is_seldom_called_one():
    wrong = sum(study.verdict is not sf.Verdict.UNDECIDED for study in runs(20, new=0.6, old=0.6))
    assert wrong <= 5  # at 5%: more than 5 of 20 once in 3,000


@pytest.mark.slow
def test_200_studies_of_a_clear_difference():
    studies = list(runs(200, new=0.9, old=0.6))
    print(f"mean pairs over 200 studies: {mean_pairs(studies):.2f}")
    assert 31 <= mean_pairs(studies) <= 36
    assert all(study.finished for study in studies)


@pytest.mark.slow
def test_2000_studies_of_no_difference():
    wrong = sum(study.verdict is not sf.Verdict.UNDECIDED for study in runs(2000, new=0.6, old=0.6))
    print(f"false decisions in 2,000 studies: {wrong}")
    assert wrong <= 131


# --- what is reported after the stop ---

AFTER = {**DECLARED, "horizon": 50, "blinded": False}


def reported(count, first, second):
    """How often the reported interval held the true gain, the estimates, and the gains as observed."""
    held, estimates, observed, endings = 0, [], [], set()
    for seed in range(count):
        study = driven(begun(seed=seed, **AFTER), outcomes(70_000 + seed, new=first, old=second))
        found = finding_of(study.fold, certified=True, steps=0)
        assert found.kind == "final"
        held += found.interval.low <= first - second <= found.interval.high
        estimates.append(found.interval.estimate)
        observed.append(found.observed)
        endings.add(study.fold.decision.ending)
    return held, np.array(estimates), np.array(observed), endings


def check_reported(count, first, second):
    held, estimates, observed, endings = reported(count, first, second)
    error = estimates.std(ddof=1) / np.sqrt(count)
    print(
        f"{count} studies of {first} v {second}: covered {held / count:.4f}, mean estimate {estimates.mean():+.4f} "
        f"+- {error:.4f}, observed {observed.mean():+.4f}, true {first - second:+.4f}"
    )
    assert binom.cdf(held, count, 0.95) > 1e-3  # no fewer than 95% would leave
    assert abs(estimates.mean() - (first - second)) < 3 * error
    assert {"verdict", "futility"} <= endings


def test_what_some_studies_report_covers_the_truth():
    check_reported(40, 0.75, 0.6)


@pytest.mark.slow
def test_what_2000_studies_report_covers_the_truth():
    check_reported(2000, 0.75, 0.6)
