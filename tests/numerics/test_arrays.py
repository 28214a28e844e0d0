"""Tests of `surefoot.numerics.arrays`."""

import re
from pathlib import Path

import numpy as np

from surefoot.numerics import arrays


def test_arrays_have_one_name_each_in_all_rooms():
    assert arrays.Floats.__args__[1].__args__ == (np.float64,)
    assert arrays.Ints.__args__[1].__args__ == (np.int64,)
    assert arrays.Flags.__args__[1].__args__ == (np.bool_,)
    own = re.compile(r"= NDArray\[np\.(float64|int64|bool_)\]$", re.MULTILINE)
    files = Path(arrays.__file__).parent.parent.rglob("*.py")
    assert [file.name for file in files if own.search(file.read_text(encoding="utf-8"))] == ["arrays.py"]
