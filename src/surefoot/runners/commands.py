"""Turns carried out by a shell command."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from surefoot.errors import StudyError
from surefoot.runners.outcomes import CrashError, Outcome
from surefoot.study.notifications import end
from surefoot.study.plans import Plan
from surefoot.study.schedules import Turn

WORDS = {"true": True, "success": True, "false": False, "failure": False}
TOLD = {"result", "stage", "note", "failure", "duration", "steps", "clip"}
MISTYPED = (126, 127)
FIELDS = ("turn", "block", "policy", "code", "task", "condition", "item", "rig", "operator")


class Command:
    """A command for every turn; it learns its turn from the environment and from a line of JSON on standard input."""

    def __init__(self, command: str, plan: Plan, *, exit_code: bool = False) -> None:
        """Run `command` through the shell; its result is its exit code, or the last line that it prints."""
        self.command, self.plan, self.exit_code = command, plan, exit_code

    def __call__(self, turn: Turn) -> Outcome:
        """Carry out a turn without a time limit."""
        return self.within(turn, None)

    def within(self, turn: Turn, limit: float | None) -> Outcome:
        """Carry out a turn."""
        code, said = self._ran([turn], _environment(turn), limit)
        if code is None:
            raise CrashError("time-out", f"not done after {limit:g} s")
        return self._by_code(code) if self.exit_code else self._said(code, said)

    def several(self, turns: Sequence[Turn], limit: float | None) -> list[Outcome | CrashError]:
        """Carry out several turns by one command, which gets a line of JSON for each.

        It answers with a line of JSON for each, in any order, with the turn's number: {"turn": 7, "result": true}. A
        turn that it does not answer has given no result.

        Raises:
            StudyError: There is no such command.
        """
        code, said = self._ran(turns, {"SUREFOOT_TURNS": str(len(turns))}, limit)
        answers: dict[int, dict[str, Any]] = {}
        for line in said.decode("utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                given = json.loads(line)
                if isinstance(given, dict) and isinstance(given.get("turn"), int):
                    answers[given["turn"]] = given
        return [self._answered(turn, answers.get(turn.number), code, limit) for turn in turns]

    def _answered(
        self, turn: Turn, given: dict[str, Any] | None, code: int | None, limit: float | None
    ) -> Outcome | CrashError:
        if given is None:
            if code is None:
                return CrashError("time-out", f"not done after {limit:g} s")
            if code:
                return CrashError("crash", f"the command ended with exit code {code}")
        if given is None or "result" not in given or not set(given) <= {*TOLD, "turn"}:
            must = f'there must be a line such as {{"turn": {turn.number}, "result": true}}'
            return CrashError("unreadable", f"{must}; got {'none' if given is None else json.dumps(given)[:200]}")
        try:
            return self._outcome(given)
        except CrashError as crash:
            return crash

    def _ran(self, turns: Sequence[Turn], more: dict[str, str], limit: float | None) -> tuple[int | None, bytes]:
        """The exit code of the command and what it said; no code when it was not done in time."""
        told = "".join(f"{json.dumps(_told(turn))}\n" for turn in turns)
        with subprocess.Popen(
            self.command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=None if self.exit_code else subprocess.PIPE,
            env={**os.environ, **more},
            start_new_session=True,  # so that all that it starts can be ended with it
        ) as process:
            said = b""
            try:
                said, _ = process.communicate(told.encode(), timeout=limit)
            except subprocess.TimeoutExpired:
                end(process)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    said, _ = process.communicate(timeout=2.0)  # what it had said by then
                return None, said or b""
            finally:
                if process.poll() is None:
                    end(process)
        if process.returncode in MISTYPED:  # the shell's word that there is no such command: no rollout was run
            raise StudyError(f"The command cannot be run: exit code {process.returncode}. Nothing was recorded.")
        return process.returncode, said or b""

    def _outcome(self, told: dict[str, Any]) -> Outcome:
        result = WORDS.get(str(told["result"]).lower(), told["result"])
        success = self.plan.measure == "success"
        try:
            return Outcome(
                success=result if success else None,
                score=None if success else result,
                failure=str(told.get("failure") or ""),
                duration=told.get("duration"),
                steps=told.get("steps"),
                notes=str(told.get("note") or ""),
                clip=told.get("clip") or None,
            )
        except (ValueError, TypeError) as error:
            raise CrashError("unreadable", str(error)) from None

    def _by_code(self, code: int) -> Outcome:
        if code not in (0, 1):
            raise CrashError("crash", f"the command ended with exit code {code}; 0 is a success and 1 a failure")
        return self._outcome({"result": code == 0})

    def _said(self, code: int, said: bytes) -> Outcome:
        if code:
            raise CrashError("crash", f"the command ended with exit code {code}")
        lines = [line.strip() for line in said.decode("utf-8", errors="replace").splitlines() if line.strip()]
        last = lines[-1] if lines else ""
        given: Any = WORDS.get(last.lower())
        if given is None:
            with contextlib.suppress(ValueError, RecursionError):
                given = json.loads(last)
        if isinstance(given, bool | int | float):
            given = {"result": given}
        if isinstance(given, dict) and "result" in given and set(given) <= TOLD:
            return self._outcome(given)
        raise CrashError(
            "unreadable",
            f'the last line must be the result, such as true, 0.5 or {{"result": true}}; got {last[:200]!r}',
        )


def _environment(turn: Turn) -> dict[str, str]:
    return {f"SUREFOOT_{name.upper()}": str(getattr(turn, {"turn": "number"}.get(name, name))) for name in FIELDS}


def _told(turn: Turn) -> dict[str, Any]:
    return {name: value for name, value in turn.to_dict().items() if name not in ("type", "schema")}
