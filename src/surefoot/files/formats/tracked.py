"""A run's summary in an experiment tracker, as OpenVLA logs it: `success_rate/<task>` beside `num_episodes/<task>`."""

from __future__ import annotations

from surefoot.files.fields import number
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, counted, expand, whole
from surefoot.table.findings import Finding

ABOUT = About(
    name="OpenVLA tracked summary",
    file="a run's summary with success_rate/<task> and num_episodes/<task>",
    becomes="counts per task, checked against n",
    example="surefoot rate summary.json",
)

RATE, SIZE, TOTAL = "success_rate/", "num_episodes/", "total"


def recognises(head: Head) -> bool:
    """A flat object with a success rate and a number of episodes per task."""
    document = head.document
    return isinstance(document, dict) and any(
        isinstance(key, str) and key.startswith(RATE) and f"{SIZE}{key.removeprefix(RATE)}" in document
        for key in document
    )


def load(head: Head) -> Sheet:
    """Rows rebuilt from each task's rate and number of episodes; the total is used when it stands alone."""
    document = head.document
    names = [key.removeprefix(RATE) for key in document if key.startswith(RATE)]
    names = [name for name in names if f"{SIZE}{name}" in document]
    tasks = [name for name in names if name != TOTAL] or names
    rows, successes, trials = [], [], []
    findings: list[Finding] = []
    for row, task in enumerate(tasks, 1):
        size = whole(document[f"{SIZE}{task}"], f"{SIZE}{task}", head.name, row, least=1)
        value = number(document[f"{RATE}{task}"], head.name, f"{RATE}{task}")
        count, found = counted(value, size, name=f"{RATE}{task}", who=f"{head.name}, task {task}", source=head.name)
        findings += found
        rows.append({"task": task} if task != TOTAL else {"dataset": "all tasks"})
        successes.append(count)
        trials.append(size)
    frame = expand(frame_of(rows, head.name).collect(), successes, trials, head.name)
    return Sheet(frame, "tracked summary", (UNORDERED,), tuple(findings), ordered=False, aggregate=True)
