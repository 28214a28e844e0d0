"""Turns carried out by a Gymnasium environment, and filmed.

What is wrong with the set-up (no such environment, a checkpoint that does not load, no word on success, no picture)
ends the run and records nothing: it is no policy's failure. What goes wrong in a rollout is an outcome, as with every
runner.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import operator
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot import _check
from surefoot.errors import StudyError
from surefoot.runners.gymnasium_workers import METHODS, Acting, Film, Worker
from surefoot.runners.outcomes import Caught, CrashError, Outcome, called
from surefoot.study.plans import Plan
from surefoot.study.protocol import StudyOperations
from surefoot.study.schedules import Turn

NAMES = ("is_success", "success")
"""What environments call success in `info`."""
GRACE = 10.0
"""Seconds that a step may last beyond the time limit before its worker is left behind."""
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Episode:
    """How an episode of a Gymnasium environment went.

    Attributes:
        reward: The sum of its rewards.
        steps: How many steps it had.
        terminated: Whether the environment ended it.
        truncated: Whether it ran out of steps.
        info: What the last step told beside observation and reward.
        reached: Whether `info` told of success after any step, the last or another.
        observation: The last observation.
        seed: The seed it began with.
    """

    reward: float
    steps: int
    terminated: bool
    truncated: bool
    info: Mapping[str, Any] = field(repr=False)
    reached: bool
    observation: Any = field(repr=False)
    seed: int


class GymnasiumRunner:
    """Runs the turns of a study in a Gymnasium environment, and films them if you like.

    Give it to `run_study`, or name it on the command line: ``surefoot study run study.db --runner my_lab:runner``.
    Each worker has its own environment. Needs the `gymnasium` extra.

    Example:
        >>> import surefoot as sf
        >>> policies = {"new": lambda state: int(state[2] + state[3] > 0), "old": lambda state: int(state[2] > 0)}
        >>> runner = sf.GymnasiumRunner("CartPole-v1", policies, success=lambda end: end.truncated, max_steps=200)
        >>> study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=40), ":memory:")
        >>> sf.run_study(study, runner).decision
        'stop: decided'
    """

    def __init__(
        self,
        env: str | Callable[[Turn], Any],
        policies: Mapping[str, Any],
        *,
        load: Callable[[Any], Any] | None = None,
        success: Callable[[Episode], bool] | None = None,
        score: Callable[[Episode], float] | None = None,
        max_steps: int | None = None,
        tasks: Mapping[str, str | Mapping[str, Any]] | None = None,
        settings: Mapping[str, Any] | None = None,
        seed: Callable[[Turn], int] | None = None,
        video: str | Path | None = None,
    ) -> None:
        """Say how a turn is run; nothing is made or loaded before the first.

        Args:
            env: The environment's id, or a function that makes one for a turn. One made by id is kept and reset; one
                made by a function is used once and closed.
            policies: The policy of each name in the study: a function of the observation that gives the action, or an
                object with `predict`, `act` or `select_action`. Its `reset`, if it has one, is called before each
                rollout, with the seed if it takes one. A class is called once by each worker.
            load: Makes a policy of what `policies` holds, such as a checkpoint's path; called once by each worker.
            success: Whether an episode succeeded; left out, `info["is_success"]` or `info["success"]` of its last step.
            score: The score of an episode, in a study of scores; left out, the sum of its rewards.
            max_steps: After so many steps an episode is truncated; the environment's own limit when left out.
            tasks: The environment's id or settings for each task of the study.
            settings: What `gymnasium.make` is given beside the id.
            seed: The seed of a turn; left out, its condition where that is a whole number, and otherwise a fresh one,
                the same for both policies of a pair where the plan has them meet the same environment.
            video: A folder for a clip of every rollout, MP4 or GIF, named by its turn's number.
        """
        given: Any = policies
        if not isinstance(env, str) and not callable(env):
            raise _check.mistyped("env", "be an environment's id or a function of the turn", env)
        if not isinstance(given, Mapping) or not given:
            raise _check.mistyped("policies", "name the policies, such as {'new': act}", given)
        if not isinstance(env, str) and (tasks or settings):
            hint = "A function makes the environment of each turn by itself."
            raise _check.refused(
                "tasks" if tasks else "settings", "be left out with a function", tasks or settings, hint
            )
        for name, policy in policies.items():
            if load is None and not callable(policy) and not any(hasattr(policy, method) for method in METHODS):
                hint = "Give `load=` to make a policy of a checkpoint."
                raise _check.mistyped("policies", f"have a function or a policy for {name!r}", policy, hint)
        self.env, self.policies, self.load = env, dict(policies), load
        self.success, self.score, self.seed = success, score, seed
        self.max_steps = None if max_steps is None else _check.whole(max_steps, "max_steps", least=1)
        self.tasks, self.settings = dict(tasks or {}), dict(settings or {})
        self.video = None if video is None else Path(video)
        self._plan: Plan | None = None
        self._study = ""
        self._own = threading.local()
        self._workers: list[Worker] = []
        self._running: set[int] = set()
        self._lock = threading.Lock()

    def __call__(self, turn: Turn) -> Outcome:
        """Run a turn without a time limit."""
        return self.within(turn, None)

    @contextlib.contextmanager
    def begin(self, study: StudyOperations) -> Iterator[None]:
        """See that all that the study names is there, before its first rollout; close all environments at the end.

        Raises:
            StudyError: Something is missing.
        """
        _gymnasium()
        self._plan, self._study = study.plan, study.status().study
        for name in self._plan.policies:
            self._given(name)
        for task in self._plan.tasks:
            self._made_of(task)
        self._warn_of_repeats(self._plan)
        if self.video is not None:
            try:
                self.video.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StudyError(f"`video` must be a folder that can be written to: {error}.") from None
        try:
            yield
        finally:
            for worker in self._workers:
                worker.close()
            self._workers, self._own = [], threading.local()

    def _warn_of_repeats(self, plan: Plan) -> None:
        """Say that a seed which comes again is no new evidence where nothing is left to chance."""
        seeds = self.seed is None and not plan.items and all(one.isdecimal() for one in plan.conditions)
        contexts = len(plan.contexts)
        if seeds and plan.conditions and plan.environments == "shared" and plan.horizon > contexts:
            LOG.warning(
                "surefoot: the conditions are seeds, and %s pairs share %s environments, so some repeat. If policy and "
                "simulator are deterministic, the same rollout is then counted again, which says nothing about "
                "other environments. Give as many conditions as pairs.",
                plan.horizon,
                contexts,
            )

    def within(self, turn: Turn, limit: float | None) -> Outcome:
        """Run a turn, and give it up after so many seconds.

        Raises:
            CrashError: The environment or the policy failed, or ran out of time.
            StudyError: The environment, the policy or its success is not there; nothing is to be recorded.
        """
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = Worker()
            self._workers.append(worker)
        if limit is None:
            return self._carried_out(worker, turn, None)
        worker.begin(lambda: self._ready(worker, turn)).result()  # to load a checkpoint is no part of a rollout
        answer = worker.begin(lambda: self._carried_out(worker, turn, limit))
        try:
            return answer.result(limit + GRACE)
        except TimeoutError:
            self._own.worker = None  # left behind, with all that it holds
            raise CrashError("time-out", f"not done after {limit:g} s") from None

    def _ready(self, worker: Worker, turn: Turn) -> tuple[Any, Any]:
        """The environment and the policy of a turn, made where they are not there yet."""
        return self._env(worker, turn), self._policy(worker, turn.policy)

    def _carried_out(self, worker: Worker, turn: Turn, limit: float | None) -> Outcome:
        env, policy = self._ready(worker, turn)
        seed, began = self._seed(turn), time.monotonic()
        episode: Episode | None = None
        fps = env.metadata.get("render_fps")
        film = None if self.video is None else Film(fps)
        try:
            with self._alone(turn.policy, policy):
                episode = called(lambda _: self._episode(env, policy, seed, film=film, limit=limit), turn)
        finally:
            if episode is None or not isinstance(self.env, str):
                worker.drop(turn.task)
        # The environment's own time, where it has one: how fast this machine simulates it tells nothing of a policy.
        took = episode.steps / fps if fps else time.monotonic() - began
        success, score = self._result(episode)
        return Outcome(
            success=success,
            score=score,
            failure="time limit" if success is False and episode.truncated else "",
            duration=round(took, 3),
            steps=episode.steps,
            notes="" if turn.condition == str(seed) else f"seed {seed}",
            clip=None if film is None else self._clip(film, turn),
        )

    def _episode(self, env: Any, policy: Any, seed: int, *, film: Film | None, limit: float | None) -> Episode:
        until = None if limit is None else time.monotonic() + limit
        act = Acting(policy, seed)
        observation, info = env.reset(seed=seed)
        reward, steps, reached = 0.0, 0, False
        terminated = truncated = False
        while not (terminated or truncated):
            _filmed(film, env)
            observation, gain, terminated, truncated, info = env.step(act(observation))
            reward, steps = reward + float(gain), steps + 1
            reached = reached or _told(info) is True
            truncated = bool(truncated) or (not terminated and steps == self.max_steps)
            if until is not None and time.monotonic() > until:
                raise CrashError("time-out", f"not done after {limit:g} s, at step {steps}")
        _filmed(film, env, last=True)
        return Episode(reward, steps, bool(terminated), truncated, info, reached, observation, seed)

    def _result(self, episode: Episode) -> tuple[bool | None, float | None]:
        """The success and the score, as far as the study asks for them."""
        plan = self._plan
        if plan is not None and plan.measure == "score":
            with _set_up("`score` cannot be used"):
                return None, plan.value(episode.reward if self.score is None else self.score(episode))
        with _set_up("`success` cannot be used"):
            success = _told(episode.info) if self.success is None else _truth(self.success(episode))
        if success is None and self.success is None:
            known = ", ".join(sorted(map(str, episode.info))) or "nothing"
            raise StudyError(
                f"An environment must report success in `info` as {' or '.join(NAMES)}; got {known}. Give `success=`, "
                "such as success=lambda end: end.reward >= 195. Nothing was recorded."
            )
        if success is None:
            raise StudyError("`success` must give true or false for an episode. Nothing was recorded.")
        return success, None

    def _clip(self, film: Film, turn: Turn) -> str | None:
        """The clip's path; a clip that cannot be written costs no result."""
        try:
            return str(film.write(Path(self.video or ""), turn.number))
        except OSError as error:
            LOG.warning("surefoot: turn %s has no clip: %s", turn.number, error)
            return None

    def _seed(self, turn: Turn) -> int:
        if self.seed is not None:
            with _set_up("`seed` cannot be used"):
                return _check.whole(self.seed(turn), "seed")
        environments = "independent" if self._plan is None else self._plan.environments
        if turn.condition.isdecimal() and environments != "stratified":
            return int(turn.condition)
        if self._plan is not None and self._plan.items:  # an item is the same wherever it is met
            words = ["item", turn.item]
        elif environments == "shared":
            words = [self._study, "pair", str(turn.block)]
        else:
            words = [self._study, "turn", str(turn.number), turn.code]
        return int.from_bytes(hashlib.sha256("\0".join(words).encode()).digest()[:4], "big") >> 1

    def _given(self, name: str) -> Any:
        if name not in self.policies:
            raise StudyError(f"`policies` must have every policy of the study; {name!r} is not among them.")
        return self.policies[name]

    def _policy(self, worker: Worker, name: str) -> Any:
        given = self._given(name)
        load = self.load or (operator.call if isinstance(given, type) else None)
        if load is None:
            return given
        if name not in worker.policies:
            with _set_up(f"Policy {name!r} cannot be loaded"):
                worker.policies[name] = load(given)
        return worker.policies[name]

    @contextlib.contextmanager
    def _alone(self, name: str, policy: Any) -> Iterator[None]:
        """Refuse to run a policy that keeps something between steps in two rollouts at the same moment."""
        if not hasattr(policy, "reset"):
            yield
            return
        with self._lock:
            if id(policy) in self._running:
                raise StudyError(
                    f"Policy {name!r} has a `reset`, and two rollouts at the same moment would share it. Give its "
                    "class, or `load=`, so that each worker has its own. Nothing was recorded."
                )
            self._running.add(id(policy))
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(id(policy))

    def _made_of(self, task: str) -> tuple[str, dict[str, Any]]:
        """The id and the settings of a task's environment."""
        env = str(self.env)
        if not task or not isinstance(self.env, str):
            return env, self.settings
        if task not in self.tasks:
            raise StudyError(f"`tasks` must name an environment for each task of the study; it lacks {task!r}.")
        found = self.tasks[task]
        return (found, self.settings) if isinstance(found, str) else (env, {**self.settings, **found})

    def _env(self, worker: Worker, turn: Turn) -> Any:
        if turn.task in worker.envs:
            return worker.envs[turn.task]
        with _set_up("The environment cannot be made"):
            if not isinstance(self.env, str):
                made = self.env(turn)
            else:
                name, settings = self._made_of(turn.task)
                filmed = {} if self.video is None else {"render_mode": "rgb_array"}
                longest = {} if self.max_steps is None else {"max_episode_steps": self.max_steps}
                made = _gymnasium().make(name, **{**filmed, **longest, **settings})
        worker.envs[turn.task] = made
        return made


