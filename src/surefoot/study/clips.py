"""Clips of rollouts: where each is kept, and whether it is the one that was recorded.

A clip is a file or a link. A file is copied into a folder beside the log and named by the hash of its content, so that
its name tells nothing of a policy and the log's hash proves the content. A clip that cannot be kept never costs a
result: the log then says what was wrong with it.

What arrives at a server lies in a file of its own until the log names it, and takes its name in the folder then: a
server that is killed leaves no file that the log does not know, and `sweep` finishes or removes what it had begun.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any, Literal, get_args
from urllib.parse import urlsplit

from surefoot import _check
from surefoot._files import open_regular, settled, whole_file
from surefoot.core.formatting import counted
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
ARRIVING, PART = ".arriving-", ".part"
ABOUT = 3600.0
"""Seconds after which a copy that the log does not name is named by no line to come."""
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
        """The clip that a line of the log tells of."""
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

    @contextlib.contextmanager
    def arriving(self) -> Iterator[IO[bytes]]:
        """A file for a clip that arrives; it goes at the end, if `put` did not give it its place.

        Raises:
            OSError: It cannot be made.
        """
        self.path.mkdir(mode=0o700 if self.private else 0o777, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=ARRIVING, suffix=PART, dir=self.path)
        os.close(handle)
        try:
            with Path(name).open("w+b") as file:
                _alone(file)  # as long as it is open, nobody sweeps it away
                yield file
        finally:
            with contextlib.suppress(OSError):
                Path(name).unlink()

    def put(self, path: Path, clip: Clip) -> None:
        """Give a file that arrived its place in the folder, once the log names it.

        Raises:
            OSError: It cannot be done.
        """
        if self.fault(clip) is not None:
            path.chmod(0o600 if self.private else 0o644)
            path.replace(self.where(clip))
            settled(self.path)

    def sweep(self, known: Collection[Clip]) -> list[str]:
        """Finish what a killed process had begun: give clips that the log names their place, and remove the rest.

        Args:
            known: Every clip in the log.

        Returns:
            What was done, each as a sentence.
        """
        lost = {clip.sha256: clip for clip in known if clip.sha256 and self.fault(clip) == "missing"}
        put, gone, size = 0, 0, 0
        named = {clip.file for clip in known}
        for path in sorted(self.path.glob("*") if self.path.is_dir() else ()):
            with contextlib.suppress(OSError), open_regular(path, links=False) as file:
                if not (path.name.endswith(PART) and _alone(file)) and not _orphan(path, named):
                    continue
                clip = lost.get(hashlib.file_digest(file, "sha256").hexdigest())
                if clip is not None:
                    self.put(path, clip)
                    put += 1
                else:
                    size += os.fstat(file.fileno()).st_size
                    path.unlink()
                    gone += 1
        said = [f"{counted(put, 'clip')} that had arrived took its place."] if put else []
        return [*said, *([f"{counted(gone, 'file')} of no clip removed, {megabytes(size)}."] if gone else [])]

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


def _alone(file: IO[bytes]) -> bool:
    """Whether no other process holds the file, and none does until it is closed."""
    try:
        import fcntl
    except ImportError:  # elsewhere an open file cannot be removed anyway
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _orphan(path: Path, named: Collection[str]) -> bool:
    """Whether a file is named as a clip that no line of the log names, and nobody can be about to write that line."""
    stem, _, kind = path.name.partition(".")
    ours = HASH.fullmatch(stem) is not None and kind in get_args(ClipKind)
    return ours and path.name not in named and time.time() - path.stat().st_mtime > ABOUT


def megabytes(size: int) -> str:
    """A size as people read it: ``34.0 MB``, ``100 GB``."""
    return f"{size / 1e9:,.0f} GB" if size >= 1e10 else f"{size / 1e6:,.1f} MB"


@dataclass(frozen=True, slots=True)
class Quota:
    """How many bytes the clips of a study and of each person may take; those of undone results count too."""

    study: int = 100 * 10**9
    person: int = 20 * 10**9

    def left(self, kept: Mapping[str, int], author: str) -> tuple[int, str]:
        """Bytes that somebody may still add, and why no more.

        Args:
            kept: What everybody has added.
            author: Who wants to add more.
        """
        whole, own = self.study - sum(kept.values()), self.person - kept.get(author, 0)
        if whole <= own:
            return whole, f"The clips of a study may hold at most {megabytes(self.study)}, and they do"
        return own, f"The clips of one person may hold at most {megabytes(self.person)}, and those of {author} do"


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
