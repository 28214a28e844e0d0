"""Stable-Baselines3 and Gymnasium `monitor.csv`: a comment in JSON, then return, length and time per episode."""

from __future__ import annotations

import io

import polars as pl

from surefoot.errors import DataError
from surefoot.files.fields import text
from surefoot.files.importers import About, Sheet
from surefoot.files.json_files import parsed
from surefoot.files.recognising import Head
from surefoot.files.row_checks import checked

ABOUT = About(
    name="Gymnasium monitor",
    file="*.monitor.csv",
    becomes="the return of every episode",
    example="surefoot band 0.monitor.csv --score reward --low -100 --high 500",
)

NAMES = {"r": "reward", "l": "steps"}


def recognises(head: Head) -> bool:
    """The comment in the first line."""
    return head.text.startswith("#{") and '"t_start"' in head.text.split("\n", 1)[0]


def load(head: Head) -> Sheet:
    """One row per episode; the environment's name is the task."""
    first, _, rest = head.whole_text().partition("\n")
    comment = parsed(first[1:], head.name)
    if not rest.strip():
        raise DataError("there must be at least one episode; the file has none.", source=head.name)
    header = rest.split("\n", 1)[0].rstrip("\r").split(",")
    checked(io.BytesIO(rest.encode()), header=header, separator=",", source=head.name)
    frame = pl.read_csv(rest.encode(), infer_schema=False)
    if not {"r", "l"} <= set(frame.columns):
        raise DataError(f"the header must have r and l; got {', '.join(frame.columns)[:100]}.", source=head.name)
    task = text(comment.get("env_id"))
    kept = frame.drop("t", strict=False).rename(NAMES).with_row_index("order", offset=1)
    if task:
        kept = kept.with_columns(pl.lit(task[:200]).alias("task"))
    return Sheet(kept.lazy(), "monitor.csv", ("r is the reward and l the steps of an episode.",))
