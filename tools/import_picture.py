"""Which room imports which? Drawn from the imports themselves into docs/figures/imports.svg.

python tools/import_picture.py          draw it
python tools/import_picture.py check    end with 1 if the picture lags behind the code
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
SOURCE = HERE / "src" / "surefoot"
PICTURE = HERE / "docs" / "figures" / "imports.svg"
WIDTH, BOX, HIGH, GAP = 760, 120, 34, 38
ACROSS = {
    "cli": 0.5, "console": 0.5, "reporting": 0.38, "runners": 0.78, "analysis": 0.36, "study": 0.68,
    "integrations": 0.12, "planning": 0.52, "sequential": 0.12, "auditing": 0.36, "files": 0.86,
    "stats": 0.26, "table": 0.7, "reference": 0.12, "numerics": 0.26, "core": 0.5,
}  # fmt: skip
"""How far to the right rooms stand: the mathematics, what uses it, the data."""


def rooms() -> dict[str, list[Path]]:
    """The files of every room."""
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.glob("*/**/*.py")):
        found.setdefault(path.relative_to(SOURCE).parts[0], []).append(path)
    return found


def imported(path: Path) -> set[str]:
    """The rooms that a file imports when it runs; what is imported for types only does not count."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("surefoot.")}
        todo += ast.iter_child_nodes(node)
    return found


def graph() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    files = rooms()
    return {
        room: {other for path in paths for other in imported(path) if other in files} - {room}
        for room, paths in files.items()
    }


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The imports that do not follow from others by way of a room between."""

    def reach(room: str) -> set[str]:
        return {room}.union(*(reach(other) for other in edges[room]))

    return {room: {to for to in tos if not any(to in reach(via) for via in tos - {to})} for room, tos in edges.items()}


def layers(edges: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by how many stand below them, the lowest last."""
    known: dict[str, int] = {}

    def height(room: str) -> int:
        if room not in known:
            known[room] = 1 + max((height(other) for other in edges[room]), default=-1)
        return known[room]

    top = max(map(height, edges))
    return [sorted(room for room in edges if height(room) == level) for level in range(top, -1, -1)]


def drawn() -> str:
    """The picture."""
    edges = graph()
    rows = layers(edges)
    place: dict[str, tuple[float, float]] = {}
    for level, names in enumerate(rows):
        for number, room in enumerate(names):
            across = ACROSS.get(room, (number + 1) / (len(names) + 1))
            place[room] = (WIDTH * across, 8 + level * (HIGH + GAP))
    tall = 16 + len(rows) * (HIGH + GAP) - GAP
    shown = reduced(edges)
    said = "; ".join(f"{room} imports {', '.join(sorted(tos)) or 'no other room'}" for room, tos in shown.items())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" role="img" aria-labelledby="t d">',
        '<title id="t">Which room of surefoot imports which</title>',
        f'<desc id="d">{said}.</desc>',
        "<style>text{font:14px sans-serif;fill:#1b1f24;text-anchor:middle}"
        "rect{fill:#fff;stroke:#0b5cad}path{fill:none;stroke:#57606a}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#161b22;stroke:#6cb6ff}"
        "path{stroke:#9da7b1}}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 1 8 4 0 7"/></marker></defs>',
    ]
    for room, tos in shown.items():
        for to in sorted(tos):
            (x, y), (end, low) = place[room], place[to]
            lines.append(_line(x, y + HIGH, end, low, far=low - y > HIGH + GAP + 1))
    for room, (x, y) in place.items():
        lines += [
            f'<rect x="{x - BOX / 2:.1f}" y="{y:.1f}" width="{BOX}" height="{HIGH}" rx="6"/>',
            f'<text x="{x:.1f}" y="{y + HIGH / 2 + 5:.1f}">{room}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _line(x: float, y: float, end: float, low: float, *, far: bool) -> str:
    """An arrow; one that passes other rows swings to the side so as not to run through their boxes."""
    aside = 0.0 if not far else -90.0 if abs(x - end) < BOX / 2 else 170.0 if x < end else -170.0
    third = (low - y) / 3
    bend = f"C{x + aside:.1f} {y + third:.1f} {end + aside:.1f} {low - third:.1f}"
    return f'<path d="M{x:.1f} {y:.1f}{bend} {end:.1f} {low:.1f}" marker-end="url(#tip)"/>'


def main() -> None:
    """Draw the picture, or check that it is the one of today."""
    new = drawn()
    if sys.argv[1:] == ["check"]:
        old = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
        sys.exit(
            "docs/figures/imports.svg lags behind the imports: python tools/import_picture.py" if old != new else 0
        )
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
