"""Write into docs/migrating-0.3.md where the public names of 0.2.0 are now, from the table in `surefoot._moved`."""

from __future__ import annotations

from pathlib import Path

from surefoot import _moved

PAGE = Path(__file__).parents[1] / "docs" / "migrating-0.3.md"
START, END = "<!-- moved names: tools/moved_names.py -->\n", "<!-- end -->\n"


def table() -> str:
    """The rows of the page: each new place with the old names that lead to it."""
    places: dict[tuple[str, str], list[str]] = {}
    for old, new in _moved.moved().items():
        package, _, name = old.rpartition(".")
        place, _, last = new.rpartition(".")
        places.setdefault((package, place if last == name else new), []).append(f"`{name}`")
    rows = [f"| `{package}` | {', '.join(names)} | `{place}` |" for (package, place), names in sorted(places.items())]
    return "\n".join(["| was in | names | is in 0.3 |", "|---|---|---|", *rows]) + "\n"


def page(text: str) -> str:
    """The page with its table made anew."""
    before, after = text.split(START)[0], text.split(END)[1]
    return before + START + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
