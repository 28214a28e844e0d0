"""One study, used by many devices through one server.

Requests are carried out one after the other by one thread, so that devices never race each other inside a server. Those
that wait at one moment and only write a line or two share one trip to the store. While other servers write to the same
log, each request makes its own trip: lines held back would often be refused. When the store does not answer, everybody
who waits hears so at once.
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

from surefoot.console.operations import AWAY, Refusal, away
from surefoot.errors import StudyError
from surefoot.study.stores import TimeLimitError
from surefoot.study.stores.shared import SharedStore

TOGETHER = 64
"""Most requests that share one append."""
APART = 60.0
"""Seconds for which every request makes its own trip, after another server was seen to write."""


@dataclass(slots=True)
class _Request:
    """Something asked, and the promise of its answer."""

    question: Callable[[], Any]
    quick: bool
    promise: Future[Any] = field(default_factory=Future)


class Queue:
    """Lets requests through one after the other."""

    def __init__(
        self, store: SharedStore, answer: Callable[[Callable[[], Any]], Any], forget: Callable[[], None]
    ) -> None:
        """Carry out requests by `answer`; call `forget` when lines it had taken in were not kept."""
        self._store, self._answer, self._forget = store, answer, forget
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="surefoot-queue")
        self._waiting: deque[_Request] = deque()
        self._apart_until = 0.0

    async def ask(self, question: Callable[[], Any], *, quick: bool) -> Any:
        """The answer, once everything that it wrote is durable."""
        request = _Request(question, quick)
        self._waiting.append(request)
        self._worker.submit(self._next)  # one for each request: some find that theirs went through with another
        return await asyncio.wrap_future(request.promise)

    def keep_apart(self) -> None:
        """Another server writes too: for a while each request makes its own trip to the store."""
        self._apart_until = time.monotonic() + APART

    def close(self) -> None:
        """Let go of the thread; what it is asked just now has a time limit of its own."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._refuse_all(Refusal(AWAY, "The server is being stopped.", "Send it again.", wait=2))

    def _next(self) -> None:
        """Carry out the request that has waited longest, and with it others that are quick."""
        most = 1 if time.monotonic() < self._apart_until else TOGETHER
        batch: list[_Request] = []
        while self._waiting and len(batch) < most and (not batch or (batch[0].quick and self._waiting[0].quick)):
            request = self._waiting.popleft()
            if request.promise.set_running_or_notify_cancel():
                batch.append(request)
        try:
            left = self._together(batch) if len(batch) > 1 else list(batch)
            while left:
                request = left.pop(0)
                refusal = self._alone(request)
                if refusal is not None and refusal.late:
                    self._refuse_all(refusal, request, *left)
                    left = []
                elif refusal is not None:
                    request.promise.set_exception(refusal)
        finally:
            unheard = [request for request in batch if not request.promise.done()]
            if unheard:  # a fault of ours: whoever waits must hear of it, and what it left is not to be trusted
                self._forget()
            for request in unheard:
                request.promise.set_exception(sys.exc_info()[1])

    def _refuse_all(self, refusal: Refusal, *more: _Request) -> None:
        """Tell everybody who waits now: to ask the store for each in turn would let the last wait for minutes."""
        found = [self._waiting.popleft() for _ in range(len(self._waiting))]
        found = [request for request in found if request.promise.set_running_or_notify_cancel()]
        for request in (*more, *found):
            request.promise.set_exception(refusal.again())

    def _together(self, batch: list[_Request]) -> list[_Request]:
        """Carry out several requests with one append; those that must be carried out alone come back."""
        answers, apart = [], []
        try:
            with self._store.together():
                for request in batch:
                    try:
                        answers.append((request, self._answer(request.question)))
                    except Refusal:  # perhaps only because another server's lines were not looked at
                        apart.append(request)
        except TimeLimitError as error:  # the same again would take as long
            self._forget()
            self._refuse_all(away(error), *batch)
            return []
        except StudyError:  # another server was faster, or the store is away: nothing was kept
            self._forget()
            self.keep_apart()
            return list(batch)
        for request, answer in answers:
            request.promise.set_result(answer)
        return apart

    def _alone(self, request: _Request) -> Refusal | None:
        """Carry out one request; why it was refused, which is not told yet."""
        try:
            answer = self._answer(request.question)
        except Refusal as refusal:
            return refusal
        request.promise.set_result(answer)
        return None
