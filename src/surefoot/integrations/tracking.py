"""The numbers of an answer where a team looks: W&B, MLflow, TensorBoard, OpenTelemetry, a summary of GitHub's checks.

Nothing of these is imported unless what is given belongs to it; nothing else of surefoot imports this file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core.record import Record
from surefoot.errors import DataError
from surefoot.reporting.notebooks import drawable, rows_of
from surefoot.reporting.reviews import code_span, inert

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMED = ("policy", "task", "level", "first", "second", "baseline", "name", "measure", "slice", "need")
"""What tells the rows of an answer apart; they become part of the keys where there are several."""
KEPT = ("estimate", "low", "high", "n", "verdict", "p_value", "confidence", "bound", "best_rank", "worst_rank")
"""What is logged of every row."""
SUMMARY = "GITHUB_STEP_SUMMARY"
"""Where a step of GitHub's checks says that its summary is."""

Numbers = dict[str, float | int | str]


def numbers(result: Record | Sequence[Record]) -> Numbers:
    """One flat dictionary of estimate, low, high, n and verdict; names of rows come first where there are several.

    Args:
        result: An interval, a gain, a comparison, a ranking, any other answer, or several of a kind.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.integrations.tracking import numbers
        >>> found = numbers(sf.stats.wilson(sf.Tally(38, 50)))
        >>> found["estimate"], found["n"], round(float(found["low"]), 3)
        (0.76, 50, 0.626)
    """
    rows = [_plain(row) for row in rows_of(result)]
    named = [tuple(str(row[name]) for name in NAMED if row.get(name) is not None) for row in rows]
    found: Numbers = {}
    for place, (row, names) in enumerate(zip(rows, named, strict=True), 1):
        telling = [] if len(rows) == 1 else [*names, *([str(place)] if named.count(names) > 1 else [])]
        for name in KEPT:
            value = row.get(name)
            if value is None or (isinstance(value, float) and not math.isfinite(value)):
                continue
            found["/".join([*telling, name])] = value
    if not found:
        raise _check.wrong("result", f"hold an estimate or a verdict; a {type(result).__name__} holds none.")
    return found


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with one name for the estimate and one for how many rollouts are behind it."""
    own = dict(row)
    what = next((name for name in ("gain", "success", "score") if isinstance(own.get(name), float)), None)
    if "estimate" not in own and what is not None:
        own["estimate"] = own[what]
        for end in ("low", "high"):
            own.setdefault(end, own.get(f"{what}_{end}"))
    own.setdefault("n", own.get("rollouts"))
    own.setdefault("verdict", own.get("ends"))  # of a need of a gate: pass, open or fail
    return own


def log(result: Record | Sequence[Record], *, to: Any, name: str = "surefoot", step: int | None = None) -> Numbers:
    """Write the numbers of an answer, and its figure where there is one, to a run of an experiment tracker.

    Args:
        result: An interval, a gain, a comparison, a ranking, any other answer, or several of a kind.
        to: A run of W&B (`wandb.init()`); a run of MLflow (`mlflow.start_run()`) or the module `mlflow` itself; a
            `SummaryWriter` of TensorBoard; a span of OpenTelemetry; "github" for the summary of a step of its checks;
            or the path of a Markdown file, which is added to.
        name: What the keys begin with.
        step: The step of the training; 0 in TensorBoard when not said.

    Returns:
        What was logged: one flat dictionary.

    Example:
        >>> import tempfile
        >>> import surefoot as sf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = sf.log(sf.stats.wilson(sf.Tally(38, 50)), to=f"{folder}/summary.md")
        >>> found["surefoot/estimate"]
        0.76
    """
    flat = numbers(result)
    of_text = isinstance(to, (str, Path))
    home = "a path" if of_text else (getattr(to, "__name__", "") or type(to).__module__).partition(".")[0]
    if of_text:
        _markdown(result, _summary(to))
    elif home in TRACKERS:
        TRACKERS[home](result, flat, to, name, step)
    elif hasattr(to, "add_scalar"):
        _tensorboard(result, flat, to, name, step)
    elif hasattr(to, "set_attributes") and hasattr(to, "add_event"):
        _span(result, flat, to, name, step)
    else:
        kinds = "a run of W&B or MLflow, a SummaryWriter, a span of OpenTelemetry, 'github' or a path"
        raise _check.wrong("to", f"be {kinds}; got a {type(to).__name__}.")
    return {f"{name}/{key}": value for key, value in flat.items()}


def _wandb(result: Record | Sequence[Record], flat: Numbers, to: Any, name: str, step: int | None) -> None:
    import wandb

    body: dict[str, Any] = {f"{name}/{key}": value for key, value in flat.items()}
    figure = _figure(result)
    if figure is not None:
        body[f"{name}/figure"] = wandb.Image(figure)
        _close(figure)
    to.log(body, step=step)
    to.summary.update({f"{name}/{key}": value for key, value in flat.items()})


def _mlflow(result: Record | Sequence[Record], flat: Numbers, to: Any, name: str, step: int | None) -> None:
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    run = getattr(to, "info", None)
    if run is None:
        active = to.active_run()
        run = (active or to.start_run()).info
    for key, value in flat.items():
        allowed = re.sub(r"[^\w\-. :/]", "_", f"{name}/{key}")
        if isinstance(value, str):
            client.set_tag(run.run_id, allowed, value)
        else:
            client.log_metric(run.run_id, allowed, float(value), step=step or 0)
    figure = _figure(result)
    if figure is not None:
        client.log_figure(run.run_id, figure, f"{name}.svg")
        _close(figure)


def _tensorboard(result: Record | Sequence[Record], flat: Numbers, to: Any, name: str, step: int | None) -> None:
    for key, value in flat.items():
        if isinstance(value, str):
            if hasattr(to, "add_text"):
                to.add_text(f"{name}/{key}", value, step or 0)
        else:
            to.add_scalar(f"{name}/{key}", float(value), step or 0)
    figure = _figure(result) if hasattr(to, "add_figure") else None
    if figure is not None:
        to.add_figure(f"{name}/figure", figure, step or 0)
        _close(figure)


def _span(result: Record | Sequence[Record], flat: Numbers, to: Any, name: str, step: int | None) -> None:
    """Attributes of the span, and the event that OpenTelemetry's conventions have for an evaluation."""
    own = {f"{name}.{key.replace('/', '.')}": value for key, value in flat.items()}
    to.set_attributes(own if step is None else {**own, f"{name}.step": step})
    event: dict[str, Any] = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.explanation": str(result)}
    for key, kind in (("estimate", "value"), ("verdict", "label")):
        if key in flat:
            event[f"gen_ai.evaluation.score.{kind}"] = flat[key]
    to.add_event("gen_ai.evaluation.result", event)


