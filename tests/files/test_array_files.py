"""Tests of `surefoot.files.array_files`."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from tests.support import samples
from tests.support.samples import put


class Boom:
    """A pickle that would leave a trace if anything loaded it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("kind", ["pickle", "npy", "npz", "torch"])
def test_a_pickle_is_refused_and_never_run(tmp_path: Path, kind: str) -> None:
    trace = tmp_path / "trace"
    if kind == "pickle":
        content = pickle.dumps(Boom(trace))
    elif kind == "npy":
        content = samples.npy(np.array([Boom(trace)], dtype=object))
    elif kind == "npz":
        content = samples.npz(timesteps=np.array([1]), results=np.array([Boom(trace)], dtype=object))
    else:
        content = samples.deflated({"archive/data.pkl": pickle.dumps(Boom(trace)), "archive/version": b"3"})
    with pytest.raises(sf.DataError, match=r"pickle.* Load it in a program that you trust, and write plain data"):
        sf.read(put(tmp_path, "f", content))
    assert not trace.exists()


def test_npy_of_another_shape_or_with_a_lying_header(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"must have the shape \(N, 2\), one column per policy; got \(3,\)"):
        sf.read(put(tmp_path, "a.npy", samples.npy(np.zeros(3))))
    lie = samples.npy(np.zeros((2, 2))).replace(b"(2, 2)", b"(9, 2)")
    with pytest.raises(sf.DataError, match="the array must hold 144 bytes after its header; got 32"):
        sf.read(put(tmp_path, "b.npy", lie))
    with pytest.raises(sf.DataError, match="the array must hold numbers; got type <U3"):
        sf.read(put(tmp_path, "c.npy", samples.npy(np.array([["yes", "no"]]))))
    with pytest.raises(sf.DataError, match="row 1: `score` must be a finite number; got nan"):
        sf.read(put(tmp_path, "d.npy", samples.npy(np.array([[np.nan, 0.5]]))))


def test_an_array_that_python_2_wrote_is_read(tmp_path: Path) -> None:
    old = samples.npy(np.array([[1.0, 0.0], [1.0, 1.0]])).replace(b"(2, 2), }", b"(2L, 2),}")
    assert b"2L" in old
    assert sf.read(put(tmp_path, "old.npy", old)).where(policy="policy 0").tally() == sf.Tally(2, 2)
