"""`surefoot` as a process that is started a thousand times: forked from one that has imported all that it needs.

Importing this module imports it all; so import it where processes are begun, and not before.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg
import uvicorn

import surefoot.cli.study
import surefoot.console.app
import surefoot.console.pages
from surefoot.cli.main import run
from surefoot.study.plans import Plan
from surefoot.study.studies import Study

NEEDED = (psycopg, uvicorn, surefoot.console.app, surefoot.console.pages, surefoot.cli.study)
NURSERY = multiprocessing.get_context("forkserver")
NURSERY.set_forkserver_preload(["tests.support.programs"])

_rehearsal = Study.create(Plan(policies=("new", "old"), rule="mixture", horizon=20), ":memory:")
for _ in range(4):  # some modules are imported only when a study is asked something
    _rehearsal.record(_rehearsal.next_turn(), True)


def program(words: list[str], said: str) -> None:
    with Path(said).open("a") as errors, Path(os.devnull).open("w") as nowhere:
        os.dup2(errors.fileno(), 2)
        with contextlib.redirect_stdout(nowhere):
            sys.exit(run(words))


def forked(words: list[str], said: Path) -> BaseProcess:
    """The program with these words, begun; what it says on standard error is added to a file."""
    process = NURSERY.Process(target=program, args=(words, str(said)), daemon=True)
    process.start()
    return process
