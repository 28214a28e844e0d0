"""The log that an Inspect eval is compared with: the scores of its samples, and what they were."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.core import formatting
from surefoot.errors import DataError
from surefoot.files.formats.inspect_logs import GRADES

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalLog


class Known(NamedTuple):
    """A baseline: the scores of its samples by id, and what its samples were."""

    where: str
    model: str
    scorer: str
    scores: dict[str, float]
    items: dict[str, str]
    unscored: int


def known_of(baseline: str | Path | EvalLog, scorer: str | None, low: float) -> Known:
    """The baseline's scores: of each sample the mean over its epochs, the lowest where it has none."""
    from inspect_ai.log import EvalLog, read_eval_log

    log = baseline if isinstance(baseline, EvalLog) else read_eval_log(str(baseline))
    where = log.location or str(baseline)
    if not log.samples:
        raise DataError("the baseline must hold samples; it has none.", source=where)
    if scorer is None:
        names = sorted({name for sample in log.samples for name in sample.scores or {}})
        if len(names) != 1:
            got = ", ".join(names) if names else "none"
            raise DataError(f"the baseline must have one scorer, or `scorer` name one; it has {got}.", source=where)
        scorer = names[0]
    values: dict[str, list[float]] = {}
    items: dict[str, str] = {}
    unscored = 0
    for sample in log.samples:
        given = {name: score.value for name, score in (sample.scores or {}).items()}
        if given:
            value = chosen(given, scorer, f"{where}: sample {sample.id}")
        else:
            value, unscored = low, unscored + 1
        values.setdefault(str(sample.id), []).append(value)
        items[str(sample.id)] = item_of(sample.input, sample.target)
    scores = {sample: math.fsum(each) / len(each) for sample, each in values.items()}
    return Known(where, log.eval.model, scorer, scores, items, unscored)


def paired(samples: Iterable[Sample], known: Known) -> tuple[str, ...]:
    """The ids in the declared order, each with a result of the baseline on the same item."""
    listed = list(samples)
    order = tuple(str(sample.id) for sample in listed)
    missing = [sample for sample in order if sample not in known.scores]
    if missing:
        raise DataError(
            f"the baseline must hold every sample of the eval; it lacks {len(missing):,}: "
            f"{formatting.some_names(missing)}. Run the baseline in full.",
            source=known.where,
        )
    other = [str(sample.id) for sample in listed if item_of(sample.input, sample.target) != known.items[str(sample.id)]]
    if other:
        raise DataError(
            f"a sample must be the same item in the baseline; {formatting.some_names(other)} has another input or "
            "target there. Give every sample its own id: Inspect numbers the samples that have none.",
            source=known.where,
        )
    return order


def item_of(given: Any, target: Any) -> str:
    """What tells one item from another; a conversation counts by its words."""
    words = given if isinstance(given, str) else [[message.role, message.text] for message in given]
    return json.dumps([words, target])


def chosen(values: Mapping[str, Any], scorer: str, where: str) -> float:
    """The value of the scorer, or of "scorer.key", as a number."""
    value: Any = values.get(scorer)
    if value is None:
        name, _, key = scorer.rpartition(".")
        parts = values.get(name)
        value = parts.get(key) if isinstance(parts, Mapping) else None
    if value is None:
        raise DataError(f"the scorer {scorer!r} must have scored it; got {', '.join(values)}.", source=where)
    if isinstance(value, str):
        value = GRADES.get(value, GRADES.get(value.lower(), value))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"the score must be C, I, P, N or a number; got {value!r}.", source=where)
    return number
