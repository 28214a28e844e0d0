"""Tests of `surefoot.numerics.arrays`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot import Scores, reference, stats
from surefoot.numerics import arrays
from surefoot.sequential import ClosedRanking, Savi, simulate
from tests.support.scale import scores

joblib = pytest.importorskip("joblib", reason="needs joblib, of the extra `cluster`")

SEED = 20


def preferences() -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(3)
    met = [rng.choice(12, 2, replace=False) for _ in range(600)]
    return [(f"p{a:02d}", f"p{b:02d}", "first" if rng.random() < 0.5 + (b - a) / 30 else "second") for a, b in met]


def answers() -> dict[str, Any]:
    """Everything that is simulated or resampled, each large enough for several blocks."""
    first, second = scores(2000, 1), scores(2000, 2)
    played = np.random.default_rng(5).integers(0, 2, size=(2, 30_000, 100)) * 1.0
    ranked = ClosedRanking(("a", "b", "c", "d", "e"), 20, binary=True)
    return {
        "plan": sf.plan_sequential(Savi(2000), 0.5, 0.45, rng=SEED, runs=1100, correlation=0.2),
        "simulate": [array.tolist() for array in simulate(Savi(100), *played)],
        "ranking": sf.plan_ranking(ranked, (0.9, 0.7, 0.5, 0.3, 0.1), rng=SEED, runs=250),
        "bootstrap": reference.paired_bootstrap(first, second, rng=SEED, resamples=6000),
        "unpaired": reference.unpaired_bootstrap(first, second, rng=SEED, resamples=6000),
        "levels": reference.bootstrap_mean(Scores(np.round(first.values, 1).tolist()), rng=SEED, resamples=100_000),
        "clusters": reference.cluster_bootstrap(first, [i // 2 for i in range(2000)], rng=SEED, resamples=12_000),
        "permutation": reference.paired_permutation(first, second, rng=SEED, resamples=6000),
        "preferences": stats.bradley_terry(preferences(), rng=SEED, resamples=2000),
    }


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """The answers where nobody has heard of joblib."""
    cut: list[int] = []
    whole = arrays.spread
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "joblib")
        patch.setattr(arrays, "spread", lambda work, parts: cut.append(len(parts)) or whole(work, parts))
        found = answers()
    assert sum(parts > 1 for parts in cut) >= len(found), "in one block there is nothing to compare"
    return found


@contextmanager
def dask() -> Iterator[None]:
    distributed = pytest.importorskip("distributed", reason="needs dask, of the extra `cluster`")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


@contextmanager
def ray() -> Iterator[None]:
    ray = pytest.importorskip("ray", reason="needs ray, which is not among our own packages")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=2):
            yield
    finally:
        ray.shutdown()


PLACES = [
    pytest.param(nullcontext, 1, id="joblib imported, nothing configured"),
    pytest.param(
        lambda: joblib.parallel_config(backend="threading", n_jobs=2), 1, id="two threads", marks=pytest.mark.slow
    ),
    pytest.param(lambda: joblib.parallel_config(backend="loky", n_jobs=2), 2, id="two processes"),
    pytest.param(dask, 2, id="dask cluster of two processes", marks=pytest.mark.slow),
    pytest.param(
        ray, 2, id="ray", marks=[pytest.mark.slow, pytest.mark.filterwarnings("default")]
    ),  # ray's own warnings are not ours
]


def process(_: int) -> int:
    total = 0
    for number in range(2_000_000):  # long enough that one worker cannot take all
        total += number
    return os.getpid() + 0 * total


@pytest.mark.end_to_end
@pytest.mark.parametrize(("place", "processes"), PLACES)
def test_one_seed_one_answer(place: Any, processes: int, alone: dict[str, Any]) -> None:
    configured: AbstractContextManager[Any] = place()
    with configured:
        found = answers()
        used = set(arrays.spread(process, [(block,) for block in range(8)]))
    for question, answer in alone.items():
        assert found[question] == answer, question
    assert len(used) == processes
    assert (os.getpid() in used) == (processes == 1)


def test_blocks_depend_on_the_work_alone_and_the_generator_moves_on() -> None:
    rng = np.random.default_rng(SEED)
    parts = arrays.seeded(10, 4, rng)
    assert [size for size, _ in parts] == [4, 4, 2]
    drawn = [stream.random() for _, stream in parts]
    again = [stream.random() for _, stream in arrays.seeded(10, 4, np.random.default_rng(SEED))]
    later = [stream.random() for _, stream in arrays.seeded(10, 4, rng)]
    assert drawn == again
    assert len({*drawn, *later}) == 6


def test_one_block_draws_from_the_generator_itself() -> None:
    rng = np.random.default_rng(SEED)
    assert arrays.seeded(4, 4, rng) == [(4, rng)]
    assert arrays.seeded(0, 4, rng) == []


def test_blocks_are_as_good_as_one_stream() -> None:
    """The share of high draws over many blocks is binomial: within four standard errors."""
    drawn = [stream.random() < 0.3 for _, stream in arrays.seeded(20_000, 1, np.random.default_rng(SEED))]
    assert abs(np.mean(drawn) - 0.3) < 4 * (0.3 * 0.7 / 20_000) ** 0.5


def test_a_failure_on_a_worker_arrives_as_itself() -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.raises(ValueError, match="invalid literal"):
        arrays.spread(int, [("1",), ("x",), ("3",)])


def test_arrays_that_arrive_across_words_are_set_right() -> None:
    across = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), offset=1)
    assert not across.flags.aligned

    def seen(values: np.ndarray[Any, Any], more: int) -> tuple[bool, list[float]]:
        return values.flags.aligned, (values + more).tolist()

    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert arrays.spread(seen, [(across, 1), (across, 2)]) == [
            (True, [1.0, 2.0, 3.0]),
            (True, [2.0, 3.0, 4.0]),
        ]
