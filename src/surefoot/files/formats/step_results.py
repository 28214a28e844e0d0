"""The result that TRI's STEP writes as JSON: two rates over the same number of trials."""

from __future__ import annotations

from surefoot.errors import DataError
from surefoot.files.fields import need, number
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, counted, expand
from surefoot.table.findings import Finding

ABOUT = About(
    name="STEP results",
    file="the JSON that STEP writes",
    becomes="rates of two policies, as counts",
    example="surefoot compare result.json",
)

RATES, NAMES = ("p0_hat", "p1_hat"), ("policy 0", "policy 1")


def recognises(head: Head) -> bool:
    """Two observed rates and the number of trials."""
    document = head.document
    return isinstance(document, dict) and {*RATES, "N"} <= set(document)


def load(head: Head) -> Sheet:
    """Rows rebuilt from the two rates; what STEP decided is not taken over."""
    trials = need(head.document, "N", int, head.name)
    if not 1 <= trials <= 2**53:
        raise DataError(f"`N` must be a whole number, 1 or more; got {trials}.", source=head.name)
    successes: list[int] = []
    findings: list[Finding] = []
    for key in RATES:
        share = number(head.document[key], head.name, key)
        count, found = counted(share, trials, name=key, who=f"{head.name}, {key}", source=head.name)
        findings += found
        successes.append(count)
    policies = frame_of(({"policy": name} for name in NAMES), head.name).collect()
    frame = expand(policies, successes, [trials, trials], head.name)
    notes = (UNORDERED, "p0_hat is the rate of 'policy 0' and p1_hat that of 'policy 1'.")
    return Sheet(frame, "STEP result", notes, tuple(findings), ordered=False, aggregate=True, unnamed=NAMES)
