"""Tests of `surefoot.analysis.simultaneous`."""

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import stats
from surefoot.analysis.overview import overview
from surefoot.analysis.simultaneous import highest_bias, independent, measure_together
from surefoot.reporting import answers, tables
from surefoot.stats.selection import simultaneous_confidence


def table(successes, n=50, **columns):
    rows = [(f"p{place:02}", int(at < count)) for place, count in enumerate(successes) for at in range(n)]
    frame = pl.DataFrame(rows, schema=["policy", "success"], orient="row")
    return sf.read(frame.with_columns(**{name: pl.Series(make) for name, make in columns.items()}))


def test_rows_of_a_report_are_those_of_the_ranking_and_hold_together():
    rollouts = table([45, 40, 20])
    rows = {one.policy: one.success for one in overview(rollouts).policies}
    ranking = sf.rank(rollouts)
    wanted = stats.simultaneous_intervals({"p00": sf.Tally(45, 50), "p01": sf.Tally(40, 50), "p02": sf.Tally(20, 50)})
    for name, one in zip(ranking.names, ranking.intervals, strict=True):
        assert (one.low, one.high) == (rows[name].low, rows[name].high) == (wanted[name].low, wanted[name].high)
        assert one.method == rows[name].method == "Sidak-over-3 Clopper-Pearson"
        assert one.confidence == 0.95
    own = sf.rank(rollouts, own_intervals=True)
    assert own.intervals[0].low == stats.wilson(sf.Tally(45, 50)).low
    assert own.own_intervals


def test_policies_on_shared_conditions_pay_bonferroni():
    rollouts = table([45, 40, 20], condition=list(range(50)) * 3)
    assert not independent(rollouts)
    found = sf.rank(rollouts)
    low = stats.clopper_pearson(sf.Tally(45, 50), confidence=1 - 0.05 / 3).low
    assert found.intervals[0].low == pytest.approx(low, abs=1e-12)
    assert found.selection is None


def test_scores_and_successes_are_each_a_family():
    rng = np.random.default_rng(1)
    scores = rng.random(60).round(2).tolist()
    found = measure_together(table([15, 12, 10], n=20, score=scores))
    each = simultaneous_confidence(3)
    wanted = stats.score_mean(sf.Scores(sorted(scores[:20])), confidence=each)
    assert (found[0].score.low, found[0].score.high) == pytest.approx((wanted.low, wanted.high))
    assert found[0].success.method == "Sidak-over-3 Clopper-Pearson"
    notes = tables.notes(overview(table([15, 12, 10], n=20, score=scores)))
    assert notes[:2] == [
        "Intervals: 95% for all rows together.",
        "Rates and mean scores are two families, each by itself.",
    ]


def test_one_policy_keeps_its_own_interval():
    (only,) = measure_together(table([15], n=20))
    assert only.success == stats.wilson(sf.Tally(15, 20))


def test_bias_of_the_highest_is_for_independent_successes_of_one_task():
    names = ["p00", "p01"]
    assert highest_bias(table([45, 40]), "success", names).names == ("p00",)
    assert highest_bias(table([45, 40], task=["a", "b"] * 50), "success", names) is None
    assert highest_bias(table([45, 40], cluster=["a", "b"] * 50), "success", names) is None
    assert highest_bias(table([45, 40]), "score", names) is None


def test_a_page_says_that_the_highest_is_too_high():
    found = overview(table([43, *[40] * 4]))
    line = "p00: its 86.0% is probably about 5 points too high, because it was picked as the highest of 5."
    assert line in tables.notes(found)


def test_a_tie_has_no_winner():
    """T31: 12/20 v 12/20 said that one of them has the highest estimate."""
    said = answers.overview_answer(overview(table([12, 12, 11], n=20)))[0]
    assert said.startswith("For rollouts like these: cannot tell which of 3 policies is best; ")
    assert said.endswith("p00 and p01 are tied for the highest estimate.")


def test_no_page_promises_more_than_its_verdicts():
    """T30: "95% that every statement here holds" stood above rows that did not hold together."""
    said = " ".join(answers.overview_answer(overview(table([43, 40, 30]))))
    assert "95% that all verdicts and intervals of gains hold." in said
    assert "every statement" not in said


@pytest.mark.parametrize("count", [5, 20])
def test_all_rows_of_a_page_hold_together(count):
    """T30 by numbers of pages: 0.2.0 held in .80 of 5 x 50 and .41 of 20 x 50. The rows of a page are these ends."""
    rng = np.random.default_rng(30)
    rates = rng.uniform(0.5, 0.9, count)
    ends = [
        measure_together(table([k, *[25] * (count - 1)]))[0].success for k in range(51)
    ]  # by every count, as a page shows it
    low, high = (np.array([getattr(one, side) for one in ends]) for side in ("low", "high"))
    met = rng.binomial(50, rates, (2000, count))
    assert np.mean(np.all((low[met] <= rates) & (rates <= high[met]), axis=1)) >= 0.95
