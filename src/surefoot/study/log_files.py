"""Logs as text, and back.

An export is for everybody once the study is not blinded. A backup may be made at any moment: it is sealed, so that it
tells nothing but the log's length and head to whoever lacks its key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.events import Line, broken, seeded
from surefoot.study.plans import canonical
from surefoot.study.state import folded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    from surefoot.study.status import Status

END = "end"
BACKUP = "surefoot backup"
NOTHING = "Nothing was restored."
NONCE = bytes(12)
"""The same for all: the salt makes a key that is used once."""
STEP = 512
MARK = re.compile(r"surefoot-log:([0-9a-f]{16}):([1-9]\d{0,9}):([0-9a-f]{16,64})(?![0-9a-f])")
SHORT = 16
"""Characters of a hash, at least, that with a line's number name what the log was: fewer can be forged."""
EXPORTED = re.compile(r'"hash":"([0-9a-f]{64})","kind":"[a-z]+","number":([1-9]\d{0,9})[,}]')
HEAD = re.compile(rf"([1-9]\d{{0,9}}):([0-9a-f]{{{SHORT},64}})|([0-9a-f]{{64}})")
"""What is written down by hand: a line's number and its hash, or a whole hash."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody else knows of a log: the hash of its line number `lines`, and so of all before it.

    Of the hash at least 16 characters. An empty `study` is any; `lines` of 0 is some line of that whole hash.
    """

    study: str
    lines: int
    head: str

    def __str__(self) -> str:
        return f"surefoot-log:{self.study}:{self.lines}:{self.head}"

    @classmethod
    def written(cls, text: str) -> Mark:
        """What somebody wrote down: ``12:9f2c51d0a7b3e466``, a whole hash, or a whole mark."""
        found, given = marks(text), HEAD.fullmatch(text.strip().lower())
        if found or given is None:
            if len(found) == 1:
                return found[0]
            raise _check.refused(
                "head",
                f"be a line's number and at least {SHORT} characters of its hash, such as 12:9f2c51d0a7b3e466",
                text,
            )
        return cls("", int(given[1] or 0), given[2] or given[3])


def marks(text: str) -> tuple[Mark, ...]:
    """Every mark of a log in a text: a report, an anchor, a message, what a robot keeps; of an export, every line."""
    found = [Mark(study, int(lines), head) for study, lines, head in MARK.findall(text)]
    if found:
        found[:0] = [Mark(found[-1].study, int(lines), head) for head, lines in EXPORTED.findall(text)]
    return tuple(dict.fromkeys(found))


def mark_of(lines: list[Line]) -> Mark:
    """The mark of a whole log."""
    return Mark(str(lines[0].event.body.get("seed_hash", ""))[:16], lines[-1].number, lines[-1].hash)


def anchor_of(status: Status, fingerprint: str) -> str:
    """What proves a study later, for a lab book, a message or a git commit; it gives no policy away."""
    rows = {
        "surefoot study": status.title,
        "plan": fingerprint,
        "decision": status.decision,
        "verdict": "blinded" if status.verdict is None else status.verdict.value,
        "rollouts": f"{status.recorded}, exploratory" if status.exploratory else str(status.recorded),
        "log": str(Mark(status.study, status.version, status.head)),
    }
    return "".join(f"{name}: {' '.join(value.split())}\n" for name, value in rows.items())


def written(lines: list[Line]) -> str:
    """The lines as JSON lines, hashes included, with the seed beside the first; the last tells count and head."""
    rows = [line.to_dict() for line in lines]
    rows[0]["seed"] = None if lines[0].private is None else lines[0].private.reveal()
    end = {"kind": END, "lines": len(lines), "head": lines[-1].hash, "mark": str(mark_of(lines))}
    return "".join(canonical(row) + "\n" for row in (*rows, end))


def parsed(text: str, key: Secret | None = None) -> list[Line]:
    """The lines of an exported log or of a backup, verified."""
    rows = list(_rows(text))
    if rows and rows[0].get("kind") == BACKUP:
        rows = list(_rows(_unsealed(rows, key)))
    end = rows.pop() if rows and rows[-1].get("kind") == END else None
    lines = [Line.from_dict(row) for row in rows]
    fault = broken(lines) if lines else "it is empty"
    if fault is None and end is None and lines[0].event.schema > 1:
        fault = "its end is missing, so lines were cut off"
    if fault is None and end is not None and (end.get("lines"), end.get("head")) != (len(lines), lines[-1].hash):
        fault = f"its end tells of {end.get('lines')} lines and another head"
    if fault:
        raise StudyError(f"The exported log does not verify: {fault}. {NOTHING}")
    lines = seeded(lines)
    folded(lines)
    return lines


