"""Short videos of rollouts: MP4 where ffmpeg is there, GIF otherwise.

A clip is for looking at, so it is bounded: at most 240 frames of at most 480 pixels, and at most 25 a second, whatever
the rollout's length. It plays at the rollout's own speed, and it is written whole or not at all.
"""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from surefoot._files import write_whole
from surefoot.errors import StudyError

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
    """A frame as a small picture, with edges that every codec takes.

    Raises:
        StudyError: It is not a picture.
    """
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
