"""Files of each kind of human mistake: read as meant, with what is odd said, or refused with the row."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import surefoot as sf
from tests.support.human_mistakes import KINDS, SCORES, Slip, Truth, slips


def told(rollouts: sf.Rollouts, measure: str) -> Truth:
    if measure == "score":
        scores = {name: rollouts.where(policy=name).scores() for name in rollouts.policies}  # refuses one out of range
        return {name: (sum(of.values), len(of.values)) for name, of in scores.items()}
    return {str(one.key[0]): (one.successes, one.outcomes) for one in rollouts.summary()}


def same(one: Truth, other: Truth) -> bool:
    return one.keys() == other.keys() and all(
        one[name][1] == other[name][1] and abs(one[name][0] - other[name][0]) < 1e-9 for name in one
    )


SPOKEN = {
    "header": "header",
    "units": "unit",
    "total": "total|sum|average|mean",
    "merged": "merged",
    "sheet": "sheet",
    "alike": "differ only in case, spaces or letters|look alike|nearly alike",
    "twice": "twice|copies|copied|same rows|repeated|identical",
}


def fate(path: Path, slip: Slip, measure: str) -> str:
    """What became of a file: "right", "refused", or why it was misread in silence."""
    try:
        rollouts = sf.read(path)
        found = told(rollouts, measure)
    except sf.DataError as error:
        place = error.row is not None or re.search(r"\b(row|line|cell|sheet|column|score \d+|UTF-16)s?\b", str(error))
        return "refused" if place else f"refused without a place: {error}"
    said = " ".join(str(one) for one in (*rollouts.notes, *rollouts.findings))
    if slip.truth is None or not same(found, slip.truth):
        return f"misread: {found} for {slip.truth}; {said}"
    if slip.said and not re.search(SPOKEN[slip.said], said + str(sf.audit(rollouts)), re.IGNORECASE):
        return f"nothing is said of {slip.said}: {said}"
    return "right"


@pytest.mark.parametrize("files", [6, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_mistake_is_misread_in_silence(kind, files: int, tmp_path: Path) -> None:
    measure = "score" if kind in SCORES else "success"
    fates = Counter(fate(path, slip, measure) for path, slip in slips(kind, files, tmp_path))
    assert sum(fates.values()) == files
    assert set(fates) <= {"right", "refused"}, "\n".join(fates)


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 25
