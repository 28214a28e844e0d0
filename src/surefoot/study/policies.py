"""Which policy is meant: its checkpoint, the hash of it, how it is served and where it may run."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from surefoot import _check
from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.study.plan_parts import names, text

_PLAIN = (str, int, float, bool)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """What is known of one policy beyond its name.

    Attributes:
        name: Its name.
        checkpoint: What is served: a file, a folder, a URL, a commit or a model's name.
        sha256: The hash of the checkpoint; computed when the study begins, where it is a file or a folder.
        serving: How it is served, such as {temperature = 0.0, action_horizon = 16}.
        rigs: The rigs on which it may run; left out, all.
        checkpoint_may_change: Whether another checkpoint under this name is still this policy. If not, one that is
            changed after the first result makes the verdict exploratory.
    """

    _schema: ClassVar[int] = 1  # part of a plan's fingerprint
    name: str
    checkpoint: str = ""
    sha256: str = ""
    serving: Mapping[str, Any] = field(default_factory=dict, hash=False)
    rigs: tuple[str, ...] = ()
    checkpoint_may_change: bool = False

    def __post_init__(self) -> None:
        for name in ("name", "checkpoint", "sha256"):
            text(getattr(self, name), name)
        if self.sha256 and not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise _check.refused("sha256", "be 64 hexadecimal digits, or left out", self.sha256)
        object.__setattr__(self, "rigs", names(self.rigs, "rigs"))
        if not isinstance(self.checkpoint_may_change, bool):
            raise _check.mistyped("checkpoint_may_change", "be true or false", self.checkpoint_may_change)
        _check.instance(self.serving, "serving", Mapping)  # type: ignore[type-abstract]
        kept = {text(key, "serving"): _served(value) for key, value in self.serving.items()}
        object.__setattr__(self, "serving", kept)

    def hashed(self, root: Path = Path()) -> Policy:
        """The policy with the hash of its checkpoint, where that is a file or a folder.

        Args:
            root: The folder that a relative path begins at.

        Raises:
            StudyError: The checkpoint cannot be hashed, or is not the one whose hash the plan names.
        """
        where = _place(self, root)
        if where is None:
            return self
        found = checkpoint_hash(where)
        if self.sha256 and self.sha256 != found:
            raise StudyError(
                f"The checkpoint of {self.name} is not the one that the plan names: {where} has SHA-256 "
                f"{found[:16]}, and the plan says {self.sha256[:16]}."
            )
        return replace(self, sha256=found)


def _served(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_served(one) for one in value]
    if not isinstance(value, _PLAIN):
        raise _check.mistyped("serving", "hold texts, numbers, true or false, or lists of them", value)
    return value


def _place(policy: Policy, root: Path) -> Path | None:
    """Where the checkpoint lies here; none for a URL, a commit, or the name of a model kept elsewhere.

    Raises:
        StudyError: It is written as a path, and nothing lies there.
    """
    said = policy.checkpoint
    if not said or "://" in said or _COMMIT.fullmatch(said):
        return None
    where = root / Path(said).expanduser()
    if where.exists():
        return where
    written_as_path = said.startswith((".", "/", "~")) or Path(said).suffix in _SUFFIXES or where.is_symlink()
    if written_as_path:
        hint = "Mend the path, or write a URL or a commit, which is kept as it is said."
        raise StudyError(f"The checkpoint of {policy.name} cannot be hashed: there is no {where}. {hint}")
    return None


_SUFFIXES = frozenset({".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".onnx", ".npz", ".pkl", ".gguf", ".zip"})


def checkpoint_hash(where: Path) -> str:
    """The SHA-256 of a file; of a folder, of the names and hashes of all files in it, in the order of their names.

    Raises:
        StudyError: There is nothing in it, or it cannot be read.
    """
    try:
        if where.is_file():
            return _file_hash(where)
        digest = hashlib.sha256()
        files = sorted(_files(where), key=lambda one: one.relative_to(where).as_posix())
        for one in files:
            digest.update(f"{one.relative_to(where).as_posix()}\n{_file_hash(one)}\n".encode())
    except (OSError, UnicodeEncodeError) as error:
        raise StudyError(f"The checkpoint {where} cannot be hashed: {error}.") from None
    if not files:
        raise StudyError(f"The checkpoint {where} cannot be hashed: it is neither a file nor a folder with files.")
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise error

    walked: Sequence[tuple[str, list[str], list[str]]] = list(os.walk(folder, onerror=refuse))
    return [Path(place) / name for place, _, inside in walked for name in inside]


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
