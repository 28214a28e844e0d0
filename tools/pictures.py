"""Make the pictures of the README: a report, the phone, and a terminal that types (docs/pictures).

`python tools/pictures.py`; it needs the test environment and Chromium. The pictures are committed, small.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from html import escape
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import surefoot as sf
from surefoot.cli.demo import example_rollouts

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
COMMANDS = ("surefoot rate 38/50", "surefoot compare 17/20 14/20", "surefoot plan compare --first 0.9 --second 0.6")
COLUMNS, LINE, LETTER = 92, 19, 8.0


def kept(picture: bytes, name: str, width: int) -> None:
    """Write a picture in few colours and this wide."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    image.quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(TARGET / name, optimize=True)


def report(browser: Browser) -> None:
    """The first screen of a report."""
    with tempfile.TemporaryDirectory() as folder:
        path = sf.report(example_rollouts(), title="Two checkpoints, three tasks").save(Path(folder) / "report.html")
        page = browser.new_page(viewport={"width": 1000, "height": 780}, device_scale_factor=1.5)
        page.goto(path.as_uri())
        kept(page.screenshot(), "report.png", 1000)
        page.close()


def phone(browser: Browser) -> None:
    """The operator's page while a study runs."""
    import uvicorn

    from surefoot.console.app import create_app
    from surefoot.console.authentication import Tokens
    from surefoot.console.serving import Place, listener
    from surefoot.study.stores.memory import MemoryStore

    plan = sf.Plan(policies=("new", "old"), title="Grasp study", horizon=100, reset="Put the cup on the cross.")
    study, tokens = sf.Study.create(plan, MemoryStore()), Tokens.fresh()
    with listener(Place(port=0)) as socket:
        server = uvicorn.Server(uvicorn.Config(create_app(study, tokens), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        page = browser.new_page(
            viewport={"width": 390, "height": 760}, device_scale_factor=2, has_touch=True, is_mobile=True
        )
        page.goto(f"http://127.0.0.1:{socket.getsockname()[1]}/join#{tokens.operator.reveal()}")
        page.fill("input[name=name]", "Ann")
        page.keyboard.press("Enter")
        page.wait_for_selector("#turn:visible")
        page.tap("#start")
        page.wait_for_timeout(500)
        kept(page.screenshot(), "phone.png", 390)
        page.close()
        server.should_exit = True
        thread.join(10)


def terminal() -> None:
    """A terminal that types three commands and shows what they print, as an animated SVG."""
    rows: list[tuple[float, str, str]] = []
    now = 0.5
    for command in COMMANDS:
        words = [sys.executable, "-m", *command.split()]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        rows.append((now, "typed", f"$ {command}"))
        now += 0.045 * len(command) + 0.6
        for line in said.rstrip("\n").split("\n"):
            while len(line) > COLUMNS:
                cut = line.rfind(" ", 0, COLUMNS)
                rows.append((now, "said", line[:cut]))
                line = line[cut + 1 :]
            rows.append((now, "said", line))
        now += 3.5
        rows.append((now, "said", ""))
    height, width = LINE * (len(rows) + 2), round(LETTER * COLUMNS + 32)
    body = []
    for place, (at, kind, text) in enumerate(rows):
        y, shown = LINE * (place + 2), escape(text)
        begin = f'<set attributeName="visibility" to="visible" begin="{at:.2f}s" fill="freeze"/>'
        if kind == "typed":
            long = LETTER * len(text)
            body.append(
                f'<clipPath id="c{place}"><rect x="16" y="{y - LINE}" height="{LINE + 6}" width="0"><animate '
                f'attributeName="width" from="0" to="{long:.0f}" begin="{at:.2f}s" dur="{0.045 * len(text):.2f}s" '
                f'fill="freeze"/></rect></clipPath>'
                f'<text class="typed" x="16" y="{y}" clip-path="url(#c{place})">{shown}</text>'
            )
        elif text:
            body.append(f'<text x="16" y="{y}" visibility="hidden">{shown}{begin}</text>')
    style = (
        "text{font:13.3px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8e1e0;white-space:pre}"
        ".typed{fill:#7fd4cf;font-weight:600}"
    )
    (TARGET / "terminal.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="A terminal: surefoot rate, compare and plan"><style>{style}</style>'
        f'<rect width="100%" height="100%" rx="10" fill="#10201f"/>{"".join(body)}</svg>\n',
        encoding="utf-8",
    )


def main() -> None:
    """All of them."""
    TARGET.mkdir(exist_ok=True)
    terminal()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        report(browser)
        phone(browser)
        browser.close()
    for path in sorted(TARGET.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
