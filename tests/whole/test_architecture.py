"""Is docs/architecture.md true: the map, the picture of the imports, the walks, and the answers?"""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

from tests.support.trees import tree_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "surefoot"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATH = re.compile(r"[\w/]+\.(?:py|js|md)$")


def names_of(path: Path) -> set[str]:
    """What a file defines: functions, classes, their methods and attributes, constants."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return set(re.findall(r"function (\w+)", text))
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def place(path: str) -> Path:
    """A path of the page: below the package, or below the repository."""
    return SOURCE / path if (SOURCE / path).exists() else ROOT / path


def answers(text: str) -> list[tuple[str, str]]:
    """Each path that a text gives, with each name said to be in it."""
    found, at = [], ""
    for word in re.findall(r"`([^`]+)`", text):
        if PATH.match(word):
            at = word
            found.append((at, ""))
        elif at and re.fullmatch(r"\w+(\.\w+)?", word):
            found.append((at, word))
    return found


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def items(title: str) -> list[str]:
    """The items of a list, each with the lines that continue it."""
    return re.split(r"\n(?=\* |\d+\. )", section(title))[1:]


WALKED = re.findall(r"^[\s│├└─]*([\w/]+\.(?:py|js)) (\w+(?:\.\w+)?)  ", section("Three walks"), re.MULTILINE)
ASKED = [
    (path, name)
    for title in ("Where would I add ...", "Thirty questions")
    for one in items(title)
    for path, name in answers(one)
]


def test_every_room_is_on_the_map_and_nothing_else_is():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)/` \|", section("The map"), re.MULTILINE)) == rooms
    singles = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert set(re.findall(r"`(\w+\.py)`", section("The map"))) == singles


def test_the_picture_of_the_imports_is_the_one_of_today():
    spec = importlib.util.spec_from_file_location("import_picture", ROOT / "tools" / "import_picture.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    again = "draw it again: python tools/import_picture.py"
    assert tool.PICTURE.read_text(encoding="utf-8") == tool.drawn(), again


def test_every_path_and_name_is_there():
    asked = {*WALKED, *ASKED}
    assert sorted({path for path, _ in asked if not place(path).is_file()}) == []
    defined = {path: names_of(place(path)) for path, name in asked if name}
    assert sorted((path, name) for path, name in asked if name and name not in defined[path]) == []


def test_there_are_three_walks_and_thirty_questions_with_answers():
    assert section("Three walks").count("```text") == 3
    assert len(WALKED) == len(re.findall(r"\.(?:py|js) ", section("Three walks")))
    questions = items("Thirty questions")
    assert len(questions) == 30
    assert all("?" in one and any(name for _, name in answers(one)) for one in questions)
    assert all(any(name for _, name in answers(one)) for one in items("Where would I add ..."))


ROOMS = ["errors", "core", "numerics", "stats", "sequential", "planning", "table", "files", "auditing", "analysis"]
ROOMS += ["study", "runners", "reporting", "console", "reference", "cli"]
"""Every room, the lowest first."""


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
ABOVE = {"files/formats/study_logs.py": ["study"]}
"""A study's log in a store becomes a table by the study's own code."""


def names_above(file: Path) -> list[str]:
    """Rooms above a file's own that it names in a string: an import that the linter does not see."""
    tree = tree_of(file)
    told = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and ast.get_docstring(node)
    }
    own = ROOMS.index(file.relative_to(SOURCE).parts[0].removesuffix(".py"))
    words = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in told]
    rooms = [found for word in words if isinstance(word, str) for found in re.findall(r"\bsurefoot\.(\w+)", word)]
    return [room for room in rooms if room in ROOMS and ROOMS.index(room) > own]


def test_no_room_names_one_above_it_in_a_string():
    files = [file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0].removesuffix(".py") in ROOMS]
    above = {str(file.relative_to(SOURCE)): names_above(file) for file in files}
    assert len(above) > 300
    assert {file: rooms for file, rooms in above.items() if rooms} == ABOVE
