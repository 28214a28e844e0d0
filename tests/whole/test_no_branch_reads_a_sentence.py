"""Reasons are values: no code reads back a sentence that other code made for people.

The syntax tree of every file is walked. A sentence is what is called `why`, `notes`, `method`, `assumptions` and the
like, the text of an error, and whatever a function makes of those by assigning, looping or calling `str`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import surefoot

PACKAGE = Path(surefoot.__file__).parent
SENTENCES = {"why", "notes", "method", "assumptions", "message", "says", "remedy", "threatens", "stated", "args"}
READS = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "find", "index"}
REGEX = {"match", "search", "fullmatch", "sub", "split", "findall", "finditer"}
OTHERS = {
    "console": "`method` and `message` are those of HTTP",
    "runners/commands.py": "`args` are those of a command line",
}
"""Where one of these words is another's, and is no sentence."""


class Reads(ast.NodeVisitor):
    """Every place of a module that looks into a sentence."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.known: set[str] = set()
        self.values: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node)
            return
        if isinstance(node, ast.ExceptHandler):
            self.known.add(f"{node.name}!")  # its text, not the error itself
        elif isinstance(node, ast.Assign) and self.is_sentence(node.value):
            named = (name for target in node.targets for name in ast.walk(target))
            self.known |= {name.id for name in named if isinstance(name, ast.Name)}
        elif isinstance(node, ast.For):
            self._bind(node.target, node.iter)
        elif isinstance(node, ast.Match) and self.is_sentence(node.subject):
            self.found.append((node.lineno, f"match {ast.unparse(node.subject)}"))
        elif isinstance(node, ast.Compare | ast.Call) and self._reads(node):
            self.found.append((node.lineno, ast.unparse(node)))
        for part in getattr(node, "generators", ()):  # before the part of a comprehension that uses its variables
            self._bind(part.target, part.iter)
        self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.known, self.values
        self.known, self.values = set(self.known), set(self.values)
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if argument.annotation is not None and "str" not in ast.unparse(argument.annotation):
                self.values.add(argument.arg)  # a Literal, an enum, a record: no sentence
        self.generic_visit(node)
        self.known, self.values = outer

    def _bind(self, target: ast.expr, of: ast.expr) -> None:
        if self.is_sentence(of) and isinstance(target, ast.Name):
            self.known.add(target.id)

    def is_sentence(self, node: ast.expr) -> bool:
        """Whether an expression is a sentence, several of them, or made from one."""
        if isinstance(node, ast.Name):
            return (node.id in SENTENCES or node.id in self.known) and node.id not in self.values
        if isinstance(node, ast.Attribute):
            return node.attr in SENTENCES
        if isinstance(node, ast.Subscript):
            return self.is_sentence(node.value)
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            for part in node.generators:
                self._bind(part.target, part.iter)
            return self.is_sentence(node.elt)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            made = isinstance(node.func.value, ast.Name) and node.func.value.id == "sentences"
            return made or node.func.attr == "format_message" or self.is_sentence(node.func.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr", "list"):
            return any(
                self.is_sentence(of) or (isinstance(of, ast.Name) and f"{of.id}!" in self.known) for of in node.args
            )
        return False

    def _reads(self, node: ast.Compare | ast.Call) -> bool:
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Attribute):
                return False
            name = node.func.attr
            regex = name in REGEX and any(self.is_sentence(argument) for argument in node.args)
            return regex or (name in READS and self.is_sentence(node.func.value))
        sides = [node.left, *node.comparators]
        return any(self._compares(*two, operator) for two, operator in zip(pairwise(sides), node.ops, strict=True))

    def _compares(self, left: ast.expr, right: ast.expr, operator: ast.cmpop) -> bool:
        if isinstance(operator, ast.In | ast.NotIn):
            return self.is_sentence(right) or (self.is_sentence(left) and not isinstance(right, ast.Name))
        return isinstance(operator, ast.Eq | ast.NotEq) and any(
            self.is_sentence(one) and isinstance(other, ast.Constant) and isinstance(other.value, str) and other.value
            for one, other in ((left, right), (right, left))
        )


def reads(source: str) -> list[tuple[int, str]]:
    walk = Reads()
    walk.visit(ast.parse(source))
    return walk.found


def places() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).as_posix()
        if not any(inside.startswith(other) for other in OTHERS):
            for line, text in reads(path.read_text(encoding="utf-8")):
                yield f"{inside}:{line}: {text}"


def test_no_branch_reads_a_sentence() -> None:
    assert list(places()) == []


@pytest.mark.parametrize(
    "source",
    [
        'x = "cluster" in found.why',
        'x = gain.method.endswith("betting")',
        'x = pairs.why.startswith("Paired")',
        "x = NO_COMMON_TASK in notes",
        "def f(stated: list[str]):\n    return [line for line in stated if line.startswith(PROMISES)]",
        'def f(stated):\n    all = [one.strip() for one in stated]\n    return any("fixed" in one for one in all)',
        'x = found.method == "Wilson"',
        'x = re.sub("rng=", "--seed ", message)',
        'try:\n    f()\nexcept ValueError as error:\n    x = "seed" in str(error)',
        'try:\n    f()\nexcept ValueError as error:\n    said = str(error)\n    x = said.partition(":")',
        "try:\n    f()\nexcept ValueError as error:\n    x = PATTERN.match(str(error))",
        'def f(error):\n    text = error.format_message()\n    return text.startswith("Usage:")',
        'first = sentences.standing("a", [], [])\nx = all(name in first for name in names)',
        'for note in found.notes:\n    if "task" in note:\n        pass',
        'x = any(note == "no common task" for note in found.notes)',
        'match found.why:\n    case "Paired":\n        pass',
    ],
)
def test_reading_a_sentence_is_found(source: str) -> None:
    assert reads(source)


@pytest.mark.parametrize(
    "source",
    [
        'x = any(note.kind == "no common task" for note in found.notes)',
        'def f(method: Literal["judge", "labels"]):\n    return method == "labels"',
        "x = dict.fromkeys(note for note in found.notes)",
        'x = structure.unpaired == "none shared"',
        "try:\n    f()\nexcept ValueError as error:\n    raise DataError(str(error)) from None",
    ],
)
def test_asking_a_value_is_not(source: str) -> None:
    assert not reads(source)
