"""Tests of `surefoot.table.summaries`."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from tests.support.rollouts import ROWS


@pytest.fixture
def table() -> sf.Rollouts:
    return sf.read(pl.DataFrame(ROWS))


def test_summary_is_sufficient(table: sf.Rollouts) -> None:
    new, old = table.summary()
    assert (new.key, new.rollouts, new.successes, new.scored) == (("new",), 3, 2, 3)
    assert (new.total, new.squares, new.least, new.most) == (2.25, 2.0625, 0.25, 1.0)
    assert old.tally == sf.Tally(1, 3)
    assert old.mean == 0.5
    assert [group.key for group in table.summary(by=("task", "policy"))] == [
        ("cut", "new"),
        ("cut", "old"),
        ("pour", "new"),
        ("pour", "old"),
    ]
    (everything,) = table.summary(by=())
    assert (everything.successes, everything.outcomes) == (3, 6)
    assert type(new).from_dict(new.to_dict()) == new


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["cut", "pour", None]),
            st.one_of(st.none(), st.booleans()),
            st.one_of(st.none(), st.integers(0, 8).map(lambda eighths: eighths / 8)),
            st.one_of(st.none(), st.booleans()),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_what_is_remembered_is_what_would_be_counted(rows: list[tuple[Any, ...]]) -> None:
    """Summaries added up from finer or wider ones equal those made from the rows."""
    schema = {"policy": pl.String, "task": pl.String, "success": pl.Boolean, "score": pl.Float64, "valid": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    if frame.filter(pl.col("success").is_not_null() | pl.col("score").is_not_null()).is_empty():
        return
    table = sf.read(frame)
    assert len(table) == frame.height
    for policy in table.policies:
        narrowed = table.where(policy=policy)
        rest = frame.filter(policy=policy)
        counts = rest.filter(pl.col("valid").fill_null(value=True))
        (group,) = narrowed.summary()
        assert (group.rollouts, group.void) == (counts.height, rest.height - counts.height)
        assert (group.outcomes, group.successes) == (counts["success"].count(), counts["success"].sum())
        assert (group.scored, group.total) == (counts["score"].count(), counts["score"].sum())
        assert (group.least, group.most) == (counts["score"].min(), counts["score"].max())
        assert len(narrowed) == rest.height
