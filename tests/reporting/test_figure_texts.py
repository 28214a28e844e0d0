"""Figures for a paper: no text over another or cut off, no higher than the golden ratio, and no warnings."""

from __future__ import annotations

import itertools
import random

import pytest

import surefoot as sf
from surefoot.reporting import style
from surefoot.reporting.pages import drawn_for_page
from surefoot.reporting.study_pages import study_figures
from tests.support.studies import begun

NAMES = ("act", "dp", "pi0", "openvla", "octo-small", "rdt_1b_ft", "gr00t-n1", "smolvla", "diffusion_policy_v2")
NAMES = (*NAMES, "tdmpc2", "bc-z", "a policy with a long name")
FAILURES = ("dropped", "missed the grasp", "collided with the shelf")


def studied(count, measure="success"):
    """A study of so many policies on four tasks, with durations and failures."""
    rng = random.Random(count)
    rates = {name: rng.uniform(0.2, 0.95) for name in NAMES[:count]}
    more = {"levels": (0.0, 0.25, 0.5, 1.0)} if measure == "score" else {}
    tasks, names = ("mug", "cup", "towel", "drawer"), tuple(rates)
    plan = {"policies": names, "rule": None, "horizon": 16, "futility": 0.0, "environments": "shared", "tasks": tasks}
    study = begun(blinded=False, measure=measure, **plan, **more)
    while (turn := study.next_turn()) is not None:
        good = rng.random() < rates[turn.policy]
        result = good if measure == "success" else 1.0 if good else rng.choice((0.0, 0.25, 0.5))
        study.record(turn, result, duration=rng.uniform(20, 90), failure="" if good else rng.choice(FAILURES))
    return study


def texts(figure):
    """Every text that is drawn, with its box in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = set()
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = [one for one in axis.get_major_ticks() if not low - 1e-9 <= one.get_loc() <= high + 1e-9]
        hidden |= {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    drawn = [one for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip()]
    return [(one.get_text(), one.get_window_extent(canvas.get_renderer())) for one in drawn if id(one) not in hidden]


def check(name, figure, width):
    apart(name, figure)
    wide, high = figure.get_size_inches()
    assert wide == width
    assert high <= style.GOLDEN * width + 1e-9, name


def apart(name, figure):
    found, page = texts(figure), figure.bbox
    for (one, a), (other, b) in itertools.combinations(found, 2):
        over = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(over) <= 1.0, f"{name}: {one!r} and {other!r} overlap by {over}"
    for text, box in found:
        assert box.x0 >= page.x0 - 1.0, f"{name}: {text!r} is cut off"
        assert box.x1 <= page.x1 + 1.0, f"{name}: {text!r} is cut off"
        assert box.y0 >= page.y0 - 1.0, f"{name}: {text!r} is cut off"
        assert box.y1 <= page.y1 + 1.0, f"{name}: {text!r} is cut off"


@pytest.mark.parametrize(("count", "measure"), [(2, "success"), (12, "success"), (4, "score")])
def test_texts_are_whole_and_apart(count, measure):
    study = studied(count, measure)
    for made in (sf.report(study), sf.report(study.rollouts())):
        for width in (3.4, 7.0):
            drawn = made.figures(width=width)
            assert {"policies", "heat"} <= set(drawn)
            for name, figure in drawn.items():
                if not name.startswith("band "):  # of one policy alone, and higher
                    check(name, figure, width)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["success", "score"])
@pytest.mark.parametrize("count", range(2, 13))
def test_texts_are_whole_and_apart_at_every_count(count, measure):
    test_texts_are_whole_and_apart(count, measure)


def test_the_course_of_a_study_has_room_on_a_page():
    for name, figure in drawn_for_page(lambda: study_figures(sf.report(studied(12)).study)).items():
        apart(name, figure)
