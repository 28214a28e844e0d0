"""How do many devices use one study at once, in one server?

Requests are carried out one after the other by one thread, so that devices never race each other inside a server. Those
that wait at one moment and only write a line or two share one trip to the store. While other servers write to the same
log, each request makes its own trip: lines held back would often be refused.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from surefoot.console.gathering import Gathering
from surefoot.console.refusals import Refusal
from surefoot.errors import StudyError

TOGETHER = 64
"""Most requests that share one append."""
APART = 60.0
"""Seconds for which every request makes its own trip, after another server was seen to write."""


@dataclass(slots=True)
class _Request:
    """Something asked, and the promise of its answer."""

    question: Callable[..., Any]
    more: tuple[Any, ...]
    quick: bool
    promise: Future[Any] = field(default_factory=Future)


class Turnstile:
    """Lets requests through one after the other."""

    def __init__(self, store: Gathering, answer: Callable[..., Any], forget: Callable[[], None]) -> None:
        """Carry out requests by `answer`; call `forget` when lines it had taken in were not kept."""
        self._store, self._answer, self._forget = store, answer, forget
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="surefoot-desk")
        self._waiting: deque[_Request] = deque()
        self._apart_until = 0.0

    async def ask(self, question: Callable[..., Any], more: tuple[Any, ...], *, quick: bool) -> Any:
        """The answer, once everything that it wrote is durable."""
        request = _Request(question, more, quick)
        self._waiting.append(request)
        self._worker.submit(self._next)  # one for each request: some find that theirs went through with another
        return await asyncio.wrap_future(request.promise)

    def keep_apart(self) -> None:
        """Another server writes too: for a while each request makes its own trip to the store."""
        self._apart_until = time.monotonic() + APART

    def close(self) -> None:
        """Let go of the thread."""
        self._worker.shutdown(wait=True)

    def _next(self) -> None:
        """Carry out the request that has waited longest, and with it others that are quick."""
        most = 1 if time.monotonic() < self._apart_until else TOGETHER
        batch: list[_Request] = []
        while self._waiting and len(batch) < most and (not batch or (batch[0].quick and self._waiting[0].quick)):
            request = self._waiting.popleft()
            if request.promise.set_running_or_notify_cancel():
                batch.append(request)
        try:
            for request in self._together(batch) if len(batch) > 1 else batch:
                self._alone(request)
        finally:
            unheard = [request for request in batch if not request.promise.done()]
            if unheard:  # a fault of ours: whoever waits must hear of it, and what it left is not to be trusted
                self._forget()
            for request in unheard:
                request.promise.set_exception(sys.exc_info()[1])

    def _together(self, batch: list[_Request]) -> list[_Request]:
        """Carry out several requests with one append; those that must be carried out alone come back."""
        answers, apart = [], []
        try:
            with self._store.together():
                for request in batch:
                    try:
                        answers.append((request, self._answer(request.question, *request.more)))
                    except Refusal:  # perhaps only because another server's lines were not looked at
                        apart.append(request)
        except StudyError:  # another server was faster, or the store is away: nothing was kept
            self._forget()
            self.keep_apart()
            return batch
        for request, answer in answers:
            request.promise.set_result(answer)
        return apart

    def _alone(self, request: _Request) -> None:
        try:
            answer = self._answer(request.question, *request.more)
        except Refusal as refusal:
            request.promise.set_exception(refusal)
        else:
            request.promise.set_result(answer)
