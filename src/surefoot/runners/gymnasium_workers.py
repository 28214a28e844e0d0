"""Workers of the Gymnasium runner: environments and policies, kept from turn to turn."""

from __future__ import annotations

import contextlib
import inspect
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NoReturn, TypeVar

from surefoot.runners.outcomes import Caught, settled

METHODS = ("predict", "act", "select_action")
"""What a policy's action is asked by, in this order; otherwise it is called."""
T = TypeVar("T")


class Worker:
    """What a worker keeps from turn to turn: its environments and the policies that it has loaded.

    All of them are used in one thread: what draws pictures often works in no other.
    """

    def __init__(self) -> None:
        """Nothing is made yet."""
        self.envs: dict[str, Any] = {}
        self.policies: dict[str, Any] = {}
        self._asked: queue.SimpleQueue[Callable[[], None]] | None = None

    def begin(self, job: Callable[[], T]) -> Future[T]:
        """Begin a job in this worker's own thread, which may be left behind."""
        if self._asked is None:
            self._asked = queue.SimpleQueue()
            threading.Thread(target=_at_work, args=(self._asked,), daemon=True, name="surefoot-gymnasium").start()
        answer: Future[T] = Future()
        self._asked.put(partial(settled, answer, job))
        return answer

    def drop(self, task: str) -> None:
        """Close an environment that is not to be used again."""
        env = self.envs.pop(task, None)
        if env is not None:
            with Caught():  # it has crashed, perhaps
                env.close()

    def close(self) -> None:
        """Close all environments, in the thread that made them."""
        if self._asked is None:
            self._close()
        else:
            self._asked.put(self._close)
            self._asked.put(_over)

    def _close(self) -> None:
        for task in list(self.envs):
            self.drop(task)


def _over() -> NoReturn:
    raise SystemExit


def _at_work(asked: queue.SimpleQueue[Callable[[], None]]) -> None:
    with contextlib.suppress(SystemExit):
        while True:
            asked.get()()


class Acting:
    """A policy in one rollout, whatever it is asked by."""

    def __init__(self, policy: Any, seed: int) -> None:
        """Begin; a policy that can be reset is reset, with the seed if it takes one."""
        found = [getattr(policy, name) for name in METHODS if callable(getattr(policy, name, None))]
        self.ask = found[0] if found else policy
        self.state: Any = None
        self.predicts = callable(getattr(policy, "predict", None))
        reset = getattr(policy, "reset", None)
        if callable(reset):
            reset(seed) if _takes_one(reset) else reset()

    def __call__(self, observation: Any) -> Any:
        """The action, where this is what the policy sees."""
        action = self.ask(observation) if self.state is None else self.ask(observation, state=self.state)
        if self.predicts and isinstance(action, tuple) and len(action) == 2:  # as Stable-Baselines3 has it
            action, self.state = action
        return action


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
