"""The pages of the console, by role."""

from __future__ import annotations

import io
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from surefoot.console.authentication import SESSION_SECONDS, Door, Session, new_device, seal
from surefoot.console.operations import JOIN, Refusal, form
from surefoot.console.service import Service
from surefoot.core import formatting
from surefoot.reporting.study_pages import plan_rows
from surefoot.sequential import registry
from surefoot.study.amendments import BINDING
from surefoot.study.clips import MOST_BYTES
from surefoot.study.plan_parts import Task


def svg(link: str) -> Markup:
    """The link as a QR code to put into a page: one path, no style."""
    import segno

    code = segno.make(link, error="m", micro=False)
    picture = code.svg_inline(border=2, omitsize=True, svgclass="qr", lineclass=None, dark="#000", light="#fff")
    return Markup(picture)


def terminal(link: str) -> str:
    """The link as a QR code to print."""
    import segno

    text = io.StringIO()
    segno.make(link, error="l", micro=False).terminal(text, compact=True, border=2)
    return text.getvalue()


AHEAD = 5
"""Turns that a browser holds in reserve, for when its connection goes away."""
CHECKLIST = (
    "The robot is homed and its cameras are clean.",
    "The scene and the objects are those of the plan.",
    "Nobody here knows which policy a code means.",
    "What counts as a success was agreed before the first turn.",
    "Recording is on.",
)
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"


class Pages:
    """The pages on one study."""

    def __init__(self, service: Service, door: Door, *, address: str = "", secure: bool = False) -> None:
        """Serve a study behind a door; `address` is where a phone reaches it."""
        self.service, self.door, self.address, self.secure = service, door, address, secure
        self._templates = Environment(
            loader=PackageLoader("surefoot.console", "templates"),
            autoescape=True,
            finalize=formatting.finalize,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["percent"] = formatting.percent

    @property
    def routes(self) -> list[Route]:
        """Every page with its path."""
        return [
            Route("/", self.home),
            Route("/join", self.join, methods=["GET"]),
            Route("/join", self.joined, methods=["POST"]),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/run", self.run),
            Route("/mirror", self.mirror),
            Route("/runner", self.runner),
            Route("/live", self.live),
            Route("/owner", self.owner),
            Route("/report", self.report),
        ]

    async def home(self, request: Request) -> Response:
        """Each role's own page."""
        session = self.door.known(request)
        if session is None:
            return self._page("join.html", request, None)
        return RedirectResponse({"operator": "/run", "runner": "/runner", "owner": "/owner"}[session.role], 303)

    async def join(self, request: Request) -> Response:
        """Where a token is shown; a scanned one comes in the fragment, which no server and no log ever sees."""
        return self._page("join.html", request, None)

    async def joined(self, request: Request) -> Response:
        """A token in exchange for a cookie."""
        told = JOIN.checked(form(await request.body()))
        shown, before = self.door.proved_by(told["token"], request), self.door.known(request)
        name = shown.name or self.door.tokens.free(told["name"])
        again = before is not None and before.browser and (before.role, before.proved) == (shown.role, bool(shown.name))
        device = before.device if again and before is not None else new_device()
        session = Session(shown.role, device, name, browser=True, proved=bool(shown.name))
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self.door.cookie,
            seal(session, self.door.tokens),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=self.secure,
        )
        return answer

    async def leave(self, request: Request) -> Response:
        """Forget this browser."""
        self.door.enter(request)
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(self.door.cookie, httponly=True, samesite="strict", secure=self.secure)
        return answer

    async def run(self, request: Request) -> Response:
        """The operator's page."""
        session = self.door.enter(request)
        status = await self.service.now()
        more: dict[str, Any] = {"status": status, "ahead": AHEAD, "checklist": CHECKLIST, "most_clip": MOST_BYTES}
        more["rigs"] = list(dict.fromkeys(rig for rig, _ in self.service.plan.stations))
        more["tasks"] = {one.name if self.service.plan.tasks else "": _told(one) for one in self.service.plan.described}
        return self._page("run.html", request, session, **more)

    async def mirror(self, request: Request) -> Response:
        """A large display for the room: read only."""
        session = self.door.enter(request)
        status = await self.service.now()
        codes_only = Session("operator", session.device)  # a screen for all shows codes, whoever opened it
        turns = [turn for turn in await self.service.held(codes_only) if turn["current"]]
        return self._page("mirror.html", request, session, status=status, turns=turns)

    async def runner(self, request: Request) -> Response:
        """Which policy each code means, for whoever starts them."""
        session = self.door.enter(request, "runner")
        status = await self.service.now()
        turns = await self.service.held(session)
        return self._page("runner.html", request, session, status=status, turns=turns)

    async def live(self, request: Request) -> Response:
        """Progress; and once the study is not blinded, evidence, intervals and tallies."""
        session = self.door.enter(request)
        status = await self.service.now()
        live, counts = None if status.blinded else await self.service.live(), await self.service.counts()
        return self._page("live.html", request, session, status=status, live=live, counts=counts)

    async def owner(self, request: Request) -> Response:
        """Phones, unblinding, amendments, export."""
        session = self.door.enter(request, "owner")
        status = await self.service.now()
        base = self.address or f"{request.url.scheme}://{request.headers['host']}"
        link = f"{base}/join#{self.door.tokens.operator.reveal()}"  # the runner's is printed at the start, never shown
        more: dict[str, Any] = {
            "status": status,
            "turns": await self.service.held(session),
            "link": link,
            "code": svg(link),
            "binding": BINDING,
            "grows": bool(self.service.plan.joining({"policies": (*self.service.plan.policies, "another")})),
            "loses": any(kind.loses for kind in registry.kinds(self.service.plan.decides)),
            "shown": plan_rows(self.service.plan),
        }
        return self._page("owner.html", request, session, **more)

    async def report(self, request: Request) -> Response:
        """The report, in a sandbox: it has styles of its own and may run nothing."""
        self.door.enter(request)
        page = await self.service.report()
        return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})

    def refused(self, request: Request, refusal: Refusal) -> Response:
        """A refusal as a page; whoever has shown no token is asked for one."""
        if refusal.status == 401:
            wrong = refusal if request.method == "POST" else None
            return self._page("join.html", request, None, status_code=401, refusal=wrong)
        answer = self._page("refused.html", request, None, status_code=refusal.status, refusal=refusal)
        answer.headers.update(refusal.headers)
        return answer

    def _page(
        self, template: str, request: Request, session: Session | None, *, status_code: int = 200, **more: Any
    ) -> Response:
        unit = f"{self.service.plan.unit}s"
        context = {
            "others": [] if session is None else self.service.other_checkpoints(session),
            "plan": self.service.plan,
            "unit": unit,
            "study": self.service.id,
            "session": session,
            "path": request.url.path,
        }
        text = self._templates.get_template(template).render({"refusal": None, **context, **more})
        return HTMLResponse(text, status_code)


def _told(task: Task) -> dict[str, Any]:
    """What the phone shows of a task, and its buttons."""
    stages = [{"name": one.name, "points": one.points, "success": task.succeeds(one.name)} for one in task.stages]
    told = {"instruction": task.instruction, "reset": task.reset, "limit": task.time_limit}
    return {**told, "stages": stages, "tags": task.failure_tags}
