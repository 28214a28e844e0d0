"""lm-evaluation-harness `results_*.json`: one rate and n per task."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import may, need, number, text
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, Share, rebuilt

ABOUT = About(
    name="lm-evaluation-harness results",
    file="results_<date>.json",
    becomes="counts rebuilt from each task's rate and n; unpaired",
    example="surefoot compare new/results_2026-01-02.json old/results_2026-01-02.json",
)

COUNTED = ("acc", "exact_match", "pass@1", "em", "acc_norm")
"""Metrics that are shares of documents; means of other scores cannot be turned into counts."""


def recognises(head: Head) -> bool:
    """Results per task beside the harness's own sections."""
    document = head.json_object
    own = {"n-samples", "configs", "n-shot", "task_hashes"}
    return isinstance(document.get("results"), dict) and not own.isdisjoint(document)


def load(head: Head) -> Sheet:
    """Rows rebuilt from each task's rate and number of documents."""
    document = head.json_object
    groups = {name for name, parts in (may(document, "group_subtasks", dict, head.name) or {}).items() if parts}
    groups |= set(may(document, "groups", dict, head.name) or {})
    sizes = may(document, "n-samples", dict, head.name) or {}
    config = may(document, "config", dict, head.name) or {}
    model = text(document.get("model_name") or config.get("model"))
    shares, left, metrics = list[Share](), [], set()
    for task, result in need(document, "results", dict, head.name).items():
        if task in groups:
            continue
        if not isinstance(result, dict):
            raise DataError(f"`results.{task}` must be an object.", source=head.name)
        metric = next((key for name in COUNTED for key in result if key.split(",")[0] == name), None)
        size = _size(task, result, sizes, head.name)
        value = number(result[metric], head.name, f"results.{task}.{metric}") if metric else None
        if metric is None or size is None or value is None:
            left.append(task)
            continue
        metrics.add(metric)
        cells = {"policy": model, "task": task} if model else {"task": task}
        shares.append(Share(value, f"results.{task}.{metric}", f"{head.name}, task {task}", size, cells))
    if not shares:
        raise DataError(
            "the file must give a share of documents (acc, exact_match) and the number of documents for some task; "
            "it gives none. Run with --log_samples and read the samples.",
            source=head.name,
        )
    notes = [UNORDERED, f"success is rebuilt from {', '.join(sorted(metrics))} and the number of documents."]
    if left:
        notes.append(f"Left out, because the share or the number is not given: {', '.join(left[:8])}.")
    frame, findings = rebuilt(shares, head.name)
    name = "lm-evaluation-harness results"
    return Sheet(frame, name, tuple(notes), findings, ordered=False, aggregate=True, named={"policy": "model"})


def _size(task: str, result: dict[str, Any], sizes: dict[str, Any], source: str) -> int | None:
    counted = sizes.get(task)
    size = counted.get("effective") if isinstance(counted, dict) else result.get("sample_len")
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise DataError(f"`n-samples.{task}` must be a whole number, 1 or more; got {size!r}.", source=source)
    return size
