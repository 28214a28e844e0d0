"""What several tests of operations share."""

from __future__ import annotations

from hypothesis import strategies as st

from surefoot.console.openapi import DESCRIPTION


def kinds(study_):
    study_.refresh()
    return [event.kind for event in study_.fold.history]


paths = st.sampled_from(
    [
        (path.replace("{number}", number), method)
        for path, entry in DESCRIPTION["paths"].items()
        for method in entry
        if method != "parameters" and not path.endswith("events")
        for number in ("1", "2", "77", "99999999999999999999")
    ]
)
