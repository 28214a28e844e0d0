"""The result that TRI's STEP writes as JSON: two rates over the same number of trials."""

from __future__ import annotations

from surefoot.errors import DataError
from surefoot.rollouts.fields import need, number
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet, frame_of
from surefoot.rollouts.totals import UNORDERED, Rate, expand, impossible

RATES = ("p0_hat", "p1_hat")


def recognises(head: Head) -> bool:
    """Two observed rates and the number of trials."""
    document = head.document
    return isinstance(document, dict) and {*RATES, "N"} <= set(document)


def load(head: Head) -> Sheet:
    """Rows rebuilt from the two rates; what STEP decided is not taken over."""
    trials = need(head.document, "N", int, head.name)
    if not 1 <= trials <= 2**53:
        raise DataError(f"`N` must be a whole number, 1 or more; got {trials}.", source=head.name)
    policies, successes, findings = [], [], []
    for place, key in enumerate(RATES):
        value = number(head.document[key], head.name, key)
        if value is None or not 0.0 <= value <= 1.0:
            raise DataError(f"`{key}` must be between 0 and 1; got {head.document[key]!r}.", source=head.name)
        rate = Rate(value, 1e-6)
        count, fits = rate.successes(trials)
        findings += [] if fits else [impossible(f"{head.name}, {key}", rate, trials)]
        policies.append({"policy": f"policy {place}"})
        successes.append(count)
    frame = expand(frame_of(policies, head.name).collect(), successes, [trials, trials], head.name)
    notes = (UNORDERED, "p0_hat is the rate of 'policy 0' and p1_hat that of 'policy 1'.")
    names = ("policy 0", "policy 1")
    return Sheet(frame, "STEP result", notes, tuple(findings), ordered=False, aggregate=True, unnamed=names)
