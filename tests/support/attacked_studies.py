"""What several tests of attacked studies share."""

from __future__ import annotations

from surefoot.study.studies import Study
from tests.support.studies import driven, outcomes, plan


def finished(address=":memory:"):
    study = driven(Study.create(plan(), address), outcomes(4, new=0.9, old=0.2))
    study.unblind(reason="decided")
    return study
