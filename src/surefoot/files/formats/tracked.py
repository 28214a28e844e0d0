"""A run's summary in an experiment tracker, as OpenVLA logs it: `success_rate/<task>` beside `num_episodes/<task>`."""

from __future__ import annotations

from surefoot.files.fields import number
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, Share, rebuilt, whole

ABOUT = About(
    name="OpenVLA tracked summary",
    file="a run's summary with success_rate/<task> and num_episodes/<task>",
    becomes="counts per task, checked against n",
    example="surefoot rate summary.json",
)

RATE, SIZE, TOTAL = "success_rate/", "num_episodes/", "total"


def recognises(head: Head) -> bool:
    """A flat object with a success rate and a number of episodes per task."""
    return bool(_names(head))


def load(head: Head) -> Sheet:
    """Rows rebuilt from each task's rate and number of episodes; the total is used when it stands alone."""
    document, names = head.json_object, _names(head)
    shares = []
    for row, task in enumerate([name for name in names if name != TOTAL] or names, 1):
        rate, size = f"{RATE}{task}", f"{SIZE}{task}"
        trials = whole(document[size], size, head.name, row, least=1)
        cells = {"task": task} if task != TOTAL else {"dataset": "all tasks"}
        shares.append(Share(number(document[rate], head.name, rate), rate, f"{head.name}, task {task}", trials, cells))
    frame, findings = rebuilt(shares, head.name)
    return Sheet(frame, "tracked summary", (UNORDERED,), findings, ordered=False, aggregate=True)


def _names(head: Head) -> list[str]:
    """What both a rate and a number of episodes are given of."""
    rates = [key.removeprefix(RATE) for key in head.json_object if key.startswith(RATE)]
    return [name for name in rates if f"{SIZE}{name}" in head.json_object]
