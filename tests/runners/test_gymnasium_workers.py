"""What a worker keeps, in which thread, and how it asks a policy."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest

from surefoot.errors import StudyError
from surefoot.runners import gymnasium_workers
from surefoot.runners.gymnasium_workers import Acting, Film, Worker


class Env:
    def __init__(self, breaks=False):
        self.breaks, self.closed_in = breaks, []

    def close(self):
        self.closed_in.append(threading.current_thread().name)
        if self.breaks:
            raise RuntimeError("no context")


def test_all_jobs_run_in_one_thread_and_it_closes_what_was_made_there():
    worker, env = Worker(), Env()
    first, second = (worker.begin(threading.current_thread).result(5) for _ in range(2))
    assert first is second is not threading.current_thread()
    worker.envs["lift"] = env
    worker.close()
    first.join(5)
    assert not first.is_alive()
    assert (env.closed_in, worker.envs) == ([first.name], {})


def test_without_a_thread_of_its_own_it_closes_here():
    worker, env = Worker(), Env(breaks=True)
    worker.envs[""] = env
    worker.close()
    assert env.closed_in == [threading.current_thread().name]


def test_what_a_job_raises_comes_back_and_the_next_one_runs():
    worker = Worker()

    def breaks():
        raise KeyError("goal")

    with pytest.raises(KeyError, match="goal"):
        worker.begin(breaks).result(5)
    assert worker.begin(lambda: 3).result(5) == 3
    worker.close()


def test_dropping_what_is_not_there_is_nothing():
    Worker().drop("lift")


def test_a_policy_is_asked_by_what_it_has():
    class Policy:
        def act(self, observation):
            return "act", observation

        def __call__(self, observation):
            return "call", observation

    assert Acting(Policy(), 1)(7) == ("act", 7)
    assert Acting(lambda observation: observation + 1, 1)(7) == 8
    assert Acting(dict, 1)([(1, 2)]) == {1: 2}


def test_only_what_predicts_gives_its_state_back():
    class Predicts:
        def predict(self, observation):
            return [observation, 1]

    class Acts:
        def act(self, observation):
            return (0.5, 0.25)

    assert Acting(Predicts(), 1)(7) == [7, 1]
    acting = Acting(Acts(), 1)
    assert acting(7) == acting(8) == (0.5, 0.25)


def test_a_reset_gets_the_seed_if_it_takes_one():
    told = []

    class Plain:
        def reset(self):
            told.append(())

    class Seeded:
        def reset(self, seed):
            told.append(seed)

    class Unsigned:
        reset = dict  # a built-in without a signature

    for policy in (Plain(), Seeded(), Unsigned()):
        Acting(policy, 5)
    assert told == [(), 5]


PIL = pytest.importorskip("PIL.Image")


def frame(number, wide=64, high=48):
    picture = np.zeros((high, wide, 3), np.uint8)
    picture[:, : 1 + number % wide] = 255
    return picture


def filmed(steps, *, wide=64, high=48, fps=20):
    film, rendered = Film(fps), []
    for number in range(steps):
        film.add(lambda number=number: (rendered.append(number), frame(number, wide, high))[1])
    film.add(lambda: frame(steps, wide, high), last=True)
    return film, rendered


@pytest.fixture
def without_ffmpeg(monkeypatch):
    monkeypatch.setattr(gymnasium_workers, "find_spec", lambda _: None)


def test_a_short_rollout_keeps_every_frame(tmp_path, without_ffmpeg):
    film, rendered = filmed(9)
    path = film.write(tmp_path, 7)
    assert path.name == "turn-7.gif"
    with PIL.open(path) as clip:
        assert (clip.size, clip.n_frames, clip.info["duration"]) == ((64, 48), 10, 50)
    assert rendered == list(range(9))


def test_a_long_one_keeps_few_and_its_speed():
    film, rendered = filmed(5000)
    assert gymnasium_workers.FRAMES / 2 <= len(film.frames) <= gymnasium_workers.FRAMES + 1
    assert film.every == 32  # twenty a second have become one in 1.6 s
    assert len(rendered) < 1000  # what is not kept is not rendered
    shown = len(film.frames) / (film.fps / film.every)
    assert shown == pytest.approx(5000 / 20, rel=0.02)


@pytest.mark.parametrize(("fps", "every"), [(20, 1), (25, 1), (30, 2), (50, 2), (500, 20)])
def test_no_more_frames_than_are_smooth(fps, every):
    film, rendered = filmed(40, fps=fps)
    assert (film.every, len(rendered)) == (every, -(-40 // every))
    assert len(film.frames) == len(rendered) + 1


def test_large_frames_are_made_small_with_even_edges():
    film, _ = filmed(1, wide=1281, high=721)
    assert film.frames[0].size == (480, 270)
    assert filmed(1, wide=65, high=49)[0].frames[0].size == (64, 48)
    assert filmed(1, wide=2000, high=3)[0].frames[0].size == (480, 2)


def test_mp4_where_ffmpeg_is_there(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = filmed(40)[0].write(tmp_path, 12)
    assert path.name == "turn-12.mp4"
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert (frames, seconds) == (41, pytest.approx(2.05, abs=0.06))
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")  # a browser can play it while it loads


def test_an_earlier_clip_of_the_turn_stays(tmp_path, without_ffmpeg):
    film, _ = filmed(3)
    assert [film.write(tmp_path, 7).name for _ in range(3)] == ["turn-7.gif", "turn-7-2.gif", "turn-7-3.gif"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["turn-7-2.gif", "turn-7-3.gif", "turn-7.gif"]


def test_nothing_is_left_of_a_clip_that_cannot_be_written(tmp_path, without_ffmpeg, monkeypatch):
    film, _ = filmed(3)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("surefoot._files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        film.write(tmp_path, 7)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [(None, "got NoneType"), (np.zeros((4, 4), np.uint8), "uint8 4×4"), (np.zeros((4, 4, 3)), "float64 4×4×3")],
)
def test_what_is_no_picture_is_refused(given, told):
    with pytest.raises(StudyError, match="needs the environment's `render") as refused:
        Film().add(lambda: given)
    assert told in str(refused.value)


def test_a_film_without_a_speed_has_the_usual_one(without_ffmpeg):
    film = Film(None)
    film.add(lambda: frame(0))
    film.add(lambda: frame(1), last=True)
    with PIL.open(io.BytesIO(gymnasium_workers._gif(film.frames, film.fps))) as clip:
        assert clip.info["duration"] == 30  # 33 ms, in the hundredths of a second that a GIF knows
    assert film.fps == gymnasium_workers.USUAL_FPS
