"""A page on this machine alone, on which a file is dropped and its report read.

Nothing leaves the machine: the page is served to it only, the files lie in a folder that goes when it stops, and a
report is shown where no script can run.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import surefoot as sf
from surefoot import stats
from surefoot._files import write_whole
from surefoot.console.middleware import LOOPBACK, POLICY, Guard
from surefoot.console.operations import Refusal
from surefoot.console.pages import REPORT_POLICY
from surefoot.reporting import answers
from surefoot.table.two_runs import told_by_name, two_runs

MOST_BYTES = 256 * 1024 * 1024
MOST_KEPT = 50
"""Files and reports that are kept; the oldest goes first."""
PAGE_POLICY = f"{POLICY}; frame-src 'self'"


class LocalPage:
    """The page, the files dropped on it, and the reports made of them."""

    template, command = "open.html", "surefoot open"

    def __init__(self, folder: Path) -> None:
        """Keep what is dropped in `folder`, which is the caller's to remove."""
        self.folder, self.token = folder, secrets.token_urlsafe(18)
        self.files: dict[str, Path] = {}
        self.reports: dict[str, sf.Report] = {}

    def app(self) -> Starlette:
        """The page as a web application, for this machine only."""
        static = Mount("/static", StaticFiles(packages=[("surefoot.console", "static")]))
        routes = [Route("/", self.page), *self.routes(), static]

        async def refused(_: Request, error: Exception) -> Response:
            told = error if isinstance(error, Refusal) else Refusal(500, "The server failed on this request.")
            return JSONResponse(told.body, told.status, told.headers)

        return Starlette(
            routes=routes,
            middleware=[Middleware(Guard, hosts=LOOPBACK, most=MOST_BYTES, may=self._may)],
            exception_handlers={Refusal: refused, 500: refused},
        )

    def routes(self) -> list[Route]:
        """What the page asks for."""
        return [
            Route("/files", self.add, methods=["POST"]),
            Route("/reports", self.make, methods=["POST"]),
            Route("/reports/{name}", self.show),
            Route("/rate", self.calculated(_rate), methods=["POST"]),
            Route("/compare", self.calculated(_compare), methods=["POST"]),
            Route("/plan", self.calculated(_plan), methods=["POST"]),
        ]

    def link(self, port: int) -> str:
        """The address of the page, with the word that lets in whoever shows it."""
        return f"http://127.0.0.1:{port}/?token={self.token}"

    def _may(self, request: Request) -> None:
        """Other users of this machine reach the port too: only who was given the link may ask."""
        shown = request.query_params.get("token") or request.cookies.get(_cookie(request), "")
        if not secrets.compare_digest(shown.encode(), self.token.encode()):
            raise Refusal(
                401, "This page is for whoever started it.", f"Use the address that `{self.command}` printed."
            )

    async def page(self, request: Request) -> Response:
        """The one page; the token of its address becomes a cookie, so that it stays in no history."""
        self._may(request)
        if "token" in request.query_params:
            answer = RedirectResponse("/", 303)
            answer.set_cookie(_cookie(request), self.token, httponly=True, samesite="lax")
            return answer
        text = (resources("surefoot.console") / "templates" / self.template).read_text(encoding="utf-8")
        shown = next(reversed(self.reports), "")
        return HTMLResponse(text.replace("{{ report }}", shown), headers={"content-security-policy": PAGE_POLICY})

    async def add(self, request: Request) -> Response:
        """Keep a file that was dropped, under a name that is no path."""
        name = request.query_params.get("name", "")
        content = await request.body()
        if not content:
            return _refused(f"{name or 'The file'} is empty.")
        token = secrets.token_hex(8)
        folder = self.folder / token
        folder.mkdir()
        path = folder / _plain_name(name)
        write_whole(path, content)
        self.files[token] = path
        for old in _forgotten(self.files):
            shutil.rmtree(old.parent, ignore_errors=True)
        return JSONResponse({"file": token, "name": path.name})

    async def make(self, request: Request) -> Response:
        """The report of files that were dropped."""
        asked = await _json(request)
        named = asked.get("files")
        tokens = [token for token in named if isinstance(token, str)] if isinstance(named, list) else []
        chosen = [self.files[token] for token in dict.fromkeys(tokens) if token in self.files]
        if not chosen:
            return _refused("Drop a file first.")
        return await _answered(lambda: self.report(chosen, confidence=_number(asked, "confidence", 0.95)))

    def report(self, paths: Sequence[Path], *, confidence: float = 0.95) -> dict[str, Any]:
        """Make a report of files and keep it."""
        rollouts = sf.read(paths[0] if len(paths) == 1 else list(paths))
        notes: list[str] = [str(note) for note in (*rollouts.notes, *told_by_name(rollouts, paths))]
        before: sf.Rollouts | None = None
        runs = two_runs(rollouts, paths)
        if runs is not None:
            rollouts, before = runs
            notes.append(f"{paths[0].name} and {paths[1].name} are two runs: the second is taken as the earlier one.")
        title = ", ".join(path.name for path in paths)
        made = sf.report(rollouts, title=title, confidence=confidence, previous=before)
        token = secrets.token_hex(8)
        self.reports[token] = made
        _forgotten(self.reports)
        return {"report": token, "says": answers.overview_answer(made.overview)[0], "notes": notes}

    async def show(self, request: Request) -> Response:
        """A report, in a frame that runs nothing; or to keep, where it is asked for."""
        self._may(request)
        made = self.reports.get(request.path_params["name"])
        if made is None:
            return HTMLResponse("This report is gone. Drop the file again.", 404)
        headers = {"content-security-policy": REPORT_POLICY, "x-frame-options": "SAMEORIGIN"}
        if "download" in request.query_params:
            headers["content-disposition"] = 'attachment; filename="surefoot-report.html"'
        return HTMLResponse(await run_in_threadpool(made.html), headers=headers)

    def calculated(self, work: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        """A calculator as a route."""

        async def route(request: Request) -> Response:
            asked = await _json(request)
            return await _answered(lambda: work(asked))

        return route


def _cookie(request: Request) -> str:
    """Of its own for each port: browsers send cookies to every port of a host."""
    return f"surefoot_open_{request.url.port}"


def _rate(asked: dict[str, Any]) -> dict[str, Any]:
    return {"says": str(stats.wilson(_tally(asked, "tally"), confidence=_number(asked, "confidence", 0.95)))}


def _compare(asked: dict[str, Any]) -> dict[str, Any]:
    first, second = _tally(asked, "first"), _tally(asked, "second")
    return {"says": str(stats.exact_gain(first, second, confidence=_number(asked, "confidence", 0.95)))}


def _plan(asked: dict[str, Any]) -> dict[str, Any]:
    first, second = (_number(asked, name, 0.0) / 100.0 for name in ("first", "second"))
    plan = sf.plan_comparison(first, second, confidence=_number(asked, "confidence", 0.95))
    return {"says": str(plan)}


def _tally(asked: dict[str, Any], name: str) -> sf.Tally:
    found = re.fullmatch(r"\s*(\d{1,12})\s*(?:/|of|out of)\s*(\d{1,12})\s*", str(asked.get(name, "")))
    if found is None:
        raise ValueError(f"Write successes and rollouts such as 38/50; got {asked.get(name, '')!r}.")
    return sf.Tally(int(found[1]), int(found[2]))


def _number(asked: dict[str, Any], name: str, default: float) -> float:
    try:
        return float(asked.get(name, default))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number; got {asked.get(name)!r}.") from None


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Refusal(400, "The request must be JSON.") from None
    if not isinstance(found, dict):
        raise Refusal(400, "The request must be a JSON object.")
    return found


async def _answered(work: Callable[[], dict[str, Any]]) -> Response:
    """What the work gives, or the sentence that says why it cannot."""
    try:
        return JSONResponse(await run_in_threadpool(work))
    except (sf.SurefootError, ValueError, OSError) as error:
        return _refused(str(error))


def _refused(says: str) -> Response:
    return JSONResponse({"error": says}, 422)


def _plain_name(name: str) -> str:
    """The last part of a name, without marks that a file system may take for something else."""
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w.\- ]+", "_", last).strip(". ").encode()[-100:].decode(errors="ignore")
    return kept or "results.csv"


def _forgotten(kept: dict[str, Any]) -> list[Any]:
    """Drop the oldest beyond what is kept, and tell which."""
    return [kept.pop(next(iter(kept))) for _ in range(len(kept) - MOST_KEPT)]
