"""The result that TRI's STEP writes as JSON: two rates over the same number of trials."""

from __future__ import annotations

from surefoot.errors import DataError
from surefoot.files.fields import need, number
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, Share, rebuilt

ABOUT = About(
    name="STEP results",
    file="the JSON that STEP writes",
    becomes="rates of two policies, as counts",
    example="surefoot compare result.json",
)

RATES, NAMES = ("p0_hat", "p1_hat"), ("policy 0", "policy 1")


def recognises(head: Head) -> bool:
    """Two observed rates and the number of trials."""
    return {*RATES, "N"} <= head.json_object.keys()


def load(head: Head) -> Sheet:
    """Rows rebuilt from the two rates; what STEP decided is not taken over."""
    trials = need(head.json_object, "N", int, head.name)
    if not 1 <= trials <= 2**53:
        raise DataError(f"`N` must be a whole number, 1 or more; got {trials}.", source=head.name)
    shares = [
        Share(number(head.json_object[key], head.name, key), key, f"{head.name}, {key}", trials, {"policy": name})
        for name, key in zip(NAMES, RATES, strict=True)
    ]
    frame, findings = rebuilt(shares, head.name)
    notes = (UNORDERED, "p0_hat is the rate of 'policy 0' and p1_hat that of 'policy 1'.")
    return Sheet(frame, "STEP result", notes, findings, ordered=False, aggregate=True, unnamed=NAMES)
