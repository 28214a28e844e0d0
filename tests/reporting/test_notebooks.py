"""A result in a notebook, as a table of data, and on the reader's own axes."""

from __future__ import annotations

import sys

import html5lib
import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot

import surefoot as sf
from surefoot.analysis.overview import EvidenceCurve
from surefoot.cli.demo import example_rollouts
from surefoot.core.record import LONGEST, Record
from surefoot.reporting import notebooks

HOSTILE = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def rollouts() -> sf.Rollouts:
    return example_rollouts()


@pytest.fixture(scope="module")
def made(rollouts: sf.Rollouts) -> dict[str, Record]:
    return {
        "interval": sf.success_rate(rollouts.where(policy="new")),
        "bound": sf.stats.wilson_lower(sf.Tally(17, 20)),
        "gain": sf.stats.exact_gain(sf.Tally(17, 20), sf.Tally(9, 20)),
        "comparison": sf.compare(rollouts, "new", "old"),
        "measurement": sf.measure(rollouts)[0],
        "ranking": sf.rank(rollouts),
        "band": sf.stats.band(sf.Scores((0.1, 0.4, 0.4, 0.9, 1.0))),
        "replay": sf.replay(rollouts, "new", "old"),
        "audit": sf.audit(rollouts),
        "plan": sf.plan_rate(half_width=0.1),
        "report": sf.report(rollouts),
    }


KINDS = (
    "interval",
    "bound",
    "gain",
    "comparison",
    "measurement",
    "ranking",
    "band",
    "replay",
    "audit",
    "plan",
    "report",
)
DRAWN = ("interval", "gain", "comparison", "measurement", "ranking", "band", "replay")


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_prints_short_and_shows_as_html(made: dict[str, Record], kind: str) -> None:
    """Version 0.1.0 printed a comparison in 20,000 characters and a report in 50,000."""
    assert len(repr(made[kind])) <= LONGEST + 60
    shown = made[kind]._repr_html_()
    html5lib.HTMLParser(strict=False).parseFragment(shown)
    assert shown.startswith("<div class='surefoot'>")
    assert ("<svg" in shown) == (kind in DRAWN)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"audit"}))
@pytest.mark.parametrize("library", notebooks.LIBRARIES)
def test_every_result_becomes_a_frame(made: dict[str, Record], kind: str, library: str) -> None:
    frame = made[kind].to_frame(library)
    assert type(frame).__module__.split(".")[0] == library
    assert frame.shape[0] >= 1
    assert frame.shape[1] >= 2


def test_a_frame_holds_the_numbers_of_the_result(made: dict[str, Record]) -> None:
    gain = made["gain"]
    assert isinstance(gain, sf.Gain)
    (row,) = gain.to_frame().to_dicts()
    assert (row["gain"], row["low"], row["high"]) == (gain.estimate, gain.interval.low, gain.interval.high)
    assert (row["verdict"], row["p_value"]) == (gain.verdict.value, gain.p_value)
    ranking = made["ranking"]
    assert isinstance(ranking, sf.Ranking)
    assert tuple(ranking.to_frame()["policy"]) == ranking.names
    band = made["band"]
    assert isinstance(band, sf.Band)
    assert [row["at_most"] for row in band.to_frame().to_dicts()] == [band.upper_cdf(point) for point in band.points]


@pytest.mark.parametrize("kind", DRAWN)
def test_a_result_is_drawn_on_the_axes_given(made: dict[str, Record], kind: str) -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    assert made[kind].plot(ax=right) is right
    assert right.lines or right.collections
    assert not left.lines
    pyplot.close(figure)
    own = made[kind].plot()
    assert own.lines or own.collections
    pyplot.close(own.figure)


def test_what_has_no_picture_says_so(made: dict[str, Record]) -> None:
    with pytest.raises(TypeError, match="no picture of a RatePlan; its numbers are in to_frame"):
        made["plan"].plot()
    with pytest.raises(ValueError, match="`library` must be one of polars, pandas, pyarrow; got 'numpy'"):
        made["plan"].to_frame("numpy")


def test_names_from_the_data_are_shown_and_never_run() -> None:
    rows = {"policy": [HOSTILE] * 20 + ["old"] * 20, "task": [HOSTILE, "b"] * 20, "success": [1] * 30 + [0] * 10}
    import polars as pl

    rollouts = sf.read(pl.DataFrame(rows))
    for result in (sf.compare(rollouts, HOSTILE, "old"), sf.rank(rollouts), sf.measure(rollouts)[0], rollouts):
        shown = result._repr_html_()
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown


def test_a_table_says_what_it_holds(rollouts: sf.Rollouts) -> None:
    """Version 0.1.0 showed `Rollouts(frame=...LazyFrame at 0x7f`."""
    assert repr(rollouts) == "<240 rollouts of 2 policies, 3 tasks>"
    assert "<th>policy</th>" in rollouts._repr_html_()


def test_results_that_hold_a_gain_or_a_state_keep_their_numbers(rollouts: sf.Rollouts) -> None:
    best = sf.reference.best_case_band(sf.Scores((0.1, 0.5, 0.9, 0.3)))
    assert "<svg" not in best._repr_html_()
    state = sf.sequential.run(sf.sequential.Wsr(20), [(1, 0)] * 20)[-1]
    (row,) = state.to_frame().to_dicts()
    assert (row["pairs"], row["verdict"]) == (state.pairs, state.verdict.value)
    plan = sf.plan_from_pilot(rollouts, "new", "old", gain=0.3)
    assert plan.to_frame()["needed"].to_list() == [plan.needed]


def test_gains_over_a_baseline_and_evidence_are_rows_and_pictures() -> None:
    found = sf.stats.against_baseline({"old": sf.Tally(5, 20), "new": sf.Tally(18, 20), "odd": sf.Tally(6, 20)}, "old")
    assert found.to_frame()["policy"].to_list() == ["new", "odd"]
    assert found.to_frame()["baseline"].to_list() == ["old", "old"]
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["new v old", "odd v old"]
    pyplot.close(axes.figure)
    curve = EvidenceCurve(None, 10, 20.0, (1.5, 3.0, 40.0), sf.Verdict.BETTER, "mixture")
    assert curve.to_frame().rows() == [(1, 1.5), (2, 3.0), (3, 40.0)]
    axes = curve.plot()
    assert axes.get_legend().get_texts()[0].get_text() == "mixture, 3 pairs"
    pyplot.close(axes.figure)


def test_a_library_that_is_not_here_is_named(made: dict[str, Record], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match="`library` must be installed; there is no pandas here"):
        made["bound"].to_frame("pandas")
