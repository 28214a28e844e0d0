"""A column per policy and a row per environment that they share; an empty cell was not run."""

from __future__ import annotations

from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head
from surefoot.files.text_files import refuse_repeated, text_frame
from surefoot.files.wide_tables import may_be_policies, perhaps_parts

ABOUT = About(
    name="a column per policy",
    file="a sheet with the columns Trial, Initial pose, ACT, DP",
    becomes="one row per condition; its policies share it",
    example="surefoot compare sheet.csv --policies-in ACT,DP",
)


def recognises(head: Head) -> bool:
    """Two columns or more that can only be policies: names nobody knows, above outcomes."""
    policies = may_be_policies(head)
    return len(policies) > 1 and not perhaps_parts(policies)


def load(head: Head) -> Sheet:
    """The sheet as it stands, with the columns that are policies named."""
    refuse_repeated([name for name in head.header if name.strip()], head.name)
    frame, left = text_frame(head)
    header = list(frame.collect_schema())
    names = dict(zip(head.header, header, strict=True))  # polars names a column that has no name
    policies = tuple(names[name] for name in may_be_policies(head))
    return Sheet(frame, "one column per policy", left.notes, policies_in=policies, left_out=left)
