"""Tests of `surefoot.core.verdict`."""

from surefoot import Verdict


def test_a_verdict_is_mirrored_with_the_policies() -> None:
    assert Verdict.BETTER.mirrored is Verdict.WORSE
    assert Verdict.WORSE.mirrored is Verdict.BETTER
    assert Verdict.SAME.mirrored is Verdict.SAME
    assert Verdict.UNDECIDED.mirrored is Verdict.UNDECIDED
