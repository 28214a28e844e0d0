"""Tests of `surefoot.sequential.designs`."""

import json
import math
import zipfile

import numpy as np
import pytest

from surefoot import DataError
from surefoot.numerics import polynomials
from surefoot.numerics.designs import stopped_walks
from surefoot.sequential import ExactBinary, ExactPairedBinary, designs
from tests.support.exact_designs import KINDS, every_family

every_side = pytest.mark.parametrize("both", [True, False], ids=["both", "first"])


# --- certificates ---


@every_family
@every_side
@pytest.mark.parametrize("horizon", [20, 50, 100])
def test_shipped_tables_are_monotone_and_keep_their_error(family, both, horizon):
    for declared in designs.shipped(family):
        if (declared.horizon, declared.both) == (horizon, both):
            _prove(declared)


@pytest.mark.slow
@every_family
@pytest.mark.parametrize("horizon", designs.HORIZONS)
def test_every_shipped_certificate_is_proved_again(family, horizon):
    wanted = [declared for declared in designs.shipped(family) if declared.horizon == horizon]
    assert len(wanted) == 6
    for declared in wanted:
        _prove(declared)


def _prove(declared: designs.Declared) -> None:
    design = designs.read(designs.SHIPPED / f"{declared.family}.zip", declared)
    assert design is not None, declared.name
    limits = design.limits
    rows = np.arange(declared.horizon + 1)
    for n in rows[1:]:
        assert (np.diff(limits[n, : n + 1]) >= 0).all()
        # For a claim in both directions never both at once; and never against what was seen.
        assert (limits[n, : n + 1] >= rows[: n + 1])[: n // 2 + 1 if declared.family == "paired" else n + 1].all()
    total = stopped_walks.coefficients(design.walk(), limits)
    proved = float(total.max()) if declared.family == "paired" else polynomials.polynomial_maximum(total)[1]
    assert proved <= declared.error
    assert proved <= design.proved + 1e-9
    assert design.proved >= 0.9 * declared.error or declared.horizon <= 30  # the error is used
    assert polynomials.polynomial_maximum(total)[1] <= declared.error  # independent pairs


# --- keeping tables ---


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(designs, "_cache", lambda: tmp_path)
    designs.design.cache_clear()
    yield tmp_path
    designs.design.cache_clear()


def test_other_horizons_are_computed_once_and_kept(cache, monkeypatch):
    declared = designs.Declared("binary", 13, 0.05, False)
    made = designs.design(declared)
    (kept,) = cache.rglob("*.zip")
    monkeypatch.setattr(designs, "compute", None)
    designs.design.cache_clear()
    again = designs.design(declared)
    assert (again.limits == made.limits).all()
    assert (again.proved, again.digest) == (made.proved, made.digest)
    assert not list(cache.rglob("tmp*"))
    assert again.limits.flags.writeable is False
    assert kept.stat().st_size < 2000


def test_a_damaged_cache_is_made_again(cache):
    declared = designs.Declared("paired", 12, 0.1, True)
    made = designs.design(declared)
    (kept,) = cache.rglob("*.zip")
    kept.write_bytes(b"not a table")
    designs.design.cache_clear()
    assert (designs.design(declared).limits == made.limits).all()
    assert designs.read(kept, declared) is not None


def test_a_place_that_cannot_be_written_is_left_alone(cache, monkeypatch):
    blocked = cache / "file"
    blocked.write_text("in the way")
    monkeypatch.setattr(designs, "_cache", lambda: blocked)
    assert designs.design(designs.Declared("binary", 7, 0.1, True)).proved <= 0.1
    assert blocked.read_text() == "in the way"


def test_a_changed_table_is_refused(tmp_path):
    declared = designs.Declared("binary", 9, 0.1, True)
    made = designs.compute(declared)
    path = tmp_path / "binary.zip"
    designs.keep(path, [made])
    assert (designs.read(path, declared).limits == made.limits).all()
    assert designs.read(path, declared._replace(horizon=10)) is None
    with zipfile.ZipFile(path) as file:
        index, stored = json.loads(file.read("index.json")), bytearray(file.read(declared.name))
    stored[4] ^= 1
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("index.json", json.dumps(index))
        file.writestr(declared.name, bytes(stored))
    with pytest.raises(DataError, match=r"binary.zip: the stored design binary-9-0.1-both is damaged"):
        designs.read(path, declared)
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="the stored designs cannot be read"):
        designs.read(path, declared)


def test_confidence_names_one_design_however_it_was_written():
    assert designs.error_of(0.95, both=True) == 0.025
    assert designs.error_of(1 - 0.05, both=False) == 0.05
    names = {declared.name for family in KINDS for declared in designs.shipped(family)}
    assert len(names) == 144


@pytest.mark.parametrize("family", KINDS)
def test_the_package_brings_what_it_says_and_nothing_else(family):
    with zipfile.ZipFile(designs.SHIPPED / f"{family}.zip") as file:
        names = set(json.loads(file.read("index.json")))
        assert {*names, "index.json"} == set(file.namelist())
    assert names == {declared.name for declared in designs.shipped(family)}


@pytest.mark.parametrize("kind", [ExactBinary, ExactPairedBinary])
def test_shipped_designs_are_neither_computed_nor_kept_again(kind, cache, monkeypatch):
    designs.design.cache_clear()
    monkeypatch.setattr(designs, "compute", None)
    for horizon in (20, 150, 500):
        assert kind(horizon, claim="either").design.declared.horizon == horizon
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("family", ["binary", "paired"])
def test_long_horizons_use_the_formula_and_are_proved_all_the_same(family, monkeypatch):
    monkeypatch.setattr(designs, "SEARCHED", 30)
    made = designs.compute(designs.Declared(family, 40, 0.05, True))
    assert made.constant is not None
    assert made.constant > 1.0
    walk = made.walk()
    assert 0.03 < made.proved == walk.worst(stopped_walks.coefficients(walk, made.limits)) <= 0.05


def test_a_place_for_shipped_designs_that_cannot_be_written_is_an_error(cache, monkeypatch):
    made = designs.compute(designs.Declared("binary", 9, 0.1, True))
    (cache / "file").write_text("")
    monkeypatch.setattr(designs, "SHIPPED", cache)
    with pytest.raises(OSError, match="file"):
        designs.keep(cache / "file" / "designs.zip", [made])


@pytest.mark.parametrize(
    ("platform", "place"),
    [("win32", "local"), ("darwin", "home/Library/Caches"), ("linux", "cache")],
)
def test_each_system_keeps_designs_where_it_keeps_caches(platform, place, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", platform)
    for name, folder in (("LOCALAPPDATA", "local"), ("HOME", "home"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert designs._cache() == tmp_path / place / "surefoot" / "designs"


def test_progress_is_told_on_a_terminal_only_when_it_takes_long(monkeypatch, capsys):
    declared = designs.Declared("binary", 450, 0.05, True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = designs._Progress(declared)
    progress(0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(designs, "_PATIENCE", -math.inf)
    progress(0.5)
    progress(1.0)
    told = capsys.readouterr().err
    assert "Computing the exact design for 450 pairs (once; it is kept):  50%" in told
    assert told.endswith("100%\n")
