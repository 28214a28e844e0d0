"""The verdict on the first-named policy."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Claim = Literal["both", "worse", "better"]
CLAIMS = ("both", "worse", "better")
"""Which directions are claimed of many slices at once."""


class Verdict(StrEnum):
    """The decision of a declared rule, always about the first-named policy."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"

    @property
    def mirrored(self) -> Verdict:
        """The same decision with the policies swapped."""
        return {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}.get(self, self)
