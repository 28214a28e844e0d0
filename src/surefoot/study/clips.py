"""Where is the clip of a rollout kept, and is it still the one that was recorded?

A clip is a file or a link. A file is copied into a folder beside the log and named by the hash of its content, so that
its name tells nothing of a policy and the log's hash proves the content. A clip that cannot be kept never costs a
result: the log then says what was wrong with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from surefoot import _check
from surefoot._files import open_regular, whole_file
from surefoot.core.record import Record
from surefoot.errors import StudyError

ClipKind = Literal["mp4", "webm", "mov", "gif", "png", "jpg"]
"""What a clip may be; a browser shows all of them."""
PICTURES: frozenset[str] = frozenset({"gif", "png", "jpg"})
MOST_BYTES = 256 << 20
"""The largest file that a server takes."""
FAULTS = {
    "missing": "there is no such file",
    "unreadable": "the file cannot be read, or it is not a regular file",
    "unknown": f"it is not one of {', '.join(get_args(ClipKind))}",
    "not kept": "it could not be copied into the study's folder of clips",
    "changed": "its content is not the one that was recorded",
    "too large": f"a server takes at most {MOST_BYTES >> 20} MiB",
}
"""Why a clip was not kept."""
LONGEST_NAME, LONGEST_LINK = 200, 2000
HEAD = 64
"""So many first bytes tell what a file is."""
BLOCK = 1 << 20
HASH = re.compile(r"[0-9a-f]{64}")
NOT_MOVIES = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1", b"avif", b"avis")
"""Pictures in the same container as mp4, which few browsers show."""


@dataclass(frozen=True, slots=True)
class Clip(Record):
    """The clip of a rollout, as the log keeps it.

    Attributes:
        name: The file's own name.
        sha256: The hash of its content.
        bytes: How large it is.
        kind: What it is: mp4, webm, mov, gif, png or jpg.
        link: Where it is, when it is not a file of the study's.
        fault: Why it was not kept; empty when it was.
    """

    name: str = ""
    sha256: str = ""
    bytes: int = 0
    kind: str = ""
    link: str = ""
    fault: str = ""

    @property
    def file(self) -> str:
        """The name under which the study keeps it; empty for a link, or when it was not kept."""
        return f"{self.sha256}.{self.kind}" if self.sha256 else ""

    def said(self) -> dict[str, Any]:
        """What the log says of it: what is not empty."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    @classmethod
    def of(cls, told: Any) -> Clip:
        """The clip that a line of the log tells of.

        Raises:
            StudyError: It is none.
        """
        if not isinstance(told, Mapping) or not set(told) <= {field.name for field in fields(cls)}:
            raise StudyError(f"a clip must be an object of known fields; got {told!r}")
        size = told.get("bytes", 0)
        texts = (value for name, value in told.items() if name != "bytes")
        if type(size) is not int or size < 0 or not all(isinstance(text, str) for text in texts):
            raise StudyError(f"a clip must hold texts and its size; got {told!r}")
        clip = cls(**told)
        kept = HASH.fullmatch(clip.sha256) is not None and clip.kind in get_args(ClipKind)
        if [kept, is_link(clip.link), clip.fault in FAULTS].count(True) != 1 or bool(clip.sha256) != kept:
            raise StudyError(f"a clip must be a file's hash, a link, or a fault; got {told!r}")
        return clip


def is_link(text: str) -> bool:
    """Whether a text is a link to the web, and nothing that a browser would run."""
    if not text.lower().startswith(("http://", "https://")) or len(text) > LONGEST_LINK:
        return False
    if any(one <= " " or one in '\x7f"<>\\^`{|}' or "\ud800" <= one <= "\udfff" for one in text):
        return False
    with contextlib.suppress(ValueError):
        return bool(urlsplit(text).hostname)
    return False


