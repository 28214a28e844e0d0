"""The house rules, as checks on the tree itself."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools import quick

import surefoot
from surefoot import _moved
from surefoot.core.record import Record
from tests.support.trees import tree_of

SOURCE = Path(surefoot.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LAZY = ["surefoot", "surefoot.stats", "surefoot.sequential", "surefoot.reference"]
FORBIDDEN_NAMES = {"alternative", "alpha", "verbose", "mode", "kwargs", "k", "n", "arm", "nobs"}
FORBIDDEN_STARTS = ("test", "get_", "calc_", "do_")
FORBIDDEN_MODULES = ("util", "helper", "manager", "misc", "common")


def public_names() -> list[tuple[str, str]]:
    return [(room, name) for room in LAZY for name in importlib.import_module(room)._HOMES]


def public_functions() -> list[tuple[str, object]]:
    found = [(f"{room}.{name}", getattr(importlib.import_module(room), name)) for room, name in public_names()]
    return [(name, thing) for name, thing in found if not inspect.ismodule(thing)]


def modules() -> list[str]:
    return [info.name for info in pkgutil.walk_packages([str(SOURCE)], "surefoot.")]


@pytest.mark.parametrize("room", LAZY)
def test_public_names_are_listed_once_sorted_and_typed(room):
    module = importlib.import_module(room)
    tree = ast.parse(Path(module.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(module._HOMES)
    assert list(module._HOMES) == sorted(module._HOMES)


@pytest.mark.parametrize(("name", "thing"), public_functions(), ids=lambda value: value if type(value) is str else "")
def test_public_signatures_follow_the_house(name, thing):
    assert not name.rsplit(".", 1)[-1].startswith(FORBIDDEN_STARTS)
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return
    if inspect.isclass(thing) and not dataclasses.is_dataclass(thing):
        return
    parameters = inspect.signature(thing).parameters.values()
    named = {parameter.name for parameter in parameters}
    assert not named & FORBIDDEN_NAMES
    assert not [p for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD]
    if inspect.isfunction(thing):
        positional = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert len(positional) <= 3
        assert not [p.name for p in positional if isinstance(p.default, bool)]
        confident = [p for p in parameters if p.name == "confidence"]
        assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in confident)
        assert all(p.default in (0.95, None, inspect.Parameter.empty) for p in confident)


def returned(thing: object) -> set[str]:
    """The names in the return annotations of a function, or of the methods and properties that a class shows."""
    functions = [thing] if inspect.isfunction(thing) else []
    if inspect.isclass(thing):
        shown = [getattr(thing, name) for name in vars(thing) if not name.startswith("_")]
        functions = [getattr(one, "fget", None) or getattr(one, "__func__", one) for one in shown]
    annotations = [getattr(one, "__annotations__", {}).get("return", "") for one in functions]
    trees = [ast.parse(text, mode="eval") for text in annotations if text and isinstance(text, str)]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_every_type_that_a_public_function_returns_is_public_or_has_a_known_home():
    kernels = SOURCE / "numerics"
    trees = [tree_of(path) for path in FILES if kernels not in path.parents]
    classes = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    known = {name for _, name in public_names()} | {name for names in _moved.TYPES.values() for name in names.split()}
    hidden = {
        f"{name} returns {kind}" for name, thing in public_functions() for kind in (returned(thing) & classes) - known
    }
    assert hidden == set()


def test_there_are_few_public_names():
    """What people type: about 60 names in each package, 200 in all, published methods of no answer aside."""
    counts = {room: len(importlib.import_module(room)._HOMES) for room in LAZY[:3]}
    assert max(counts.values()) <= 75, counts
    assert sum(counts.values()) <= 200, counts


def test_a_result_is_read_in_a_new_process_whatever_its_type():
    names = " ".join(_moved.TYPES.values())
    program = f"from surefoot.core.record import _kind\nprint([name for name in {names!r}.split() if not _kind(name)])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    records = {kind.__name__ for kind in Record._known.values()}
    assert not set(ast.literal_eval(done.stdout)) & records


def test_every_parameter_of_a_public_function_is_read():
    unread = []
    for name, thing in public_functions():
        if not inspect.isfunction(thing):
            continue
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(thing)))
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        unread += [f"{name}({p})" for p in inspect.signature(thing).parameters if p not in read]
    assert unread == []


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        (n, t)
        for n, t in public_functions()
        if n.startswith(("surefoot.stats.", "surefoot.reference.")) and inspect.isfunction(t)
    ],
    ids=lambda value: value if type(value) is str else "",
)
def test_statistics_state_assumptions_example_and_reference(name, thing):
    text = inspect.getdoc(thing)
    missing = [section for section in ("Assumptions:", "Example:", "Reference:") if section not in text]
    assert missing == []
    assert ">>>" in text


def test_no_public_function_shares_its_name_with_a_module_of_its_package():
    functions = {name for name, thing in public_functions() if not inspect.isclass(thing)}
    assert functions & set(modules()) == set()


def test_files_are_short_documented_and_free_of_asserts_and_blind_excepts():
    for path in FILES:
        text = path.read_text()
        tree = tree_of(path)
        assert len(text.splitlines()) <= 500, path
        assert ast.get_docstring(tree), path
        assert not set(path.stem.removesuffix("s").split("_")) & set(FORBIDDEN_MODULES), path
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Assert), path
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
                assert not body or body[-1].end_lineno - body[0].lineno < 50, (path, node.name)
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, path
                assert ast.unparse(node.type) not in ("Exception", "BaseException"), path


def test_a_refusal_of_an_argument_is_a_value():
    """What is refused, and what would do instead, is data of the error: `_check.refused` and `_check.wrong` make it."""
    bare = []
    for path in FILES:
        if path.relative_to(SOURCE).parts[0] in ("cli", "console", "integrations", "numerics"):
            continue
        for node in ast.walk(tree_of(path)):
            made = isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
            if made and ast.unparse(node.exc.func) in ("ValueError", "TypeError"):
                said = node.exc.args[0].values[0] if isinstance(node.exc.args[0], ast.JoinedStr) else node.exc.args[0]
                if isinstance(said, ast.Constant) and said.value.startswith("`"):
                    bare.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert bare == []


TESTS = Path(__file__).parents[1]
UNTESTED: set[str] = set()
"""Modules without tests of their own, at most ten; each with its reason beside it."""


def test_every_module_is_tested_in_a_file_of_its_room():
    """In tests/<room>/test_<file>.py, or in a file of that folder whose docstring names the module."""
    own = [path for path in FILES if path.stem not in ("__init__", "__main__")]
    tested = {path.relative_to(SOURCE).as_posix(): quick.tests_of(path) for path in own}
    assert {name for name, found in tested.items() if not found} == UNTESTED
    assert len(UNTESTED) <= 10
    empty = [name for name, found in tested.items() if found and "def test_" not in found[0].read_text()]
    assert empty == []


FIELD = {
    "statistics": "acceptance buehler chebyshev chi conduct crosstab expectations factorials hypergeometric labelling "
    "melding multiplicity properties protocol schedules staircase validity verification",
    "software": "app archives authentication delimited formatting importers lazy middleware normalising queue "
    "recognising registry responses selection workbooks",
    "plain": "collection reviews",
}
"""Words of module names that no page of the docs uses, and whose words they are."""


def forms(word: str) -> set[str]:
    """A word, and how a page may bend it."""
    stem = re.sub(r"(ing|ed|s)$", "", word)
    return {word, *(stem + ending for ending in ("", "s", "es", "e", "ed", "ing"))} | {re.sub("ies$", "y", word)}


def test_modules_are_named_by_words_of_the_docs_or_of_the_field():
    docs = TESTS.parent / "docs"
    pages = [path for path in docs.rglob("*.md") if not {"decisions", "reference", "_build"} & set(path.parts)]
    text = " ".join(path.read_text(encoding="utf-8").lower() for path in pages if path.name != "architecture.md")
    known = set(re.findall(r"[a-z0-9]+", text)) | {word for words in FIELD.values() for word in words.split()}
    named = {(path.relative_to(SOURCE).as_posix(), word) for path in FILES for word in path.stem.split("_") if word}
    strange = sorted(where for where in named if where[1] not in ("init", "main") and not forms(where[1]) & known)
    assert strange == []


CHANGING = {"SceneComparison", "_Search", "BaselineComparison", "_Run", "Fold", "_Request", "Door"}
"""Dataclasses that change on purpose: searches, runs, folded logs, requests and doors; all others are values."""


def test_records_are_frozen_and_slotted():
    for name in modules():
        if not name.startswith(("surefoot.cli", "surefoot.__main__", "surefoot.console")):
            importlib.import_module(name)
    loose = [
        kind.__name__
        for kind in Record._known.values()
        if kind.__module__.startswith("surefoot.")
        and not (dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen and "__slots__" in vars(kind))
    ]
    assert loose == []
    changing = {
        node.name
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        for told in map(ast.unparse, node.decorator_list)
        if told.startswith("dataclass") and "frozen=True" not in told
    }
    assert changing == CHANGING


def loaded_by(code: str) -> set[str]:
    program = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_a_plain_rate_loads_no_array_library():
    loaded = loaded_by("from surefoot.cli.main import run\nrun(['rate', '38/50'])")
    assert not loaded & {"numpy", "scipy", "polars", "matplotlib", "rich", "pydantic"}


def test_two_tallies_load_numpy_and_nothing_else_that_is_large():
    loaded = loaded_by("from surefoot.cli.main import run\nrun(['compare', '17/20', '14/20'])")
    assert not loaded & {"scipy", "polars", "matplotlib", "rich", "pydantic"}


def test_help_loads_no_array_library():
    loaded = loaded_by("from surefoot.cli.main import run\nrun(['--help'])")
    assert not loaded & {"numpy", "scipy", "polars", "matplotlib", "rich", "pydantic"}


def test_importing_surefoot_loads_next_to_nothing():
    loaded = loaded_by("import surefoot\nsurefoot.Tally, surefoot.stats.wilson")
    assert not loaded & {"numpy", "scipy", "polars", "matplotlib", "typer"}


def test_make_bench_runs_every_script_that_measures():
    from benchmarks.__main__ import HERE, ORDER

    scripts = {file.stem for file in HERE.glob("[a-z]*.py") if "\ndef main(" in file.read_text(encoding="utf-8")}
    assert scripts == set(ORDER)


def imported_from_surefoot(path: Path) -> set[tuple[str, str]]:
    """Each module of the package that a file imports from, with the name it takes."""
    nodes = ast.walk(tree_of(path))
    taken = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot")]
    return {(str(node.module), alias.name) for node in taken for alias in node.names}


def test_benchmarks_reproductions_and_tools_import_what_is_there():
    folders = [TESTS.parent / name for name in ("benchmarks", "reproductions", "tools")]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    missing = []
    for path in files:
        for module, name in imported_from_surefoot(path):
            try:
                pkgutil.resolve_name(f"{module}:{name}")
            except AttributeError:
                if not (SOURCE.parent / Path(*module.split(".")) / f"{name}.py").is_file():
                    missing.append(f"{path.name}: {module}.{name}")
            except ModuleNotFoundError as error:
                missing.append(f"{path.name}: {error}")
    assert missing == []
