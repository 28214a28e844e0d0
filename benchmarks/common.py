"""How is a claim measured and written down? CPU seconds, peers in the same run, one section of RESULTS.md each."""

from __future__ import annotations

import datetime
import importlib
import os
import platform
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("RESULTS.md")


class Row(NamedTuple):
    """One line of a section: what was asked of what, and what was seen."""

    what: str
    surefoot: str
    peer: str
    ratio: str
    asked: str
    met: bool


def cpu(work: Callable[[], Any], *, repeats: int = 1) -> float:
    """CPU seconds of this process for one call; the least of several."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def interleaved(first: Callable[[], Any], second: Callable[[], Any], *, repeats: int) -> tuple[float, float]:
    """CPU seconds of two calls, taken in turn so that a busy machine slows both; the least of each."""
    pairs = [(cpu(first), cpu(second)) for _ in range(repeats)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def command_cpu(command: Sequence[str], *, repeats: int = 5) -> float:
    """CPU seconds of a command from a cold process, its children included; the least of several."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def seconds(value: float) -> str:
    """``0.012 s``, ``31.4 s``."""
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def times(value: float) -> str:
    """``3,140x`` or ``0.83x``."""
    return f"{value:,.0f}x" if value >= 10 else f"{value:.2f}x"


def section(name: str, title: str, rows: Sequence[Row], *, peers: Sequence[str], note: str = "") -> bool:
    """Print the rows and put them into RESULTS.md between the marks of their section; true when all claims are met."""
    lines = [
        f"## {title}",
        "",
        f"{dated(['surefoot', 'numpy', 'scipy', *peers])}. Seconds of CPU, least of the repeats. "
        f"Command: `python -m benchmarks.{name}`.{' ' + note if note else ''}",
        "",
        "| what | surefoot | peer | ratio | asked | met |",
        "|---|---|---|---|---|---|",
        *(
            f"| {r.what} | {r.surefoot} | {r.peer} | {r.ratio} | {r.asked} | {'yes' if r.met else '**no**'} |"
            for r in rows
        ),
    ]
    print("\n".join(lines), end="\n\n")
    write(name, lines)
    return all(row.met for row in rows)


def dated(packages: Sequence[str]) -> str:
    """``2026-11-15, Python 3.11.7, surefoot 0.1.0, ...``: what was measured, and when."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"{today}, Python {platform.python_version()}, {versions}"


def kept(wrong: int, draws: int, *, error: float) -> bool:
    """Whether so many false verdicts are no proof of more than the promised error."""
    from scipy.special import betainc

    return wrong == 0 or float(betainc(wrong, draws - wrong + 1, error)) > 1e-3


def importable(package: str) -> bool:
    """Whether a peer that is hard to install is there, and works."""
    try:
        importlib.import_module(package)
    except (ImportError, OSError):  # torch without its libraries raises the second
        return False
    return True


def write(name: str, lines: Sequence[str]) -> None:
    """Replace one section of RESULTS.md, or add it at the end."""
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Measured\n"
    body = "\n".join([begin, *lines, end])
    if begin in text:
        head, rest = text.split(begin, 1)
        text = head + body + rest.split(end, 1)[1]
    else:
        text = text.rstrip("\n") + "\n\n" + body + "\n"
    RESULTS.write_text(text, encoding="utf-8")


def arrange(names: Sequence[str], summary: Sequence[str]) -> None:
    """Put the sections of RESULTS.md into this order, the summary among them; sections of no name here are dropped."""
    write("summary", summary)
    text = RESULTS.read_text(encoding="utf-8")
    names = [name for name in names if f"<!-- {name} -->" in text]
    kept = [text[text.index(f"<!-- {name} -->") : text.index(f"<!-- end {name} -->")] for name in names]
    bodies = [f"{body}<!-- end {name} -->\n" for name, body in zip(names, kept, strict=True)]
    RESULTS.write_text("\n".join(["# Measured\n", *bodies]), encoding="utf-8")
