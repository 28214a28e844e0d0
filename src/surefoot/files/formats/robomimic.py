"""robomimic rollouts: the printed log of a training or of `run_trained_agent.py`, or its averages as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, number, text
from surefoot.files.importers import About, Sheet
from surefoot.files.json_files import parsed
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED, Share, rebuilt

ABOUT = About(
    name="robomimic",
    file="the log of a training or of run_trained_agent.py, or its averages as JSON",
    becomes="successes of each evaluated epoch, by environment, rebuilt from Success_Rate and the number of rollouts",
    example="surefoot best log.txt",
)

ASKED = re.compile(r"rollout: env=(?P<env>[^,]+), .*num_episodes=(?P<trials>\d+)")
EPOCH = re.compile(r"Epoch (?P<epoch>\d+) Rollouts took")
ENV = re.compile(r"Env: (?P<env>.+)")
NAMED = {"policy": "epoch", "task": "env"}


def recognises(head: Head) -> bool:
    """Averages with a success rate beside a return and a horizon, or the lines that announce rollouts."""
    if head.is_json:
        return bool(_averages(head.json_object))
    return bool(ASKED.search(head.text)) or ("Average Rollout Stats" in head.text and "Success_Rate" in head.text)


def load(head: Head) -> Sheet:
    """A row per rollout, rebuilt from rates and numbers of rollouts."""
    found: list[Printed]
    if head.is_json:
        found = [({"task": env} if env else {}, stats, None) for env, stats in _averages(head.json_object).items()]
    else:
        found = list(_printed(head))
    filled(found, "the log must hold averages of rollouts", head.name)
    shares = [_share(cells, stats, trials, head.name) for cells, stats, trials in found]
    frame, findings = rebuilt(shares, head.name)
    return Sheet(frame, "robomimic", (UNORDERED,), findings, ordered=False, aggregate=True, named=NAMED)


def _averages(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The averages by environment; of one environment under an empty name."""
    if {"Success_Rate", "Horizon"} <= document.keys() and not isinstance(document["Success_Rate"], list):
        return {"": document}
    inside = {env: one for env, one in document.items() if isinstance(one, dict)}
    return inside if inside and all({"Success_Rate", "Horizon"} <= one.keys() for one in inside.values()) else {}


Printed = tuple[dict[str, str], dict[str, Any], int | None]


def _printed(head: Head) -> Iterator[Printed]:
    """The averages that a log prints, with the epoch, the environment and the number of rollouts asked for."""
    trials: dict[str, int] = {}
    cells: dict[str, str] = {}
    lines = iter(head.whole_text().splitlines())
    for line in lines:
        if asked := ASKED.search(line):
            trials[asked["env"]] = int(asked["trials"])
        elif begun := EPOCH.search(line):
            cells = {"policy": f"epoch {begun['epoch']}"}
        elif env := ENV.fullmatch(line.strip()):
            cells = {**cells, "task": env["env"]}
        elif line.strip() == "{" and (cells or "task" in cells):
            yield dict(cells), _object(lines, head.name), trials.get(cells.get("task", ""))
            cells = {name: value for name, value in cells.items() if name == "policy"}
        elif "Average Rollout Stats" in line:
            next(lines, "")
            yield {}, _object(lines, head.name), None


def _object(lines: Iterator[str], source: str) -> dict[str, Any]:
    """The object whose opening brace has been read."""
    kept = ["{"]
    for line in lines:
        kept.append(line)
        if line.strip() == "}":
            return dict(parsed("\n".join(kept), source))
    raise DataError("the log must be complete; it ends inside the averages of a rollout.", source=source)


def _share(cells: dict[str, str], stats: dict[str, Any], trials: int | None, source: str) -> Share:
    rate = number(stats.get("Success_Rate"), source, "Success_Rate")
    won = number(stats.get("Num_Success"), source, "Num_Success")
    if trials is None and rate and won:
        trials = round(won / rate)
    if trials is None:
        raise DataError(
            "the number of rollouts must be known; the file gives a rate of them only.",
            source=source,
            cure="Read the printed log, which says num_episodes, or write successes and trials to a CSV file.",
        )
    who = " ".join(filter(None, (text(cells.get("policy")), text(cells.get("task"))))) or source
    return Share(rate, "Success_Rate", who, trials, dict(cells) or {"task": "rollouts"})
