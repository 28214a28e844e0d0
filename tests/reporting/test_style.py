"""Figures that a publisher takes, a column holds, and everybody can read."""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import surefoot as sf
from surefoot.cli.demo import example_rollouts
from surefoot.reporting import style
from surefoot.reporting.curve_figures import band_figure
from surefoot.reporting.style import save
from tests.support.reports import rollouts


@pytest.fixture(scope="module")
def report() -> sf.Report:
    return sf.report(example_rollouts())


def test_fonts_are_true_type_and_text_is_text(report: sf.Report, tmp_path: Path) -> None:
    """Version 0.1.0 wrote Type 3 fonts, which publishers refuse, and outlines in place of text."""
    for name, figure in report.figures().items():
        pdf = style.save(figure, tmp_path / f"{name}.pdf").read_bytes()
        assert b"/Type3" not in pdf
        assert b"/TrueType" in pdf or b"/CIDFontType2" in pdf
        svg = style.save(figure, tmp_path / f"{name}.svg").read_text()
        assert "<text" in svg


def test_pictures_have_300_dots_an_inch(report: sf.Report, tmp_path: Path) -> None:
    from PIL import Image

    figure = report.figures(width=3.4)["policies"]
    with Image.open(style.save(figure, tmp_path / "one.png")) as image:
        assert image.size[0] == round(3.4 * 300)


@pytest.mark.parametrize("width", [3.0, 3.4, 7.0])
def test_every_figure_fits_its_width_with_nothing_cut_off(report: sf.Report, width: float) -> None:
    """Version 0.1.0's plots collapsed at 3.4 inches (warnings are errors here)."""
    for name, figure in report.figures(width=width).items():
        FigureCanvasAgg(figure).draw()
        assert figure.get_figwidth() == width, name
        boxes = [text.get_window_extent() for axes in figure.axes for text in axes.texts if text.get_text()]
        assert all(box.x0 >= -1 and box.x1 <= figure.bbox.width + 1 for box in boxes), name


def test_a_reader_keeps_settings_and_styles_of_their_own(report: sf.Report) -> None:
    with mpl.rc_context({"font.size": 14.0}), style.drawing():
        assert mpl.rcParams["font.size"] == 14.0
        assert mpl.rcParams["pdf.fonttype"] == 42
    with style.drawing():
        assert mpl.rcParams["text.color"] == style.INK
    with style.sized(style="ggplot"), style.drawing():
        assert mpl.rcParams["axes.facecolor"] == "#E5E5E5"
    face = report.figures(style="ggplot")["policies"].axes[0].get_facecolor()
    assert mpl.colors.to_hex(face) == "#e5e5e5"


@pytest.mark.parametrize(
    ("asked", "says"),
    [({"width": 0.5}, "between 2 and 20 inches; got 0.5"), ({"style": "nice"}, "matplotlib's styles.*got 'nice'")],
)
def test_a_width_or_style_that_cannot_be_is_refused(report: sf.Report, asked: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        report.figures(**asked)
    assert not style.narrow()


# Machado, Oliveira and Fernandes (2009), severity 1: protanopia, deuteranopia, tritanopia.
BLIND = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def lab(colour: str, sight: np.ndarray) -> np.ndarray:
    part = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.clip(sight @ linear, 0.0, 1.0)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", BLIND)
def test_neighbouring_colours_differ_to_every_eye(sight: str) -> None:
    seen = [lab(colour, BLIND[sight]) for colour in style.COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in itertools.pairwise(seen)) > 15.0
    good, bad = (lab(colour, BLIND[sight]) for colour in (style.GOOD, style.BAD))
    assert np.linalg.norm(good - bad) > 15.0


def test_good_and_bad_differ_in_print_without_colour() -> None:
    good, bad = (lab(colour, np.eye(3))[0] for colour in (style.GOOD, style.BAD))
    assert abs(good - bad) > 5.0


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path):
    made = sf.report(rollouts(("ローボット", "π₀ $x_1$")))
    assert "ローボット" in made.html()
    from surefoot.reporting import style

    for place, figure in enumerate(made.figures().values()):
        style.save(figure, tmp_path / f"{place}.png")


VALUES = [0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]


def test_figure_endings(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.svg, \.png or \.pdf; got 'f\.gif'"):
        save(band_figure(sf.stats.band(sf.Scores(VALUES))), tmp_path / "f.gif")


def test_a_figure_that_was_placed_is_not_placed_again() -> None:
    with style.drawing():
        figure, axes = style.canvas(4.0, 2.0)
        axes.plot([0, 1], [0, 1])
    assert style.inline_svg(figure, "a", "a line") == style.inline_svg(figure, "a", "a line")
