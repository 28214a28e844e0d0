"""Gather the notes of `changelog.d/` into CHANGELOG.md under the version in `surefoot.__version__`: `make changelog`.

Every note becomes points of that version's section, whatever its bullets look like, and its file is removed. Run again,
it adds what was written since. The date goes into CITATION.cff too.
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 120
INTRODUCTION = """# Changes

Newest first. What has not been released yet is in `changelog.d/`, one file each.
"""


def points(text: str) -> list[str]:
    """The points of a note: one for every bullet, or one for the whole where there are none."""
    parts = re.split(r"(?m)^[-*] +", text.strip())
    return [" ".join(part.split()) for part in parts if part.strip()]


def section(version: str, date: str, found: list[str]) -> str:
    """The section of one version."""
    return "\n".join([f"## {version} ({date})", "", *map(wrapped, found), ""])


def wrapped(point: str) -> str:
    """A point, in lines that fit; code is never cut."""
    lines, room = ["-"], WIDTH
    for word in re.findall(r"(?:`[^`]*`|[^\s`])+", point):
        if len(lines[-1]) + 1 + len(word) > room:
            lines.append(" ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def gathered(text: str, version: str, date: str, added: list[str]) -> str:
    """The changelog with these points added to the section of the version, which is made if it is not there."""
    sections = re.split(r"(?m)^(?=## )", text)[1:]
    kept = [part for part in sections if not part.startswith(f"## {version} (")]
    before = [part for part in sections if part.startswith(f"## {version} (")]
    if before:  # it may have been edited for its readers: it stays as it is, and new points follow
        body = before[0].split("\n", 1)[1].strip()
        old = points(body)
        new = [point for point in added if point not in old]
        newest = "\n".join([f"## {version} ({date})", "", body, *map(wrapped, new), ""])
    else:
        newest = section(version, date, added)
    return "\n".join([INTRODUCTION, newest, *(part.strip() + "\n" for part in kept)])


def main() -> int:
    """Gather, write and say what was done."""
    sys.path.insert(0, str(ROOT / "src"))
    from surefoot import __version__

    notes = sorted(path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md")
    added = [point for note in notes for point in points(note.read_text(encoding="utf-8"))]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    changelog, citation = ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"
    changelog.write_text(gathered(changelog.read_text(encoding="utf-8"), __version__, today, added), encoding="utf-8")
    cited = citation.read_text(encoding="utf-8")
    cited = re.sub(r"(?m)^version: .*$", f"version: {__version__}", cited)
    citation.write_text(re.sub(r"(?m)^date-released: .*$", f'date-released: "{today}"', cited), encoding="utf-8")
    for note in notes:
        note.unlink()
    print(f"CHANGELOG.md: {len(added)} points of {len(notes)} notes under {__version__}, {today}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
