"""How do a study, its pages and its API become one web application?"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from surefoot.console.api import Api
from surefoot.console.authentication import Door, Tokens
from surefoot.console.middleware import Guard
from surefoot.console.pages import Pages
from surefoot.console.responses import Refusal
from surefoot.console.service import Service
from surefoot.study.studies import Study

LOOPBACK = ("localhost", "127.0.0.1", "::1")
STATIC = Path(__file__).parent / "static"


class _Static(StaticFiles):
    """Files that a browser may keep, and asks about before it uses them again."""

    def file_response(self, *arguments: object, **more: object) -> Response:
        answer = super().file_response(*arguments, **more)  # type: ignore[arg-type]
        answer.headers["cache-control"] = "no-cache"
        return answer


def create_app(
    study: Study, tokens: Tokens, *, hosts: Collection[str] = LOOPBACK, address: str = "", secure: bool = False
) -> Starlette:
    """A study as a web application.

    Args:
        study: The study, open.
        tokens: The secret of each role.
        hosts: The names and addresses it answers to.
        address: Where a phone reaches it, such as ``http://192.168.1.20:8765``; shown as a QR code to the owner.
        secure: Whether it is served over HTTPS, so that cookies are never sent without.
    """
    service = Service(study)
    door = Door(tokens, service.id)
    pages = Pages(service, door, address=address, secure=secure)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    async def worker(_: Request) -> Response:  # a worker may serve no page above its own address
        return FileResponse(STATIC / "worker.js", headers={"cache-control": "no-cache"})

    async def refused(request: Request, error: Exception) -> Response:
        refusal = error if isinstance(error, Refusal) else Refusal(500, "Something went wrong here.")
        if isinstance(error, HTTPException):
            said = {404: "There is nothing at this address.", 405: "This address does not take that method."}
            refusal = Refusal(error.status_code, said.get(error.status_code, error.detail))
        if request.url.path.startswith("/api/"):
            answer: Response = JSONResponse(refusal.body, refusal.status, refusal.headers)
        else:
            answer = pages.refused(request, refusal)
        if isinstance(error, HTTPException) and error.headers:
            answer.headers.update(error.headers)
        return answer

    app = Starlette(
        routes=[
            *Api(service, door).routes,
            *pages.routes,
            Route("/worker.js", worker),
            Mount("/static", _Static(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={Refusal: refused, HTTPException: refused, 500: refused},
        lifespan=lifespan,
    )
    app.state.service = service
    return app