TRACKERS: dict[str, Callable[[Record | Sequence[Record], Numbers, Any, str, int | None], None]] = {
    "wandb": _wandb,
    "mlflow": _mlflow,
}


def _summary(to: str | Path) -> Path:
    """The file of a summary."""
    if to != "github":
        return Path(to)
    where = os.environ.get(SUMMARY)
    if not where:
        raise DataError(f"a step of GitHub's checks must set {SUMMARY}; it is not set. Give a path instead.", source="")
    return Path(where)


def _markdown(result: Record | Sequence[Record], path: Path) -> None:
    """The sentence of an answer and its numbers as a table, added to a Markdown file."""
    several = result if isinstance(result, Sequence) else (result,)
    lines = [inert(line) for one in several for line in str(one).splitlines()]
    rows = rows_of(result)
    header = list(dict.fromkeys(name for row in rows for name in row))
    lines += ["", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for row in rows:
        cells = [_cell(row.get(name)) for name in header]
        lines.append(f"| {' | '.join(cells)} |")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join([*lines, "", ""]))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else code_span(str(value), cell=True)


def _figure(result: Record | Sequence[Record]) -> Figure | None:
    if isinstance(result, Sequence) or not drawable(result):
        return None
    figure: Figure = result.plot().figure
    return figure


def _close(figure: Figure) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)
