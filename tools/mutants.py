"""Would the tests notice a small mistake? A sample of them, made by cosmic-ray in a copy of the tree: `make mutants`.

A place in the source is drawn, then one of the mistakes that can be made there: another operator or comparison, a
number one off, a condition negated, a loop that never runs, a decorator gone. The tests that ran that line in a
recorded run are run again, then those that ran the module at all; a mutant that none of them notices has survived,
and somebody must judge it.

Not drawn: annotations, docstrings, the words of an error (anything inside `raise`), typing-only imports, mutants that
do not compile, caches taken away, `strict=` of zip, and shifts or bit operations in place of arithmetic, which floats
refuse at once.
Places are spread evenly over the files, in proportion to what each has to get wrong.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
DOCTESTS = ["--doctest-modules"]
EVERYTHING = [*DOCTESTS, "src", "tests"]  # the pages are among them: tests/whole/test_docs.py
QUIET = ["-x", "-q", "--no-header", "--tb=line", "-Wignore::pytest.PytestAssertRewriteWarning"]
QUIET += ["-pno:cacheprovider", "-p_hypothesis_pytestplugin"]
HOUSE = {
    f"tests/whole/test_house.py::test_{rule}"
    for rule in ("records_are_frozen_and_slotted", "public_signatures_follow_the_house")
}
BITS = {"RShift", "LShift", "BitOr", "BitAnd", "BitXor"}
IDENTITY = {"Is", "IsNot"}
LONGEST = 30.0
"""Seconds of recorded tests per batch: a mutant that outlives them is called a survivor, rightly or not."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake: which operator of cosmic-ray, its how-manieth occurrence in the file, and where that is."""

    file: str
    line: int
    column: int
    operator: str
    occurrence: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: killed, timeout or survived; by which test; what the line was and became."""

    mutant: Mutant
    fate: str
    test: str
    before: str
    after: str
    seconds: float


def pytest_runtest_setup(item: Any) -> None:
    """As a plugin of the recorded run: start the clock of a test."""
    item.user_properties.append(("cpu", -time.process_time()))


def pytest_runtest_teardown(item: Any) -> None:
    """Stop it: processor time, for the machine may be busy with other things."""
    item.user_properties.append(("cpu", time.process_time()))


def pytest_runtest_logreport(report: Any) -> None:
    """Note how long each test took, once, in the process that gathers the reports."""
    place = os.environ.get("SUREFOOT_DURATIONS")
    if place and report.when == "teardown" and not os.environ.get("PYTEST_XDIST_WORKER"):
        spent = sum(value for name, value in report.user_properties if name == "cpu")
        with Path(place).open("a") as lines:
            lines.write(json.dumps([report.nodeid, spent]) + "\n")


def copy_tree(to: Path) -> None:
    """Copy what git tracks, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=HERE, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (HERE / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HERE / name, to / name)


def environment(tree: Path) -> dict[str, str]:
    """The tests of the copy import the copy and use one thread."""
    paths = os.pathsep.join([str(tree / "src"), str(tree / "tools")])
    fixed = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **fixed}


def record(tree: Path, notes: Path, python: str, jobs: int, tests: list[str]) -> None:
    """Run the quick tests once and note which lines each of them runs, and for how long."""
    settings = notes / "coveragerc"
    settings.write_text(f"[run]\nbranch = true\nsource = surefoot\ndata_file = {notes / 'lines'}\n")
    seen = [f"--cov-config={settings}", "--cov=surefoot", "--cov-context=test", "--cov-report="]
    command = f"{python} -m pytest -q -p mutants -p no:cacheprovider -n {jobs}".split() + seen + tests
    around = {**environment(tree), "SUREFOOT_DURATIONS": str(notes / "durations")}
    if subprocess.run(command, cwd=tree, env=around, check=False).returncode != 0:
        sys.exit("The tests fail without any mutant; nothing can be learnt from them yet.")


