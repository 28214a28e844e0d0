"""Make the pictures of README and docs: a report, the phone, a terminal that types, and more (docs/pictures).

`python tools/pictures.py`; it needs the test environment and Chromium. The pictures are committed, small.
"""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from html import escape
from pathlib import Path

import polars as pl
from markdown_it import MarkdownIt
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import surefoot as sf
from surefoot.cli.demo import example_checkpoints, example_rollouts
from surefoot.reporting.page_sections import map_html

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
COMMANDS = ("surefoot rate 38/50", "surefoot compare 17/20 14/20", "surefoot plan compare --first 0.9 --second 0.6")
COLUMNS, LINE, LETTER = 92, 19, 8.0
PACE, READ = 0.06, 4.0
"""Seconds for a letter typed, and for an answer read: twenty in all."""
DARK = "#10201f"
TERMINAL = (
    "text{font:13.3px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8e1e0;white-space:pre}"
    f".t{{fill:#7fd4cf;font-weight:600}}.c{{fill:{DARK}}}.s{{opacity:0;animation:a 1ms forwards}}"
    "@keyframes a{to{opacity:1}}@keyframes u{to{transform:translateX(var(--l))}}"
    # Whoever wants no motion, or prints, sees all of it at once.
    "@media print,(prefers-reduced-motion:reduce){.s{animation:none;opacity:1}.c{display:none}}"
)
PAPER = (
    "body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#1f2328;background:#fff;margin:20px}"
    "h3{font-size:18px;margin:0 0 12px}table{border-collapse:collapse;margin:0 0 12px}"
    "pre{background:#f3f5f6;padding:8px 12px}"
    "body>table td,body>table th{border:1px solid #d0d7de;padding:4px 12px}code{background:#eff1f3;padding:1px 5px}"
)


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


def comment(browser: Browser) -> None:
    """What a reviewer sees on a pull request, rendered as a forge does."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rate in (("main", 0.9), ("pr", 0.6)):
            chance = random.Random(name)
            rows = [f"bot,{'easy' if item % 2 else 'hard'},q{item},{int(chance.random() < rate)}" for item in range(80)]
            Path(folder, f"{name}.csv").write_text("policy,task,item,success\n" + "\n".join(rows) + "\n")
        words = ["-m", "surefoot", "compare", "pr.csv", "--previous", "main.csv", "--gate", "--format", "github"]
        said = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder).stdout
    shown(browser, MarkdownIt("gfm-like", {"linkify": False}).render(said), "comment.png", 560, 380)


def notebook(browser: Browser) -> None:
    """A result as the last line of a notebook's cell."""
    counts = {"pi-1": 47, "pi-2": 44, "dp": 33, "act": 12}
    rows = [(name, number < count) for name, count in counts.items() for number in range(50)]
    ranking = sf.rank(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    cell = '<pre>[1]: sf.rank(sf.read("results.csv"))</pre>'
    shown(browser, cell + ranking._repr_html_(), "notebook.png", 720, 480)


def answers(browser: Browser) -> None:
    """Which checkpoint, where does it fail, may it ship: one file, three answers."""
    with tempfile.TemporaryDirectory() as folder:
        table, needs = Path(folder, "checkpoints.csv"), Path(folder, "release.toml")
        example_checkpoints().write_csv(table)
        needs.write_text(NEEDS)
        rollouts = sf.read(table)
        words = ["-m", "surefoot", "gate", table.name, needs.name, "--format", "github"]
        said = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder).stdout
    drawn = io.BytesIO()
    sf.best(rollouts).plot().figure.savefig(drawn, dpi=150, bbox_inches="tight")
    kept(drawn.getvalue(), "best.png", 640)
    shown(browser, map_html(sf.slices(rollouts, "120k", "80k")), "slices.png", 420, 270)
    shown(browser, MarkdownIt("gfm-like", {"linkify": False}).render(said), "gate.png", 860, 250)


NEEDS = """[gate]
first = "120k"
second = "80k"
[[gate.need]]
measure = "success"
rate_at_least = 0.6
[[gate.need]]
measure = "success"
by = "lighting"
not_worse_by = 0.1
"""


def shown(browser: Browser, body: str, name: str, width: int, height: int) -> None:
    """A piece of HTML on white paper."""
    page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=2)
    page.set_content(f"<!doctype html><style>{PAPER}</style>{body}")
    kept(page.screenshot(), name, width)
    page.close()


def terminal() -> None:
    """A terminal that types three commands and shows what they print: twenty seconds, animated by CSS alone."""
    rows: list[tuple[float, str, str]] = []
    now = 0.5
    for command in COMMANDS:
        words = [sys.executable, "-m", *command.split()]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        rows.append((now, "typed", f"$ {command}"))
        now += PACE * len(command) + 0.6
        for line in said.rstrip("\n").split("\n"):
            rows += [(now, "said", part) for part in textwrap.wrap(line, COLUMNS, break_on_hyphens=False)]
        now += READ
        rows.append((now, "said", ""))
    height, width = LINE * (len(rows) + 1), round(LETTER * COLUMNS + 32)
    body = [_line(place, *row) for place, row in enumerate(rows) if row[2]]
    (TARGET / "terminal.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="A terminal: surefoot rate, compare and plan"><style>{TERMINAL}</style>'
        f'<rect width="100%" height="100%" rx="10" fill="{DARK}"/>{"".join(body)}</svg>\n',
        encoding="utf-8",
    )


def _line(place: int, at: float, kind: str, text: str) -> str:
    """A line that appears at its second; a typed one is uncovered letter by letter."""
    y, shown = LINE * (place + 1.6), escape(text)
    if kind == "said":
        return f'<text class="s" x="16" y="{y:.0f}" style="animation-delay:{at:.2f}s">{shown}</text>'
    letters = len(text)
    lasts = f"animation:u {PACE * letters:.2f}s steps({letters}) {at:.2f}s forwards"
    return (
        f'<text class="t" x="16" y="{y:.0f}" textLength="{LETTER * letters:.0f}">{shown}</text>'
        f'<rect class="c" x="16" y="{y - LINE + 4:.0f}" width="{LETTER * letters:.0f}" height="{LINE + 1}" '
        f'style="--l:{LETTER * letters:.0f}px;{lasts}"/>'
    )


def main() -> None:
    """All of them."""
    TARGET.mkdir(exist_ok=True)
    terminal()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        report(browser)
        phone(browser)
        comment(browser)
        notebook(browser)
        answers(browser)
        browser.close()
    for path in sorted(TARGET.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
