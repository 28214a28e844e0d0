"""Is every term explained that a method, a test or a rule is called by?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.trees import tree_of

ROOT = Path(__file__).parents[2]
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
        for node in ast.walk(tree_of(path)):
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
