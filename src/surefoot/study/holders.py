"""Who holds a turn when no name was given, and is that somebody still there?

Two programs must never hold the same turn; and a program that crashed must get its turn back at once when it is started
again. So whoever gives no name is named by machine and process, and a lease of a process that has ended is no lease.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

PREFIX = "unnamed@"
_serials = itertools.count(1)
_living: WeakValueDictionary[int, Unnamed] = WeakValueDictionary()


class Unnamed:
    """A holder without a name of its own, for as long as it exists."""

    __slots__ = ("__weakref__", "serial")

    def __init__(self) -> None:
        self.serial = next(_serials)
        _living[self.serial] = self

    @property
    def name(self) -> str:
        """Its machine, process and number."""
        return f"{PREFIX}{_machine()}/{os.getpid()}/{self.serial}"


def known_as(name: str) -> str:
    """A holder's name as people know it: without the device that makes a browser's name unique."""
    return re.sub(r" \([0-9a-f]{8}\)$", "", name)


def gone(name: str) -> bool:
    """Whether a holder without a name of its own has certainly ended; never of a named one or on another machine."""
    machine, _, rest = name.removeprefix(PREFIX).partition("/")
    process, _, serial = rest.partition("/")
    if not name.startswith(PREFIX) or machine != _machine() or not (process.isdecimal() and serial.isdecimal()):
        return False
    if int(process) == os.getpid():
        return int(serial) not in _living
    if os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)  # sends nothing: asks whether it is there
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # somebody else's process, or a number that none can have
        return False
    return False


@cache
def _machine() -> str:
    space = Path("/proc/self/ns/pid")  # in a container, process numbers are its own
    try:
        inside = f".{space.readlink().name.strip('pid:[]')}"
    except OSError:
        inside = ""
    return f"{socket.gethostname().replace('/', '-')}{inside}"
