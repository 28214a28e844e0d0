"""Workers of the Gymnasium runner: environments and policies, kept from turn to turn."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import queue
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from surefoot._files import write_whole
from surefoot.errors import StudyError
from surefoot.runners.outcomes import Caught, settled

FRAMES, EDGE, SMOOTH = 240, 480, 25
"""The most frames of a clip, the most pixels of its longer edge, and the most frames a second."""
USUAL_FPS = 30.0
BLINK = 20
"""Milliseconds: a browser shows a GIF's frame for no shorter time."""


class Film:
    """The frames of one rollout: as many as are smooth at first, half of them when they become too many, and so on."""

    def __init__(self, fps: float | None = None) -> None:
        """Begin; `fps` is how many frames a second of the rollout has."""
        self.fps = float(fps or USUAL_FPS)
        self.every, self.seen = math.ceil(self.fps / SMOOTH), 0
        self.frames: list[Any] = []

    def add(self, render: Callable[[], Any], *, last: bool = False) -> None:
        """Take the next frame, if it is one to keep; what is not kept is not rendered. The last is always kept."""
        if last or self.seen % self.every == 0:
            self.frames.append(_picture(render()))
            if len(self.frames) > FRAMES and not last:
                self.frames = self.frames[::2]
                self.every *= 2
        self.seen += 1

    def write(self, folder: Path, number: int) -> Path:
        """Write the clip of a turn, named by its number alone; what is there stays.

        Raises:
            OSError: It cannot be written; then nothing is.
        """
        ending, encoded = ("mp4", _mp4) if find_spec("imageio_ffmpeg") is not None else ("gif", _gif)
        names = (f"turn-{number}{'' if take == 1 else f'-{take}'}.{ending}" for take in count(1))
        path = next(folder / name for name in names if not (folder / name).exists())
        return write_whole(path, encoded(self.frames, self.fps / self.every))


def _picture(frame: Any) -> Any:
    """A frame as a small picture, with edges that every codec takes."""
    from PIL import Image

    shape: tuple[int, ...] = getattr(frame, "shape", ())
    if len(shape) != 3 or shape[2] != 3 or min(shape) < 2 or getattr(frame, "dtype", "") != "uint8":
        told = f"{frame.dtype} {'×'.join(map(str, shape))}" if shape else type(frame).__name__
        raise StudyError(
            f"A video needs the environment's `render()` to give an RGB array; got {told}. Make the environment with "
            "render_mode='rgb_array', or leave `video` out."
        )
    picture = Image.fromarray(frame)
    scale = min(1.0, EDGE / max(picture.size))
    wide, high = (max(2, int(edge * scale) // 2 * 2) for edge in picture.size)
    return picture if (wide, high) == picture.size else picture.resize((wide, high), Image.Resampling.BILINEAR)


def _mp4(frames: list[Any], fps: float) -> bytes:
    import imageio_ffmpeg

    with tempfile.TemporaryDirectory(prefix="surefoot-clip-") as place:
        path = Path(place) / "clip.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(path), frames[0].size, fps=fps, macro_block_size=2, output_params=["-movflags", "+faststart"]
        )
        writer.send(None)
        for frame in frames:
            writer.send(frame.tobytes())
        writer.close()
        return path.read_bytes()


def _gif(frames: list[Any], fps: float) -> bytes:
    file, shown = io.BytesIO(), max(BLINK, round(1000 / fps))
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0)
    return file.getvalue()


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
