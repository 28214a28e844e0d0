"""Does surefoot work as it is shipped? Builds wheel and sdist, and tries the wheel in clean environments.

    python tools/package.py          all of it
    python tools/package.py smoke    build, and try the commands with the core dependencies only
    python tools/package.py core     the same, and the tests that need no extra
    python tools/package.py full     build, and all quick tests with every extra

The tests are those of the sdist, unpacked outside the tree and without `src`, so that only the wheel can be imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
JOBS = os.environ.get("JOBS", "2")
WITHOUT_EXTRAS = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "html5lib")
SHIPPED = (
    "surefoot/py.typed",
    "surefoot/console/static/",
    "surefoot/console/templates/",
    "surefoot/reporting/templates/",
    "surefoot/files/examples/",
    "surefoot/sequential/shipped/",
    "licenses/LICENSE",
)


def main(chosen: str) -> int:
    """Build, look, install, run."""
    uv = shutil.which("uv", path=f"{ROOT / '.venv/bin'}:{os.environ['PATH']}")
    if uv is None:
        sys.exit("uv must be there to build; `make package` installs it.")
    with tempfile.TemporaryDirectory(prefix="surefoot-package-") as name:
        place = Path(name)
        run(uv, "build", "-q", "--out-dir", str(place / "dist"), cwd=ROOT)
        wheel, sdist = next(place.glob("dist/*.whl")), next(place.glob("dist/*.tar.gz"))
        look(wheel, sdist)
        (ROOT / "dist").mkdir(exist_ok=True)
        for built in (wheel, sdist):
            shutil.copy(built, ROOT / "dist")
        with tarfile.open(sdist) as packed:
            packed.extractall(place, filter="data")
        tree = place / sdist.name.removesuffix(".tar.gz")
        shutil.rmtree(tree / "src")
        if chosen in ("smoke", "core", "all"):
            python = environment(uv, place / "core", str(wheel), *(WITHOUT_EXTRAS if chosen != "smoke" else ()))
            smoke(python, place)
            if chosen != "smoke":
                tests(python, tree)
        if chosen in ("full", "all"):
            lock = ("-r", str(ROOT / "requirements/lock.txt"))
            python = environment(uv, place / "full", *lock)  # by hashes, which the wheel itself has none of
            run(uv, "pip", "install", "-q", "--python", str(python), str(wheel))
            tests(python, tree)
    print("The package works as it is shipped.")
    return 0


def look(wheel: Path, sdist: Path) -> None:
    """Nothing that is needed is left out, nothing else is in."""
    names = zipfile.ZipFile(wheel).namelist()
    missing = [part for part in SHIPPED if not any(part in name for name in names)]
    foreign = [name for name in names if not name.startswith("surefoot") or "__pycache__" in name]
    if missing or foreign:
        sys.exit(f"{wheel.name}: missing {missing}, foreign {foreign}.")
    print(f"{wheel.name} {wheel.stat().st_size / 1e6:.1f} MB, {sdist.name} {sdist.stat().st_size / 1e6:.1f} MB")


def environment(uv: str, folder: Path, *packages: str) -> Path:
    """A clean environment with these packages; its Python."""
    run(uv, "venv", "-q", "--python", sys.executable, str(folder))
    python = folder / "bin" / "python"
    run(uv, "pip", "install", "-q", "--python", str(python), *packages)
    where = said(0, python, "-c", "import surefoot; print(surefoot.__file__)", cwd=folder)
    if not where.startswith(str(folder)):
        sys.exit(f"the wheel must be what is imported; got {where}")
    return python


def smoke(python: Path, place: Path) -> None:
    """The commands that a newcomer tries first, with the core dependencies only."""
    work = place / "work"
    work.mkdir()
    for extra in (
        "starlette",
        "uvicorn",
        "psycopg",
        "joblib",
        "dask",
        "pandas",
        "pyarrow",
        "yaml",
        "cryptography",
        "gymnasium",
    ):
        said(1, python, "-c", f"import {extra}", cwd=work)
    passes = {"new": 4, "old": 2}  # of five
    rows = [f"{policy},lift,{seed},{int(seed % 5 < passes[policy])}" for seed in range(40) for policy in passes]
    (work / "evals.csv").write_text("\n".join(["policy,task,seed,success", *rows]))
    program = python.with_name("surefoot")
    for command in (
        ["--version"],
        ["rate", "38/50"],
        ["compare", "38/50", "27/50"],
        ["compare", "evals.csv"],
        ["rank", "evals.csv"],
        ["report", "evals.csv", "-o", "report.html"],
        ["demo"],
        ["plan", "compare", "--first", "0.8", "--second", "0.6"],
        ["study", "create", "--policies", "new,old", "--yes"],
    ):
        print(f"$ surefoot {' '.join(command)}\n{said(0, program, *command, cwd=work)}", end="")
    said(0, python, "-m", "surefoot", "rate", "38/50", cwd=work)
    refused = said(65, program, "study", "serve", "study.db", cwd=work)
    print(f"$ surefoot study serve study.db\n{refused}", end="")
    if "pip install '.[console]'" not in refused or "Traceback" in refused:
        sys.exit("`surefoot study serve` must say which extra it needs.")


def tests(python: Path, tree: Path) -> None:
    """The quick tests of the sdist, on what is installed."""
    how = ("-q", "-rs", "-n", JOBS, "-m", "not slow", "-p", "no:cacheprovider")
    run(str(python), "-m", "pytest", *how, "tests", cwd=tree)


def said(code: int, *command: object, cwd: Path) -> str:
    """What a command printed; it must end with this code."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}, not {code}.\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def run(*command: str, cwd: Path | None = None) -> None:
    """A command whose output is shown and which must succeed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if code := subprocess.run(command, cwd=cwd, env=kept, check=False).returncode:
        sys.exit(f"{' '.join(command)}: exit code {code}.")


if __name__ == "__main__":
    ways = ("all", "smoke", "core", "full")
    asked = sys.argv[1] if len(sys.argv) > 1 else "all"
    if asked not in ways:
        sys.exit(f"Write one of {', '.join(ways)}; got {asked!r}.")
    sys.exit(main(asked))
