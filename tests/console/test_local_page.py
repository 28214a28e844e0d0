"""The page on this machine: drop, read, change the confidence, keep; hostile names and cells stay text."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from surefoot.console import local_page
from surefoot.console.local_page import LocalPage
from surefoot.console.serving import Place, listener

HOSTILE = "<img src=x onerror=alert(1)>"
ROWS = [f"{policy},{int(n % 10 < level)}" for policy, level in (("new", 8), (HOSTILE, 4)) for n in range(20)]
TABLE = "policy,success\n" + "\n".join(ROWS) + "\n"


def entered(page: LocalPage) -> TestClient:
    """A browser that was given the link."""
    client = TestClient(page.app(), base_url="http://127.0.0.1:80")
    assert client.get(page.link(80)).status_code == 200
    return client


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return entered(LocalPage(tmp_path))


def dropped(client: TestClient, name: str = "results.csv", content: str = TABLE) -> str:
    answer = client.post("/files", params={"name": name}, content=content.encode())
    assert answer.status_code == 200
    return str(answer.json()["file"])


def test_a_file_becomes_a_report_that_runs_nothing(client: TestClient) -> None:
    told = client.post("/reports", json={"files": [dropped(client)], "confidence": 0.9}).json()
    assert told["says"] == f"For rollouts like these: new is better than {HOSTILE}."
    page = client.get(f"/reports/{told['report']}")
    assert "at 90% confidence" in page.text
    assert HOSTILE not in page.text
    assert "&lt;img src=x" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    kept = client.get(f"/reports/{told['report']}?download")
    assert kept.headers["content-disposition"] == 'attachment; filename="surefoot-report.html"'


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\..\\x.csv", "\x00.csv", "", "...", f"{HOSTILE}.csv", "a" * 500]
)
def test_no_name_is_a_path(tmp_path: Path, name: str) -> None:
    page = LocalPage(tmp_path)
    dropped(entered(page), name)
    (path,) = page.files.values()
    assert path.parent.parent == tmp_path
    assert path.is_file()
    assert "<" not in path.name


@pytest.mark.parametrize(
    ("path", "asked", "says"),
    [
        ("/rate", {"tally": "38/50"}, "76.0% [62.5%, 85.8%] n=50 (95% Wilson interval)."),
        ("/compare", {"first": "17 of 20", "second": "9/20"}, "+40.0 points [+10.1, +63.6] n=40"),
        ("/plan", {"first": "85", "second": "70"}, "121 rollouts of each policy"),
    ],
)
def test_calculators_say_what_the_commands_say(client: TestClient, path: str, asked: dict, says: str) -> None:
    assert client.post(path, json=asked).json()["says"].startswith(says)


@pytest.mark.parametrize(
    ("path", "asked", "says"),
    [
        ("/rate", {"tally": "many"}, "such as 38/50; got 'many'"),
        ("/rate", {"tally": "51/50"}, "51"),
        ("/plan", {"first": "x", "second": "70"}, "first must be a number; got 'x'"),
        ("/rate", {"tally": "38/50", "confidence": 2}, "confidence"),
        ("/reports", {"files": ["none"]}, "Drop a file first."),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(client: TestClient, path: str, asked: dict, says: str) -> None:
    answer = client.post(path, json=asked)
    assert answer.status_code == 422
    assert says in answer.json()["error"]


def test_a_file_that_cannot_be_read_says_why(client: TestClient) -> None:
    token = dropped(client, "bad.csv", "policy,success\nnew,maybe\n")
    answer = client.post("/reports", json={"files": [token]})
    assert answer.status_code == 422
    assert "maybe" in answer.json()["error"]
    assert client.post("/files", params={"name": "e.csv"}, content=b"").json()["error"] == "e.csv is empty."
    assert client.post("/rate", content=b"[").status_code == 400


def test_only_this_machine_and_this_page_are_answered(tmp_path: Path) -> None:
    app = LocalPage(tmp_path).app()
    assert TestClient(app, base_url="http://evil.example").get("/").status_code == 421
    elsewhere = TestClient(app, base_url="http://127.0.0.1", headers={"origin": "http://evil.example"})
    assert elsewhere.post("/rate", json={"tally": "1/2"}).status_code == 403


def test_nobody_else_of_this_machine_reads_or_changes_anything(tmp_path: Path) -> None:
    page = LocalPage(tmp_path)
    ours = entered(page)
    report = ours.post("/reports", json={"files": [dropped(ours)]}).json()["report"]
    for cookies in ({}, {"surefoot_open_80": "x" * 24}, {"surefoot_open_81": page.token}):
        other = TestClient(page.app(), base_url="http://127.0.0.1:80", cookies=cookies)
        for path in ("/", "/?token=x", f"/reports/{report}", f"/reports/{report}?download"):
            answer = other.get(path)
            assert (answer.status_code, "new" in answer.text) == (401, False), path
        for path in ("/files?name=a.csv", "/reports", "/rate", "/compare", "/plan"):
            assert other.post(path, content=TABLE).status_code == 401, path
    assert len(page.files) == 1
    assert "token" not in str(ours.get("/").url)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    import uvicorn

    socket = listener(Place("127.0.0.1", 0))
    page = LocalPage(folder)
    server = uvicorn.Server(uvicorn.Config(page.app(), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield page.link(socket.getsockname()[1])
    server.should_exit = True
    thread.join()
    socket.close()


@pytest.mark.end_to_end
@pytest.mark.parametrize("width", [390, 1280])
def test_drop_read_change_and_keep_in_a_browser(chromium, tmp_path: Path, width: int) -> None:
    name = "<b>results<script>.csv" if width == 390 else "results.csv"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_text(TABLE)
    (tmp_path / "kept").mkdir()
    with served(tmp_path / "kept") as address:
        context = chromium.new_context(viewport={"width": width, "height": 844}, accept_downloads=True)
        context.set_default_timeout(30_000)
        page, wrong = context.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(address)
        page.set_input_files("#files", tmp_path / "in" / name)
        page.wait_for_function("() => document.getElementById('says').textContent.includes('is better than')")
        assert HOSTILE in page.inner_text("#says")
        frame = page.frame_locator("#page")
        assert "is better than" in frame.locator(".answer").first.inner_text()
        assert frame.locator("img[src=x]").count() == 0
        page.select_option("#confidence", "0.99")
        page.wait_for_function("() => document.getElementById('says').textContent.includes('cannot tell')")
        with page.expect_download() as kept:
            page.click("#download")
        kept_page = Path(kept.value.path()).read_text()
        assert "cannot tell whether new is better than" in kept_page
        assert HOSTILE not in kept_page
        page.fill("form[data-path='/rate'] input", "38/50")
        page.click("form[data-path='/rate'] button")
        page.wait_for_function("() => document.querySelector('output').textContent.startsWith('76.0%')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert wrong == []
        context.close()


@pytest.mark.parametrize("files", [None, 5, [["a"]], [{}]])
def test_odd_requests_are_answered_in_a_sentence(client: TestClient, files: object) -> None:
    assert client.post("/reports", json={"files": files}).status_code == 422
    assert client.post("/rate", content=b"[" * 100_000).status_code == 400
    assert client.post("/rate", content=b'{"tally": "1/2", "confidence": ' + b"9" * 400 + b"}").status_code == 422
    assert client.post("/files", params={"name": "字" * 100 + ".csv"}, content=TABLE.encode()).status_code == 200


def test_two_runs_of_the_same_policies_are_not_pooled(client: TestClient) -> None:
    told = client.post("/reports", json={"files": [dropped(client, "now.csv"), dropped(client, "before.csv")]}).json()
    assert "now.csv and before.csv are two runs: the second is taken as the earlier one." in told["notes"]


def test_what_is_no_object_or_gone_is_said(client: TestClient) -> None:
    assert client.post("/rate", content=b"[]").json()["error"] == "The request must be a JSON object."
    gone = client.get("/reports/none")
    assert (gone.status_code, gone.text) == (404, "This report is gone. Drop the file again.")


def test_the_oldest_file_goes_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_page, "MOST_KEPT", 2)
    page = LocalPage(tmp_path)
    client = entered(page)
    first, *others = [dropped(client, f"{name}.csv") for name in "abc"]
    assert list(page.files) == others
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)
    assert client.post("/reports", json={"files": [first]}).json()["error"] == "Drop a file first."
