"""`surefoot open`: a page on this machine where a file is dropped and its report appears."""

from __future__ import annotations

import contextlib
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot._files import write_whole
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from surefoot.console.local_page import LocalPage


def open_page(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="[FILE...]", help="Results to begin with.")] = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = True,
) -> None:
    """Drop a file, read its report: a page in place of a terminal.

    It answers this machine only, and there only who has its address, until you press Ctrl+C. Beside it: calculators
    for one rate, two rates and a plan.

    Examples:

        surefoot open

        surefoot open results.csv
    """
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder, console_extra("open"):
        from surefoot.console.local_page import LocalPage

        page = LocalPage(Path(folder))
        if paths:
            typer.echo(page.report(paths)["says"])
        serve_here(page, port, browser=browser)


@contextlib.contextmanager
def console_extra(command: str) -> Iterator[None]:
    """Say which extra is missing.

    Raises:
        SurefootError: The console cannot be imported.
    """
    try:
        import uvicorn

        del uvicorn
    except ImportError as error:
        raise SurefootError(
            f"`surefoot {command}` needs the `console` extra ({error.name} is missing): pip install "
            "'surefoot[console]'."
        ) from None
    yield


def serve_here(page: LocalPage, port: int, *, browser: bool) -> None:
    """Serve a page to this machine, and there to whoever has its address, until Ctrl+C."""
    import uvicorn

    from surefoot.console.serving import Place, listener

    if not 0 <= port <= 65_535:
        raise ValueError(f"`--port` must be a whole number from 0 to 65535; got {port}.")
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder, listener(Place("127.0.0.1", port)) as socket:
        address = page.link(socket.getsockname()[1])
        typer.echo(f"{address}\nOnly who has this address can read the page. Stop with Ctrl+C.")
        if browser:  # by a file that only you can read: everybody here can list the words that a browser began with
            way = Path(folder) / "open.html"
            write_whole(way, f'<meta http-equiv="refresh" content="0;url={address}">', private=True)
            webbrowser.open(way.as_uri())
        config = uvicorn.Config(page.app(), log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[socket])