def kind_of(head: bytes) -> ClipKind | None:
    """What a file is by its first bytes, whatever its name says; None for what is no clip."""
    found: ClipKind | None = None
    if head[4:8] == b"ftyp":
        found = None if head[8:12] in NOT_MOVIES else "mov" if head[8:12] == b"qt  " else "mp4"
    elif head[4:8] in (b"moov", b"mdat", b"wide"):
        found = "mov"
    elif head.startswith(b"\x1aE\xdf\xa3"):
        found = "webm" if b"webm" in head else None
    elif head.startswith((b"GIF87a", b"GIF89a")):
        found = "gif"
    elif head.startswith(b"\x89PNG\r\n\x1a\n"):
        found = "png"
    elif head.startswith(b"\xff\xd8\xff"):
        found = "jpg"
    return found


def clip_of(given: str | os.PathLike[str]) -> Clip:
    """What a path or a link leads to: a link, a file with its hash, or what is wrong with it."""
    text = os.fspath(given)
    if is_link(text):
        return Clip(link=text)
    name = _named(Path(text).name or text)
    try:
        with open_regular(text) as file:
            kind = kind_of(file.read(HEAD))
            if kind is None:
                return Clip(name=name, fault="unknown")
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except FileNotFoundError:
        return Clip(name=name, fault="missing")
    except (OSError, ValueError):
        return Clip(name=name, fault="unreadable")
    return Clip(name=name, sha256=digest, bytes=size, kind=kind)


class ClipFolder:
    """A study's folder of clips, each under the hash of its content."""

    def __init__(self, path: str | Path, *, private: bool = True) -> None:
        """Nothing is made before the first clip; when `private`, only its owner may read what is kept."""
        self.path, self.private = Path(path), private

    def kept(self, given: str | os.PathLike[str], *, expected: str = "") -> Clip:
        """Keep a clip: copy a file, whole or not at all; only tell of a link. What cannot be kept says why.

        Args:
            given: A file's path, or a link (http or https).
            expected: The hash that the file must have, if it is known.
        """
        clip = clip_of(given)
        if clip.sha256 and expected not in ("", clip.sha256):
            return Clip(name=clip.name, fault="changed")
        if clip.sha256:
            try:
                self._copied(Path(given), clip)
            except (OSError, StudyError):
                return Clip(name=clip.name, fault="not kept")
        return clip

    def _copied(self, source: Path, clip: Clip) -> None:
        if self.fault(clip) is None:  # the same content, kept before
            return
        self.path.mkdir(mode=0o700 if self.private else 0o777, parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with open_regular(source) as file, whole_file(self.path / clip.file, private=self.private) as copy:
            while block := file.read(BLOCK):
                digest.update(block)
                copy.write(block)
            if digest.hexdigest() != clip.sha256:
                raise StudyError("The clip changed while it was copied.")

    def where(self, clip: Clip) -> Path:
        """Where the file of a clip lies."""
        return self.path / clip.file

    def fault(self, clip: Clip) -> Literal["missing", "changed"] | None:
        """What is wrong with the file of a clip now; None when it is the one that was recorded."""
        try:
            with open_regular(self.where(clip)) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return "missing"
        return None if digest == clip.sha256 else "changed"


def faults_of(clips: Iterable[tuple[int, Clip]], folder: ClipFolder) -> list[str]:
    """Which clips are no longer the ones that were recorded, by turn, each as a sentence."""
    said = {"missing": "is missing", "changed": "is not the one that was recorded: its content was changed"}
    found = []
    for turn, clip in clips:
        fault = folder.fault(clip)
        if fault is not None:
            found.append(f"The clip of turn {turn} ({folder.where(clip)}) {said[fault]}.")
    return found


def no_clip(turn: int, clip: Clip) -> str:
    """What is said of a clip that cannot be kept."""
    return f"The clip of turn {turn} was not kept: {FAULTS[clip.fault]} ({clip.name})."


def checked(clip: Any) -> str:
    """A clip as it may be given, a path or a link, as a text."""
    if not isinstance(clip, str | os.PathLike) or not isinstance(text := os.fspath(clip), str) or not text.strip():
        raise _check.mistyped("clip", "be a file's path or a link", clip)
    return text


def _named(name: str) -> str:
    """A file's name as the log can keep it."""
    return name.encode("utf-8", "replace").decode()[-LONGEST_NAME:]
