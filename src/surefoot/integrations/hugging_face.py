"""The numbers of an answer as Hugging Face shows them: the metadata of a model card, and a file of `.eval_results`.

Both are text that `huggingface_hub` reads; the package itself is not needed to write them.
"""

from __future__ import annotations

import json
from typing import Any

from surefoot import __version__, _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.integrations.tracking import numbers

MUST = "hold one estimate, such as an interval of a rate"


def eval_results(
    result: Record, *, dataset: str, task: str = "default", date: str = "", source: str = "", notes: str = ""
) -> str:
    """The YAML of a file below `.eval_results/` of a model's repository.

    Args:
        result: The rate or mean score of the model, with its interval.
        dataset: The benchmark's name on the Hub: ``cais/hle``.
        task: The benchmark's task.
        date: When the evaluation was run, as ``2026-11-19``.
        source: Where its logs are, an address.
        notes: What else is to be known; the interval is added.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.integrations.hugging_face import eval_results
        >>> print(eval_results(sf.stats.wilson(sf.Tally(38, 50)), dataset="cais/hle"))
        - dataset:
            id: "cais/hle"
            task_id: "default"
          value: 0.76
          notes: "95% interval [62.5%, 85.8%], n = 50, Wilson"
        <BLANKLINE>
    """
    found = _one(result)
    told = f"{notes}; {_interval(result, found)}" if notes else _interval(result, found)
    lines = [
        "- dataset:",
        f"    id: {_text(dataset)}",
        f"    task_id: {_text(task)}",
        f"  value: {found['estimate']!r}",
    ]
    lines += [f"  date: {_text(date)}"] if date else []
    lines += ["  source:", f"    url: {_text(source)}"] if source else []
    return "\n".join([*lines, f"  notes: {_text(told)}", ""])


def model_card(
    result: Record, *, model: str, dataset: str, task: str = "text-generation", metric: str = "accuracy"
) -> str:
    """A model card: the result as metadata that the Hub reads, and as a table for people.

    Args:
        result: The rate or mean score of the model, with its interval.
        model: The model's name.
        dataset: The benchmark's name on the Hub.
        task: The kind of task, as the Hub has it.
        metric: The kind of metric, as the Hub has it.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.integrations.hugging_face import model_card
        >>> card = model_card(sf.stats.wilson(sf.Tally(38, 50)), model="me/mine", dataset="cais/hle")
        >>> "95% interval [62.5%, 85.8%], n = 50, Wilson" in card
        True
    """
    found = _one(result)
    told = _interval(result, found)
    shown: Any = getattr(result, "scale", "rate")
    value = formatting.number(float(found["estimate"]), shown) if shown in ("rate", "score") else f"{found['estimate']}"
    return "\n".join([
        "---",
        "model-index:",
        f"- name: {_text(model)}",
        "  results:",
        "  - task:",
        f"      type: {_text(task)}",
        "    dataset:",
        f"      type: {_text(dataset)}",
        f"      name: {_text(dataset)}",
        "    metrics:",
        f"    - type: {_text(metric)}",
        f"      value: {found['estimate']!r}",
        f"      name: {_text(f'{metric}, {told}')}",
        "---",
        f"# {model}",
        "",
        f"| dataset | {metric} | interval | n |",
        "|---|---|---|---|",
        f"| {dataset} | {value} | {told.partition(', n')[0]} | {found.get('n', '')} |",
        "",
        f"Computed by surefoot {__version__}.",
        "",
    ])  # fmt: skip


def _one(result: Record) -> dict[str, Any]:
    """The numbers of one estimate."""
    found = numbers(result)
    if "estimate" not in found or "low" not in found or "high" not in found:
        raise _check.wrong("result", f"{MUST}; got a {type(result).__name__}.")
    return dict(found)


def _interval(result: Record, found: dict[str, Any]) -> str:
    scale: Any = getattr(result, "scale", "rate")
    ends = formatting.span(found["low"], found["high"], scale)
    level = formatting.percent(found.get("confidence", 0.95))
    count = f", n = {found['n']:,}" if "n" in found else ""
    method = getattr(result, "method", "")
    return f"{level} interval {ends}{count}{f', {method}' if method else ''}"


def _text(value: str) -> str:
    """A string as YAML reads it: JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)