def _told(info: Mapping[str, Any]) -> bool | None:
    """What `info` tells of success; None where it tells nothing."""
    return next((_truth(info[name]) for name in NAMES if name in info), None)


def _truth(value: Any) -> bool | None:
    with contextlib.suppress(AttributeError, TypeError, ValueError, RuntimeError):
        value = value.item()  # an array or a tensor of one
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _filmed(film: Film | None, env: Any, *, last: bool = False) -> None:
    if film is not None:
        with _set_up("The rollout cannot be filmed"):
            film.add(env.render, last=last)


@contextlib.contextmanager
def _set_up(what: str) -> Iterator[None]:
    """Whatever goes wrong here is no policy's failure: the run ends, and the turn is handed back."""
    caught = Caught()
    with caught:
        yield
    error = caught.error
    if error is not None:
        kind = "" if isinstance(error, StudyError) else type(error).__name__
        told = ": ".join(part for part in (what, kind, str(error).removesuffix(".")) if part)
        raise StudyError(f"{told}. Nothing was recorded.") from error


def _gymnasium() -> Any:
    try:
        import gymnasium
    except ImportError:
        raise StudyError(
            "A Gymnasium environment needs the `gymnasium` extra: in a clone of surefoot, pip install '.[gymnasium]'."
        ) from None
    return gymnasium
