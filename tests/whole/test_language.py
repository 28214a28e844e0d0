"""Can an international engineer read every sentence? No phrase that stopped a reader, and a meaning for every term."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (
    *sorted((ROOT / "src" / "surefoot").rglob("*.py")),
    *sorted((ROOT / "src" / "surefoot").rglob("*.j2")),
    *sorted((ROOT / "src" / "surefoot").rglob("*.html")),
    *sorted((ROOT / "src" / "surefoot").rglob("*.js")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts),
    ROOT / "README.md",
)
STOPPED = (
    *("exact paired score", "exact score", "cannot be told from", "cannot be told apart", "not told from"),
    *("Not told from it", "Shown below it", "Collected as an environment", "semicolons part"),
    *("a word by which", "mend the command", "melded", "clustered by cluster", "repeated seeds", "unblind himself"),
    *("given the scores before it", "times as many rollouts would", "must stand alone", "first by the alphabet"),
    *("buys you", "another epoch buys", "something that binds", "Something that binds", "for want of"),
    *("when pointed at", "with the horizon in view", "no thought of the horizon", "until it pleases"),
    *("the judge leans", "what was staked", "the bets leave out", "worth remembering", "stand alone, so"),
    *("blocked contexts", "What touches zero", "Decided is what", "which teaches nothing", "network is away"),
    *("no score.", "evidence beside it", "laid end to end", "turned on its side", "starts equal numbers alike"),
    *("fulfils all that is asked", "of how many it does not say", "as often as not", "passes over errors"),
    *("Rather too many than", "than which none", "a point or so", "Whether whoever", "at no cost of error"),
    *("be amended so", "written anew", "the key is another's", "listened at", "safe on your side", "eyes only"),
    *("go on all the same", "as wrong as", "until the result pleases", "rough all the same"),
    *("wide for it", "Had the {", "read it off", "made here.", "of so many", "says nothing of other"),
)
"""Phrases at which readers stopped."""


def said(path: Path) -> str:
    """What a user can meet of a file: every text of Python but docstrings, all of commands (their help) and others."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py" or path.parent.name == "cli":
        return " ".join(text.split())
    tree = ast.parse(text)
    silent = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return "\n".join(str(node.value) for node in texts if id(node) not in silent)


@pytest.fixture(scope="module")
def sentences() -> dict[Path, str]:
    """What can be met, file by file."""
    return {path: said(path) for path in PLACES}


@pytest.mark.parametrize("phrase", STOPPED)
def test_no_phrase_that_stopped_a_reader(phrase: str, sentences: dict[Path, str]) -> None:
    found = [str(path.relative_to(ROOT)) for path, text in sentences.items() if phrase in text]
    assert not found, f"{phrase!r} is in {', '.join(found)}"


NAMES = re.compile(r"[A-Z][\w+²^@-]*[A-Za-z0-9+]")
ORDINARY = frozenset(("First", "The", "Fixed", "Untitled", "Demo", "POST", "GET", "Rollouts", "Over"))


def glossary() -> str:
    """The terms that the glossary explains, and what it says of them."""
    return (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


CALLED = {"method", "METHOD", "over", "title", "label"}
"""What holds the name of a method or a rule: arguments, variables and constants."""


def _named(node: ast.AST) -> set[str]:
    """The argument or variables that a node gives a value to."""
    if isinstance(node, ast.keyword):
        return {str(node.arg)}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {getattr(target, "id", "") for target in targets}


def terms() -> set[str]:
    """Every name of a person or an abbreviation in what intervals, tests and rules are called."""
    found: set[str] = set()
    package = ROOT / "src" / "surefoot"
    rooms = ("stats", "reference", "sequential", "analysis", "core", "planning")  # below the package, wherever it lies
    for path in (file for room in rooms for file in sorted((package / room).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = getattr(node, "value", None) if CALLED & _named(node) else None
            texts = [] if value is None else [one.value for one in ast.walk(value) if isinstance(one, ast.Constant)]
            found |= {name for text in texts if isinstance(text, str) for name in NAMES.findall(text)}
    return {name.removesuffix("-over-").removesuffix("-compatible").removesuffix("'s") for name in found} - ORDINARY


def test_every_name_of_a_method_or_rule_is_in_the_glossary() -> None:
    known = " ".join(re.findall(r"^(\S.*)\n: ", glossary(), re.MULTILINE))
    wanted = terms() | {
        "SAVI",
        "Bell-McCaffrey",
        "e-value",
        "Clopper-Pearson",
        "Wilson",
        "KS",
        "Rogan-Gladen",
        "pass@k",
        *("repeat, epoch", "rubric", "gate", "pilot", "holder", "witness", "not certified"),
    }
    assert {"FHM", "WSR", "N-SCORE", "Holm", "Gaffke", "Korn-Graubard"} <= wanted
    assert not {name for name in wanted if name not in known}


def test_a_million_is_told_in_words() -> None:
    from surefoot.stats.detectable import outlook_from

    far = outlook_from(1e-6, 0.05, (400, 400), unit="rollouts", scale="gain", confidence=0.95)
    assert far.wanted.startswith("More than a million rollouts of each policy would be needed")
