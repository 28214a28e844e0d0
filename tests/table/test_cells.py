"""Tests of `surefoot.table.cells`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.table import cells
from tests.support.formats import tallies
from tests.support.samples import put


@pytest.mark.parametrize(("ends", "first"), [({}, 0.85), ({"low": 0, "high": 1}, 0.85), ({"high": 100}, 85.0)])
def test_percents_are_scores(tmp_path: Path, ends: dict[str, float], first: float) -> None:
    (tmp_path / "f.csv").write_text("policy,score\nnew,85%\nnew, 35 % \n")
    assert sf.read(tmp_path / "f.csv", **ends).scores().values == (first, pytest.approx(first * 35 / 85))


def test_percents_on_another_range_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("policy,score\nnew,85%\n")
    with pytest.raises(sf.DataError, match="Percents are read where scores run from 0 to 1 or from 0 to 100"):
        sf.read(tmp_path / "f.csv", high=5)


# Tables


@pytest.mark.parametrize(
    "content",
    [
        "policy,success\r\na,TRUE\r\na,False\r\na,yes\r\na,No\r\n",
        "\ufeffpolicy;success\na;1.0\na;0.0\na;1.000000\na;0.\n",
        "policy\tsuccess\n a \t 1.000000000000000000e+00 \na\tfail\na\tOK\na\t0\n",
        "policy,success\n\na,pass\na,failure\n\na,T\na,f\n\n\n",
    ],
)
def test_every_spelling_of_success(tmp_path: Path, content: str) -> None:
    assert tallies(sf.read(put(tmp_path, "a", content.encode()))) == {("a",): (2, 4)}


@pytest.mark.parametrize("column", ["success", "valid", "score", "order", "human"])
def test_cells_that_recur_are_read_as_those_that_do_not(column):
    """Cells are read once for each different one; what one says does not depend on how often it is there."""
    words = ["1", "0", "yes", " No ", "1.0", "01", "+1", "", "  ", None, "85%", "0,5", "nan", "1e3", "-0.5", "8/10"]
    cell = cells.by_polars(column, "n", pl.String(), "", percent=100.0 if column == "score" else None)

    def read(rows):
        frame = pl.DataFrame({"n": rows}, schema={"n": pl.String})
        return frame.select(cell.value.alias("v"), cell.bad.alias("b")).rows()

    alone = [read([word])[0] for word in words]
    assert read(words) == alone
    assert read(words * 7) == alone * 7
    assert len(set(alone)) > 2


def test_s_and_f_are_a_success_and_a_failure():
    """`F` was read and `S` was refused."""
    table = sf.read(pl.DataFrame({"policy": ["new"] * 3, "success": ["S", "F", "s"]}))
    assert table.tally() == sf.Tally(2, 3)
