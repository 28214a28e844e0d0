"""Tests of `surefoot.reporting.answers`."""

from __future__ import annotations

import re

import polars as pl

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.overview import overview
from surefoot.reporting import answers
from surefoot.reporting.answers import overview_answer
from tests.reporting.test_reviews import sharing_no_task
from tests.support.comparisons import by_tally
from tests.support.reports import rollouts as reports_rollouts


def test_verdicts_in_a_circle_rank_nobody_and_no_report_breaks():
    beats = (("x", "A", "B"), ("y", "B", "C"), ("z", "C", "A"))
    rollouts = by_tally(*(row for task, one, two in beats for row in ((one, task, 28, 30), (two, task, 5, 30))))
    ranking = sf.rank(rollouts)
    assert ranking.ranks == ((1, 3),) * 3
    assert ranking.letters.letters == ("a", "b", "c")
    assert [ranking.gain(one, two).verdict for _, one, two in beats] == [Verdict.BETTER] * 3
    answer = overview_answer(overview(rollouts))[0]
    assert answer == (
        "For the tasks that each two share: no policy stands first: A is better than B and worse than C, on the tasks "
        "that they share."
    )


def test_the_better_policy_is_first_though_it_met_harder_tasks():
    simpson = (("A", "easy", 19, 20), ("A", "hard", 64, 160), ("B", "easy", 120, 160), ("B", "hard", 2, 20))
    undeclared = sf.rank(by_tally(*simpson))  # shares so unlike are no design: pooled and within must agree
    assert undeclared.ranks == ((1, 2), (1, 2))
    ranking = sf.rank(by_tally(*simpson).declare(unit="task"))
    assert (ranking.names, ranking.ranks) == (("A", "B"), ((1, 1), (2, 2)))
    assert ranking.letters.of("A") == "a"
    found = overview(by_tally(*simpson, ("C", "easy", 1, 20), ("C", "hard", 1, 160)).declare(unit="task"))
    assert [one.policy for one in found.policies] == ["A", "B", "C"]
    assert overview_answer(found)[0] == "For these 2 settings (task): A is better than each of the others."
    few = overview(by_tally(*simpson, ("C", "easy", 1, 1), ("C", "hard", 1, 2)).declare(unit="task"))
    assert [one.policy for one in few.policies] == ["C", "A", "B"]  # by tasks alike: .75, .675, .425
    assert (
        overview_answer(few)[0]
        == "For these 2 settings (task): cannot tell which of 3 policies is best; C has the highest estimate."
    )


def test_cannot_tell_is_said_and_not_turned_into_a_winner():
    close = sf.report(reports_rollouts(levels=(0.55, 0.5), size=8))
    assert close.overview.comparisons[0].verdict is Verdict.UNDECIDED
    assert answers.overview_answer(close.overview)[0].startswith("For these 2 settings (task): cannot tell whether")
    assert not re.search(r"is (better|worse) than", close.html().replace("whether new is better than old", ""))


def test_pairs_that_share_no_task_are_counted_beside_the_answer():
    made = sf.report(sharing_no_task())
    assert "1 of the 3 pairs: The two share no task" in str(made)
    rows = [(name, task, i < k) for name, task, k in (("a", "x", 18), ("b", "y", 9), ("c", "x", 2)) for i in range(20)]
    made = sf.report(sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")))
    assert [one.about for one in made.overview.audit.serious] == ["one policy a level"]  # one task each: not to be told


def test_a_page_with_a_margin_says_how_large_it_is_and_how_it_is_read():
    table = reports_rollouts(("new", "old", "none"), (0.9, 0.8, 0.1))
    page = sf.report(table, margin=0.3).html()
    assert "Gains within 30.0 points do not matter." in page
    assert "wholly beyond the margin of 30.0 points, or wholly within it" in page
    assert "touches zero" not in page
    assert "An interval that contains zero decides nothing." in sf.report(table).html()


def test_not_worse_by_the_margin_is_said_where_better_cannot_be():
    one = sf.compare(by_tally(("a", "t", 18, 20), ("b", "t", 14, 20)), "a", "b", margin=0.2)
    assert one.verdict is Verdict.UNDECIDED
    said = answers.comparison_answer(one)
    assert said[0] == "For rollouts like these: cannot tell whether a is better than b."
    assert said[2].endswith("; it was shown not to fall behind by as much as 20.0 points.")
