"""How does a log leave a store as text, and come back?

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

from surefoot._secret import Secret
from surefoot.errors import StudyError
from surefoot.study.events import Line, broken, seeded
from surefoot.study.plans import canonical
from surefoot.study.state import folded

if TYPE_CHECKING:
    from surefoot.study.status import Status

END = "end"
BACKUP = "surefoot backup"
NOTHING = "Nothing was restored."
MARK = re.compile(r"surefoot-log:([0-9a-f]{16}):([1-9]\d{0,9}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody else knows of a log: the hash of its line number `lines`, and so of all before it."""

    study: str
    lines: int
    head: str

    def __str__(self) -> str:
        return f"surefoot-log:{self.study}:{self.lines}:{self.head}"


def marks(text: str) -> tuple[Mark, ...]:
    """Every mark of a log in a text: a report, an anchor, an export, a message."""
    return tuple(dict.fromkeys(Mark(study, int(lines), head) for study, lines, head in MARK.findall(text)))


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
    """The lines of an exported log or of a backup, verified.

    Raises:
        StudyError: The text is no log, its chain does not hold, or it was cut off.
    """
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


# Sealing: encrypted with a keyed BLAKE2b in counter mode, then authenticated with HMAC-SHA256; keys by scrypt.


def sealed(lines: list[Line], key: Secret) -> str:
    """The log as a backup that only the key opens."""
    salt = secrets.token_bytes(16)
    head = {"kind": BACKUP, "schema": 1, "salt": salt.hex(), "lines": len(lines), "mark": str(mark_of(lines))}
    hiding, proving = _keys(key, salt)
    hidden = _hidden(written(lines).encode(), hiding)
    proof = hmac.new(proving, canonical(head).encode() + b"\n" + hidden, hashlib.sha256).hexdigest()
    body = {"proof": proof, "log": base64.b64encode(hidden).decode()}
    return f"{canonical(head)}\n{canonical(body)}\n"


def _unsealed(rows: list[dict[str, Any]], key: Secret | None) -> str:
    if key is None:
        raise StudyError(f"The backup is sealed: give its key with `--key`. {NOTHING}")
    if len(rows) != 2:
        raise StudyError(f"The backup was cut off. {NOTHING}")
    head, body = rows
    try:
        hiding, proving = _keys(key, bytes.fromhex(head["salt"]))
        hidden = base64.b64decode(body["log"], validate=True)
        proof = hmac.new(proving, canonical(head).encode() + b"\n" + hidden, hashlib.sha256).hexdigest()
        good = hmac.compare_digest(proof.encode(), str(body["proof"]).encode())
    except (KeyError, TypeError, ValueError) as error:
        raise StudyError(f"The backup cannot be read: {error}. {NOTHING}") from None
    if not good:
        raise StudyError(
            f"The backup cannot be opened: the key belongs to another backup, or the backup was changed. {NOTHING}"
        )
    return _hidden(hidden, hiding).decode()


def _keys(key: Secret, salt: bytes) -> tuple[bytes, bytes]:
    both = hashlib.scrypt(key.reveal().encode(), salt=salt, n=2**14, r=8, p=1, dklen=96, maxmem=64 * 1024 * 1024)
    return both[:64], both[64:]


def _hidden(text: bytes, key: bytes) -> bytes:
    """The text under the key's stream; the same again gives the text."""
    blocks = range(-(-len(text) // 64))
    stream = b"".join(hashlib.blake2b(place.to_bytes(8, "big"), key=key).digest() for place in blocks)[: len(text)]
    size = len(text)
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(size, "big")