def _rows(text: str) -> Iterable[dict[str, Any]]:
    for place, row in enumerate(filter(None, text.split("\n")), 1):
        try:
            data = json.loads(row)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"Line {place} of the exported log is not JSON: {error}. {NOTHING}") from None
        if not isinstance(data, dict):
            raise StudyError(f"Line {place} of the exported log is not an event. {NOTHING}")
        yield data


# Sealing: ChaCha20-Poly1305 of `cryptography`, with a key that scrypt makes of the user's key and a fresh salt.


def sealed(lines: list[Line], key: Secret) -> str:
    """The log as a backup that only the key opens.

    Blank lines fill it up to a multiple of 512 bytes for each line of the log: its size tells their number, which it
    says anyway, and not how many of them are failures, whose word is one letter longer.

    Raises:
        StudyError: `cryptography` is not installed.
    """
    salt = secrets.token_bytes(16)
    head = {"kind": BACKUP, "schema": 2, "salt": salt.hex(), "lines": len(lines), "mark": str(mark_of(lines))}
    text = written(lines).encode()
    text += b"\n" * (-len(text) % (STEP * len(lines)))
    hidden = _cipher(key, salt).encrypt(NONCE, text, canonical(head).encode())
    return f"{canonical(head)}\n{canonical({'log': base64.b64encode(hidden).decode()})}\n"


def _cipher(key: Secret, salt: bytes) -> ChaCha20Poly1305:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    except ImportError:
        raise StudyError(
            "A sealed backup needs the `seal` extra: in a clone of surefoot, pip install '.[seal]'."
        ) from None
    return ChaCha20Poly1305(_derived(key, salt, 32))


def _derived(key: Secret, salt: bytes, size: int) -> bytes:
    return hashlib.scrypt(key.reveal().encode(), salt=salt, n=2**14, r=8, p=1, dklen=size, maxmem=64 * 1024 * 1024)


def _unsealed(rows: list[dict[str, Any]], key: Secret | None) -> str:
    if key is None:
        raise StudyError(f"The backup is sealed: give its key with `--key`. {NOTHING}")
    if len(rows) != 2:
        raise StudyError(f"The backup was cut off. {NOTHING}")
    head, body = rows
    if head.get("schema") not in (1, 2):
        raise StudyError(f"The backup was made by a newer surefoot: schema {head.get('schema')!r}. {NOTHING}")
    try:
        salt, hidden = bytes.fromhex(head["salt"]), base64.b64decode(body["log"], validate=True)
        text = _opened_0_2(head, body, hidden, key, salt) if head["schema"] == 1 else _opened(head, hidden, key, salt)
    except (KeyError, TypeError, ValueError) as error:
        raise StudyError(f"The backup cannot be read: {error}. {NOTHING}") from None
    if text is None:
        raise StudyError(
            f"The backup cannot be opened: the key belongs to another backup, or the backup was changed. {NOTHING}"
        )
    return text.decode()


def _opened(head: dict[str, Any], hidden: bytes, key: Secret, salt: bytes) -> bytes | None:
    cipher = _cipher(key, salt)
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(NONCE, hidden, canonical(head).encode())
    except InvalidTag:
        return None


def _opened_0_2(head: dict[str, Any], body: dict[str, Any], hidden: bytes, key: Secret, salt: bytes) -> bytes | None:
    """What a backup of 0.2 holds (keyed BLAKE2b in counter mode, HMAC-SHA256). Only read, and in 0.3 only."""
    both = _derived(key, salt, 96)
    proof = hmac.new(both[64:], canonical(head).encode() + b"\n" + hidden, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(proof.encode(), str(body["proof"]).encode()):
        return None
    blocks = (hashlib.blake2b(at.to_bytes(8, "big"), key=both[:64]).digest() for at in range(-(-len(hidden) // 64)))
    return bytes(one ^ other for one, other in zip(hidden, b"".join(blocks), strict=False))
