"""How is a study's plan written in a browser, with what it will take shown at every change, on this machine alone?"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from starlette.routing import Route

from surefoot._files import write_whole
from surefoot.console.local_page import LocalPage
from surefoot.errors import StudyError
from surefoot.sequential.registry import Environments
from surefoot.study import plan_files
from surefoot.study.expectations import expect, usual
from surefoot.study.feasibility import feasible, table
from surefoot.study.plans import OnSafetyStop, Plan, StudyClaim

RUNS = 300
"""Studies simulated for each chance: a change is answered in a second or two."""
SHOWN = (
    *("title", "question", "claim", "horizon", "confidence", "time_limit", "instruction", "reset", "stages"),
    *("success_stage", "failure_tags", "conditions", "rigs", "operators", "safety_stops", "on_safety_stop"),
    *("environments", "blinded"),
)
"""The plain fields that have a place in the form; what else a file says stays as it is."""
NUMBERS = ("horizon", "confidence", "time_limit", *plan_files.TIME_FIELDS)
WHOLE = ("horizon", "rigs_at_once")
NAMES = ("failure_tags", "rigs", "operators", "safety_stops", "conditions")
PAIRS = ("stages", "serving")
FLAGS = ("blinded", "checkpoint_may_change")
CHOICES = {"claim": StudyClaim, "on_safety_stop": OnSafetyStop, "environments": Environments}
EXAMPLE: dict[str, Any] = {"title": "Untitled study", "policies": ["new", "old"]}


class PlanPage(LocalPage):
    """A form made from the fields of a plan, the file that it writes, and what the plan will take."""

    template, command = "plan.html", "surefoot study plan"

    def __init__(self, path: Path) -> None:
        """Edit the plan in `path`; a new one where there is none."""
        super().__init__(path.parent)
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self.before = _hash(text)
        self.kept: dict[str, Any] = tomllib.loads(Plan.from_toml(text).to_toml()) if text else dict(EXAMPLE)

    def routes(self) -> list[Route]:
        """What the page asks for."""
        asked = {"/form": self.form, "/check": self.check, "/save": self.save}
        return [Route(path, self.calculated(work), methods=["POST"]) for path, work in asked.items()]

    def form(self, _: dict[str, Any]) -> dict[str, Any]:
        """The fields of the form, each with what it says, and their values as texts."""
        plain = {name: plan_files.FIELDS[name] for name in SHOWN}
        parts = [{"name": "", "about": "The study", "many": False, "fields": _fields(plain)}]
        for name, (about, fields) in plan_files.PARTS.items():
            parts.append({"name": name, "about": about, "many": name != "time_budget", "fields": _fields(fields)})
        values: dict[str, Any] = {"": {name: _shown(self.kept.get(name)) for name in SHOWN}}
        values["time_budget"] = [_texts(self.kept.get("time_budget", {}))]
        for name in ("policies", "tasks"):
            listed = [one if isinstance(one, Mapping) else {"name": one} for one in self.kept.get(name, ())]
            values[name] = [_texts(one) for one in listed]
        return {"path": str(self.path), "parts": parts, "values": values}

    def plan(self, asked: dict[str, Any]) -> Plan:
        """The plan that the form describes."""
        given: Any = asked.get("values", {})
        fields = {name: value for name, value in self.kept.items() if name not in (*SHOWN, *plan_files.PARTS)}
        fields |= _read(given.get("", {}))
        for name in plan_files.PARTS:
            tables = [made for one in given.get(name, ()) if (made := _read(one))]
            if tables:
                fields[name] = tables[0] if name == "time_budget" else tables
        try:
            whole: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in fields.items()}
            return Plan(**whole)
        except TypeError as error:
            raise StudyError(f"The plan cannot be used: {error}") from None

    def check(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The plan's file, and what its rollouts can answer."""
        plan = self.plan(asked)
        text = str(asked.get("rates", "")).replace(" ", "")
        if text:
            rates = [float(part) for part in text.split(",") if part]
            expected = expect(plan, rates, runs=RUNS, advise=False)
            told = f"{expected.sentence}\n{feasible(plan, rates, runs=RUNS, expected=expected)}"
        else:
            told = table([feasible(plan, rates, runs=RUNS) for rates in usual(plan)])
        return {"says": str(plan), "expects": told, "toml": plan.to_toml()}

    def save(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Write the plan's file, unless somebody else has changed it meanwhile."""
        text = self.plan(asked).to_toml()
        there = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        if _hash(there) != self.before:
            raise StudyError(f"{self.path} was changed since this page read it: copy the text below, or load it again.")
        write_whole(self.path, text)
        self.before = _hash(text)
        return {"says": f"Wrote {self.path}. Begin with: surefoot study create {self.path}"}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "help": " ".join(text.split()),
            "options": list(get_args(CHOICES[name])) if name in CHOICES else [],
            "flag": name in FLAGS,
        }
        for name, text in texts.items()
    ]


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    shown = {name: _shown(value) for name, value in values.items()}
    if isinstance(values.get("reset"), list):
        shown["reset"] = _lines(values["reset"])
    return shown


def _shown(value: Any) -> str:
    """A value as a person types it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        parts = [_shown(one) for one in value]
        return _lines(parts) if any("," in one for one in parts) else ", ".join(parts)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _lines(parts: Sequence[str]) -> str:
    """Parts that may hold commas, each closed by a semicolon."""
    return "".join(f"{one}; " for one in parts).strip()


def _read(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a part, of those that were filled in."""
    filled = {name: str(text).strip() for name, text in texts.items() if str(text).strip()}
    return {name: _value(name, text) for name, text in filled.items()}


def _value(name: str, text: str) -> Any:
    if name in FLAGS:
        return text in ("yes", "true", "on")
    if name in NUMBERS:
        try:
            return int(text) if name in WHOLE else float(text)
        except ValueError:
            raise StudyError(f"`{name}` must be a number; got {text!r}.") from None
    if name == "conditions" and text.isdecimal():
        return int(text)
    if name in NAMES or (name == "reset" and ";" in text):
        return [part.strip() for part in text.split(";" if ";" in text else ",") if part.strip()]
    return _pairs(name, text) if name in PAIRS else text


def _pairs(name: str, text: str) -> dict[str, Any]:
    """Names and values, such as "grasped 0.5, placed 1"."""
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        key, _, value = part.rpartition(" ")
        if not key:
            raise StudyError(f"`{name}` must hold names and values such as 'grasped 0.5, placed 1'; got {part!r}.")
        try:
            found[key.strip(" =:")] = float(value)
        except ValueError:
            if name == "stages":
                raise StudyError(f"`{name}` must hold a number for {key!r}; got {value!r}.") from None
            found[key.strip(" =:")] = value
    return found
