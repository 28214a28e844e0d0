"""What was guessed or decided on reading several files, with each path said once?"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.core.notes import Note, Noted


def said_once(notes: Sequence[tuple[str, Noted]], files: Sequence[str]) -> tuple[Noted, ...]:
    """Notes of several files, each a file's name and a note: what all say without names, the rest file by file.

    Args:
        notes: The notes in the order they were made; a name that is empty is of no one file.
        files: The names of all files.
    """
    said: dict[Noted, list[str]] = {}
    for file, note in notes:
        of = said.setdefault(note, [])
        if file not in of:
            of.append(file)
    together: dict[tuple[str, ...], list[str]] = {}
    kept: list[Noted | tuple[str, ...]] = []
    for note, of in said.items():
        names = tuple(of)
        if names == ("",) or (len(files) == len(names)):
            kept.append(note)
        elif isinstance(note, Note):
            kept.append(Note(note.kind, {**note.values, "files": names}))
        else:
            if names not in together:
                kept.append(names)
            together.setdefault(names, []).append(note)
    return tuple(
        Note("of files", {"files": one, "said": tuple(together[one])}) if isinstance(one, tuple) else one
        for one in kept
    )