def lines_of(tree: Path, notes: Path) -> dict[str, dict[int, set[str]]]:
    """Which tests ran each line of each file, in the recorded run."""
    import coverage

    data = coverage.CoverageData(str(notes / "lines"))
    data.read()
    found: dict[str, dict[int, set[str]]] = {}
    for name in data.measured_files():
        if not Path(name).is_relative_to(tree):  # a rule that a test put into a room
            continue
        inside = str(Path(name).relative_to(tree))
        by_line = data.contexts_by_lineno(name)
        found[inside] = {line: {c.rsplit("|", 1)[0] for c in tests if c} for line, tests in by_line.items()}
    return found


def left_out(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The stretches of a file in which no mutant is drawn."""
    stretches: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            stretches.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            stretches += [node.returns] if node.returns else []
            caches = [d for d in node.decorator_list if "cache" in ast.unparse(d) or "overload" in ast.unparse(d)]
            stretches += caches
        elif (
            isinstance(node, ast.Raise)
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            or (isinstance(node, ast.keyword) and node.arg == "strict")  # zip's guard: fires on another mistake only
        ):
            stretches.append(node)
    stretches += [n for top in tree.body if isinstance(top, ast.Assign) for n in ast.walk(top) if _is_union(n)]
    # one column early, for the @ of a decorator
    return [((n.lineno, n.col_offset - 1), (n.end_lineno, n.end_col_offset)) for n in stretches]  # type: ignore[attr-defined]


def _is_union(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def _worth_drawing(full: str) -> bool:
    operator = full.split("/", 1)[-1]
    if operator.startswith("ReplaceBinaryOperator"):
        before, after = operator.split("_")[1:]
        return (before in BITS) == (after in BITS)
    if operator.startswith("ReplaceComparisonOperator"):
        before, after = operator.split("_")[1:]
        return (before in IDENTITY) == (after in IDENTITY)
    return operator != "NoOp"


def mutants_of(path: Path, name: str) -> list[list[Mutant]]:
    """Every place of a file in which something can go wrong, each with the mutants that can be made there."""
    import cosmic_ray.plugins as plugins
    from cosmic_ray.ast import get_ast

    text = path.read_text()
    without = left_out(ast.parse(text))
    operators = {full: plugins.get_operator(full) for full in sorted(plugins.operator_names())}
    operators = {full: kind() for full, kind in operators.items() if not kind.arguments() and _worth_drawing(full)}
    seen: collections.Counter[str] = collections.Counter()
    places: dict[tuple[int, int], list[Mutant]] = collections.defaultdict(list)
    for node in _nodes(get_ast(text)):
        for full, operator in operators.items():
            for (line, column), _ in operator.mutation_positions(node):
                if not any(start <= (line, column) < end for start, end in without):
                    places[line, column].append(Mutant(name, line, column, full, seen[full]))
                seen[full] += 1
    return [places[where] for where in sorted(places)]


def _nodes(node: Any) -> Iterator[Any]:
    """A node and all below it, in the order in which cosmic-ray counts occurrences."""
    yield node
    for child in getattr(node, "children", ()):
        yield from _nodes(child)


def mutated(path: Path, mutant: Mutant) -> str | None:
    """The file with the mistake in it; nothing when the result would not compile, or is the same program."""
    import cosmic_ray.plugins as plugins
    from cosmic_ray.mutating import mutate_code

    text = path.read_text()
    new: str | None = mutate_code(text, plugins.get_operator(mutant.operator)(), mutant.occurrence)
    if new is None:
        return None
    try:
        return None if ast.dump(ast.parse(new)) == ast.dump(ast.parse(text)) else new
    except SyntaxError:
        return None


def files_of(tree: Path, rooms: list[str], since: str) -> list[str]:
    """The modules of some rooms; with a commit, those that it did not have, under this name or another."""
    found = [
        str(path.relative_to(tree)) for room in rooms for path in sorted((tree / "src/surefoot" / room).rglob("*.py"))
    ]
    if not since:
        return found
    command = ["git", "diff", "--find-renames=40%", "--diff-filter=A", "--name-only", since, "HEAD", "--", "src"]
    new = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in found if name in new]


def draw(tree: Path, files: list[str], size: int, seed: int) -> list[Mutant]:
    """A systematic sample: places in order of file and line, every so-manieth of them from a random start."""
    rng = random.Random(seed)
    places = [place for name in files for place in mutants_of(tree / name, name)]
    step, start = len(places) / size, rng.random()
    drawn = []
    for index in range(size):
        for choices in places[int((start + index) * step) :]:
            usable = next((m for m in rng.sample(choices, len(choices)) if mutated(tree / m.file, m)), None)
            if usable:
                drawn.append(usable)
                break
    print(f"{len(drawn)} mutants of {len(places)} places in {len(files)} files; seed {seed}.", flush=True)
    return drawn


def in_function(text: str, line: int) -> bool:
    """Whether a line runs when a function is called; otherwise it runs once, on import."""
    tree = ast.parse(text)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return any(body[0].lineno <= line <= (body[-1].end_lineno or 0) for body in bodies)


def batches(
    mutant: Mutant, text: str, lines: dict[str, dict[int, set[str]]], durations: dict[str, float]
) -> Iterator[list[str]]:
    """Tests that may notice a mutant, the likeliest first: two files that run the line most, the line, the module."""
    here = lines.get(mutant.file, {})
    module = set().union(*here.values()) if here else set()
    line = here.get(mutant.line, set()) if in_function(text, mutant.line) else module
    files = collections.Counter(test.split("::")[0] for test in line)
    nearest = {name for name, _ in files.most_common(2)}
    done: set[str] = set()
    for tests in ({t for t in line if t.split("::")[0] in nearest}, line, module | HOUSE):
        total = 0.0
        batch: list[str] = []
        for test in sorted(tests - done, key=lambda t: (durations.get(t, 1.0), t)):
            total += durations.get(test, 1.0)
            if batch and total > LONGEST:
                break
            batch.append(test)
        done |= set(batch)
        if batch:
            yield batch


class Bench:
    """A process that has the libraries loaded and runs tests in copies of itself, so that a mutant costs a second."""

    def __init__(self, tree: Path, python: str) -> None:
        """Start it."""
        self.said = tree / "said"
        self.passes: dict[str, bool] = {}
        self.process = subprocess.Popen(
            [python, str(tree / "tools/mutants.py"), "--serve", str(self.said)],
            cwd=tree,
            env=environment(tree),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, tests: list[str], limit: float) -> tuple[str, str]:
        """Run tests in order until one fails: what became of the mutant, and which test found it."""
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("The bench has no pipes.")
        self.process.stdin.write(json.dumps([tests, limit]) + "\n")
        self.process.stdin.flush()
        ended = json.loads(self.process.stdout.readline())
        said = self.said.read_text(errors="replace")
        if ended == 0:
            return "survived", ""
        if ended == "late":
            return "timeout", f"{limit:.0f} s"
        failed = [text.split(" ", 1)[1] for text in said.splitlines() if text.startswith(("FAILED ", "ERROR "))]
        if ended not in (1, 2, 4):  # a failure, an import that fails, a test that cannot be collected any more
            raise RuntimeError(f"pytest ended with {ended}: {said[-600:]}")
        exact = [test for test in tests if failed and failed[0].startswith(test)]
        near = [test for test in tests if failed and failed[0].startswith(test.split("::")[0])]
        return "killed", max(exact, key=len) if exact else (near or tests)[0]

    def sound(self, test: str) -> bool:
        """Whether a test passes here without any mutant: one that does not has nothing to say."""
        if test not in self.passes:
            self.passes[test] = self.run([test], 300.0)[0] == "survived"
        return self.passes[test]


def serve(said: str) -> None:
    """The other end of `Bench`: for each line read, run pytest in a fork and answer with its exit code."""
    import hypothesis
    import numpy as np
    import pytest
    import scipy.optimize
    import scipy.stats

    loaded = [hypothesis, np, scipy.optimize, scipy.stats]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a second per mutant
    for line in sys.stdin:
        tests, limit = json.loads(line)
        Path("asked-tests").write_text("\n".join(tests))
        child = os.fork()
        if child == 0:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(out, stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            examples = DOCTESTS if any(not test.startswith("tests/") for test in tests) else []
            os._exit(int(pytest.main([*QUIET, *examples, "@asked-tests"])) if loaded else 9)
        print(json.dumps(_ended(child, time.monotonic() + 30 * limit)), flush=True)


def _ended(child: int, late: float) -> int | str:
    while time.monotonic() < late:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "late" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def put(path: Path, text: str) -> None:
    """Write a module, and make sure that no bytecode of another version of it is taken for it."""
    path.write_text(text)
    for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        stale.unlink()


def judge(mutant: Mutant, tree: Path, bench: Bench, lines: dict[str, Any], durations: dict[str, float]) -> Outcome:
    """Make one mistake, see whether a test fails, and put the file right again."""
    path = tree / mutant.file
    text, new = path.read_text(), mutated(tree / mutant.file, mutant)
    assert new is not None
    changed = next(i for i, (a, b) in enumerate(zip(text.splitlines(), new.splitlines(), strict=False)) if a != b)
    began, fate, test = time.monotonic(), "survived", ""
    for batch in batches(mutant, text, lines, durations):
        while True:
            put(path, new)
            try:
                fate, test = bench.run(batch, 30 + 4 * sum(durations.get(t, 1.0) for t in batch))
            finally:
                put(path, text)
            if fate != "killed" or bench.sound(test):
                break
            batch = [other for other in batch if other != test]
        if fate != "survived":
            break
    before, after = text.splitlines()[changed].strip(), new.splitlines()[changed].strip()
    return Outcome(mutant, fate, test, before, after, time.monotonic() - began)


def main() -> None:
    """Sample, run, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sample", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--rooms", nargs="+", default=["stats", "sequential"], help="folders of src/surefoot")
    parser.add_argument("--files", nargs="+", help="only these modules, such as src/surefoot/stats/gates.py")
    parser.add_argument("--tests", nargs="+", default=EVERYTHING, help="the tests that may notice; all when not said")
    parser.add_argument("--since", default="", help="only files that this commit did not have")
    parser.add_argument("--python", default=str(HERE / ".venv/bin/python"), help="the interpreter that runs the tests")
    parser.add_argument("--folder", type=Path, default=HERE / ".mutants", help="where the copy and the notes go")
    parser.add_argument("--jobs", type=int, default=2, help="processes for the recorded run")
    parser.add_argument("--again", action="store_true", help="keep the copy and the recorded run of last time")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve)
        return
    tree, notes = asked.folder.resolve() / "tree", asked.folder.resolve() / "notes"
    if not asked.again:
        shutil.rmtree(asked.folder, ignore_errors=True)
        notes.mkdir(parents=True)
        copy_tree(tree)
        record(tree, notes, asked.python, asked.jobs, asked.tests)
    lines = lines_of(tree, notes)
    durations = dict(json.loads(text) for text in (notes / "durations").read_text().splitlines())
    outcomes, bench = [], Bench(tree, asked.python)
    files = asked.files or files_of(tree, asked.rooms, asked.since)
    for index, mutant in enumerate(draw(tree, files, asked.sample, asked.seed), 1):
        outcome = judge(mutant, tree, bench, lines, durations)
        outcomes.append(outcome)
        where = f"{mutant.file.removeprefix('src/surefoot/')}:{mutant.line}"
        print(f"{index:4} {outcome.fate:8} {outcome.seconds:5.1f} s  {where}  {outcome.test}", flush=True)
        if outcome.fate not in ("killed", "timeout"):
            print(f"       - {outcome.before}\n       + {outcome.after}", flush=True)
        (notes / f"sample-{asked.seed}.json").write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    fates = collections.Counter(outcome.fate for outcome in outcomes)
    noticed = fates["killed"] + fates["timeout"]
    print(f"\n{dict(fates)}: {noticed} of {len(outcomes)} noticed ({noticed / len(outcomes):.1%}).")


if __name__ == "__main__":
    main()
