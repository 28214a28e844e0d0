"""Tests of `surefoot.numerics.roots`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.numerics import roots


@given(st.lists(st.floats(0.01, 50), min_size=1, max_size=30))
def test_many_roots_at_once(targets: list[float]) -> None:
    wanted = np.array(targets)
    found = roots.solve(lambda x, c: x**3 - c, 0.0, 10.0, wanted)
    np.testing.assert_allclose(found, np.cbrt(wanted), rtol=1e-14)
    low, high = np.zeros(len(wanted)), np.full(len(wanted), 10.0)
    found = roots.newton(lambda x, c: (x**3 - c, 3 * x**2), low, high, wanted)
    np.testing.assert_allclose(found, np.cbrt(wanted), rtol=1e-14)


def test_roots_at_an_end_without_a_sign_change_and_within_a_distance() -> None:
    assert float(roots.solve(lambda x: x, 0.0, 1.0)) == 0.0
    assert float(roots.solve(lambda x: x - 1, 0.0, 1.0)) == 1.0
    assert float(roots.solve(lambda x: x + 1, 0.0, 1.0)) == 0.0
    calls: list[int] = []

    def counted(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        return np.tanh(x - 0.3)

    assert float(roots.solve(counted, -5.0, 8.0, within=1e-3)) == pytest.approx(0.3, abs=1e-3)
    few = len(calls)
    assert float(roots.solve(counted, -5.0, 8.0)) == pytest.approx(0.3, abs=1e-14)
    assert few < len(calls) - few


def test_steep_steps_do_not_leave_the_bracket() -> None:
    found = roots.solve(lambda x: np.where(x < 0.7, -1.0, 1e9), 0.0, 1.0)
    assert float(found) == pytest.approx(0.7, abs=1e-12)


def test_a_search_for_roots_cut_short_stays_in_its_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roots, "_ROUNDS", 2)
    low, high = np.zeros(3), np.array([1.0, 2.0, 4.0])
    found = roots.solve(lambda x: x * x - 0.3, low, high)
    assert np.all((low <= found) & (found <= high))
    assert np.all(np.abs(found * found - 0.3) <= 0.3)  # never worse than the better end
    steps = roots.newton(lambda x: (x * x - 0.3, 2.0 * x), low, high)
    assert np.all((low < steps) & (steps < high))
