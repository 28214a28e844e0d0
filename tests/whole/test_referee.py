"""The referee: does it count what it says, and would it notice a method that misleads?"""

from __future__ import annotations

import pytest
from tools import referee

from surefoot import stats
from tests.support.old_methods import OLD, put_back


def test_a_case_is_too_often_false_when_its_lower_limit_is():
    assert referee.lower_limit(0, 100) == 0
    assert referee.lower_limit(100, 100) == pytest.approx(0.05 ** (1 / 100))
    case = referee.Case("shape", "20x5", "like", 0)
    for count, above in ((5, False), (9, False), (10, True), (100, True)):
        assert referee.Row.of(case, [0.04] * count + [1.0] * (100 - count)).above is above
    assert referee.Row.of(case, [0.001] * 3 + [1.0] * 97).above  # too many at .3%
    refused = referee.Row.of(case, ["why"] * 100)
    assert not refused.above
    assert str(refused).endswith("why")


def test_nulls_that_a_shape_cannot_have_are_not_asked():
    asked = [(case.name, case.null) for case in referee.cases(0, 0, ["88x1", "20x5"])]
    assert asked == [("88x1", "like"), ("20x5", "like"), ("20x5", "these")]
    assert {case.kind for case in referee.cases(2, 0)} == {"shape", "named", "tasks", "clusters"}


@pytest.mark.parametrize(("verdict", "p_value"), [("better", 0.06), ("undecided", 0.04)])
def test_a_verdict_against_its_p_value_stops_the_referee(verdict, p_value):
    with pytest.raises(AssertionError, match="the verdict is"):
        referee.counted(verdict, p_value)


def test_other_outcomes_in_a_table_as_read_are_another_file(tmp_path):
    """What a table as read answers is what the command answers for it, for the first table and for later ones."""
    for name, null in (("20x5", "these"), ("scores 4x20", "like"), ("2 robots x 10 x 5", "these")):
        case = referee.Case("shape", name, null, 0)
        found = list(referee.of_shape(referee.Job(case, 100, 3), tmp_path))
        for place, p_value in enumerate(found, 100):
            frame, declared = referee.drawn(case, place)
            frame.write_csv(tmp_path / "own.csv")
            target = None if referee.SHAPES[name].headline == null else null
            assert referee.by_command(tmp_path / "own.csv", target, declared) == p_value


def test_a_small_sample_of_the_whole_road(tmp_path, capsys):
    """A few tables of every kind of case, and the page that is written of them."""
    page = tmp_path / "referee.md"
    asked = ["--tables", "4", "--layouts", "1", "--old-tables", "0", "--processes", "1", "--page", str(page)]
    names = ["20x5", "scores 20x5", "88x1", "own items 30x5", "runs 5x30 declared", "tasks", "clusters"]
    assert referee.main([*names, *asked]) == 0
    assert capsys.readouterr().out.count(" like ") == 6
    assert "**None of 11 cases failed.**" in page.read_text(encoding="utf-8")


@pytest.mark.sample(3)
@pytest.mark.parametrize(("finding", "tables"), [("T24", 12), ("T26", 150), ("T27", 40)])
def test_a_method_of_before_is_noticed(finding, tables):
    now = getattr(stats, OLD[finding].name)
    (case,) = (one for one in referee.put_back_cases(0) if one.old == finding)
    (row,) = referee.judged([case], tables, 1)
    assert row.above
    (today,) = referee.judged([case._replace(old="")], tables, 1)
    assert not today.above
    with put_back(finding):
        assert getattr(stats, OLD[finding].name) is not now
    assert getattr(stats, OLD[finding].name) is now
