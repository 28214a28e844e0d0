"""How large is the house: lines, public names, long functions, modules with one importer, and the walks of commands?

python tools/size.py          count
python tools/size.py walks    count, and run four commands with every call of a function counted
"""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parents[1]
SOURCE = HERE / "src" / "surefoot"
PACKAGES = ("surefoot", "surefoot.stats", "surefoot.sequential")
MEMBERS = ("files.formats.", "runners.")
"""The modules that a registry names: they are members of a list, whoever else imports them."""


def files() -> dict[str, Path]:
    """The modules of the package, by name without `surefoot`."""
    found = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in sorted(SOURCE.rglob("*.py"))}
    return {name: path for name, path in found.items() if not name.endswith(("__init__", "__main__"))}


def lines() -> int:
    """Lines of all files, as `wc -l` counts them."""
    return sum(path.read_bytes().count(b"\n") for path in SOURCE.rglob("*.py"))


def functions() -> list[tuple[int, str]]:
    """The lines of every function's body, its signature and docstring aside, the longest first."""
    found = []
    for name, path in files().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                found.append((body[-1].end_lineno - body[0].lineno + 1 if body else 0, f"{name}.{node.name}"))
    return sorted(found, reverse=True)


def importers() -> dict[str, set[str]]:
    """Which modules import each module, for types too; a package's list of its members does not count."""
    found: dict[str, set[str]] = {name: set() for name in files()}
    for importer, path in files().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in {name.removeprefix("surefoot.") for name in names} & set(found):
                found[name].add(importer)
    return found


def single() -> list[tuple[str, str]]:
    """Modules that one other imports."""
    return sorted((name, *by) for name, by in importers().items() if len(by) == 1)


def members() -> set[str]:
    """The modules of a list: those with a public name, formats and runners."""
    homes = {home for package in (*PACKAGES, "surefoot.reference") for home in _homes(package).values()}
    return {home.removeprefix("surefoot.") for home in homes} | {one for one in files() if one.startswith(MEMBERS)}


def _homes(package: str) -> dict[str, str]:
    found: dict[str, str] = importlib.import_module(package)._HOMES
    return found


WALK = """
import json, os, sys
sys.path[:0] = [{source!r}]
calls, crossings, edges = {{}}, 0, {{}}
root = {source!r} + "/surefoot/"
def note(frame, event, _):
    if event != "call" or frame.f_code.co_name == "<module>":
        return
    file = frame.f_code.co_filename
    if file.startswith(root):
        calls[file[len(root):]] = calls.get(file[len(root):], 0) + 1
        back = frame.f_back.f_code.co_filename if frame.f_back else ""
        if back.startswith(root):
            rooms = back[len(root):].split("/")[0], file[len(root):].split("/")[0]
            if rooms[0] != rooms[1]:
                edges["{{}}->{{}}".format(*rooms)] = edges.get("{{}}->{{}}".format(*rooms), 0) + 1
from surefoot.cli.main import run
sys.setprofile(note)
try:
    run({words!r})
except SystemExit:
    pass
sys.setprofile(None)
print("\\n" + json.dumps([calls, edges]))
"""


def walk(words: list[str], folder: Path) -> tuple[Counter[str], Counter[str]]:
    """The calls in each file, and from room to room, of one command in a process of its own."""
    program = WALK.format(source=str(SOURCE.parent), words=words)
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    calls, edges = json.loads(done.stdout.splitlines()[-1])
    return Counter(calls), Counter(edges)


def table(policies: int, tasks: int = 5, repeats: int = 4) -> str:
    """A table of successes that is the same each time."""
    rows = [
        f"policy{p},task{t},{(p * 7 + t * 3 + r * 5 + p * t * r) % 3 > 0:d}"
        for p in range(policies)
        for t in range(tasks)
        for r in range(repeats)
    ]
    return "\n".join(["policy,task,success", *rows]) + "\n"


def walks() -> None:
    """Four commands on small tables: files walked through, calls, and crossings from analysis to table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "results.csv").write_text(table(2), encoding="utf-8")
        (folder / "six.csv").write_text(table(6), encoding="utf-8")
        for words in (
            ["compare", "17/20", "14/20"],
            ["compare", "results.csv"],
            ["report", "results.csv", "--output", "page.html"],
            ["rank", "six.csv"],
        ):
            calls, edges = walk(words, folder)
            study = sum(number for file, number in calls.items() if file.startswith("study/"))
            print(
                f"{' '.join(words)}: {len(calls)} files, {calls.total():,} calls, {study} of them in study, "
                f"{edges['analysis->table']} from analysis to table"
            )


def main(asked: list[str]) -> int:
    """Print the counts."""
    print(f"lines: {lines():,} in {len(list(SOURCE.rglob('*.py')))} files")
    counts = {package: len(_homes(package)) for package in PACKAGES}
    print(f"public names: {sum(counts.values())} ({', '.join(f'{name} {number}' for name, number in counts.items())})")
    lengths = functions()
    long = [f"{name} {length}" for length, name in lengths if length > 50]
    print(f"functions: {len(lengths)}, p95 {lengths[len(lengths) // 20][0]} lines, {len(long)} above 50")
    print("  " + "\n  ".join(long))
    alone, listed = single(), members()
    apart = sum(name not in listed for name, _ in alone)
    print(f"modules with one importer: {len(alone)}, {apart} of them without a public name and in no registry")
    print("  " + "\n  ".join(f"{name} <- {by}" for name, by in alone))
    if asked == ["walks"]:
        walks()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
