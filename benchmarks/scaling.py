"""How much sooner is a simulation or a bootstrap done on two processes or on a Dask cluster, and how do rows grow?

Seconds on the clock, places taken in turn, the least of the repeats: on a busy machine the ratios mean nothing, so the
load is printed with them. Every place must give the same numbers.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from benchmarks.common import Row, seconds, section, times

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process is one core here

RUNS, HORIZON = 160_000, 500
RESAMPLES, PAIRS = 80_000, 20_000
SIZES = (100_000, 1_000_000, 10_000_000)
REPEATS = 2
ASKED = 1.7
HELD = ("TRIM", "MMAP")  # memory that a worker may keep: Dask's own setting makes arrays cost three times as much


def simulation() -> object:
    """A plan by simulation: partial credit in six steps, some fifteen seconds on one core."""
    from surefoot import plan_sequential
    from surefoot.sequential import FiniteHorizonMixture

    levels = [step / 6 for step in range(7)]
    first = dict(zip(levels, (0.10, 0.10, 0.10, 0.15, 0.15, 0.15, 0.25), strict=True))
    second = dict(zip(levels, (0.12, 0.12, 0.12, 0.15, 0.14, 0.14, 0.21), strict=True))
    return plan_sequential(FiniteHorizonMixture(HORIZON), first, second, rng=7, runs=RUNS)


def bootstrap() -> object:
    """A paired bootstrap of many resamples, some ten seconds on one core."""
    import numpy as np

    from surefoot import Scores
    from surefoot.reference import paired_bootstrap

    rng = np.random.default_rng(7)
    first, second = (Scores(rng.beta(shape, 2, PAIRS).tolist()) for shape in (4, 3))
    return paired_bootstrap(first, second, rng=7, resamples=RESAMPLES)


def main() -> int:
    rows = []
    places = {"one process": nullcontext, "two processes": two_processes, "Dask, two processes": dask}
    found = {name: measured(place) for name, place in places.items()}
    for work in WORK:
        alone, cpu, answer = found["one process"][work]
        for name, place in list(found.items())[1:]:
            clock, used, _ = place[work]
            what = f"{work.__name__}: {size_of(work)}; {name}, {times(used / cpu)} the CPU seconds in all"
            promised = name == "two processes"  # Dask's scheduler takes a share of the two cores itself
            asked, met = (f"at least {ASKED}x", alone / clock >= ASKED) if promised else ("none", True)
            rows.append(Row(what, seconds(clock), seconds(alone), times(alone / clock), asked, met))
        same = all(place[work][2] == answer for place in found.values())
        rows.append(Row(f"{work.__name__}: the same numbers everywhere", "yes" if same else "no", "", "", "yes", same))
    rows += aggregated()
    note = (
        f"Here seconds on the clock; the peer is one process of our own. Load average {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores."
    )
    return 0 if section("scaling", "Scaling", rows, peers=["joblib", "dask"], note=note) else 1


def size_of(work: Callable[[], object]) -> str:
    if work is simulation:
        return f"{RUNS:,} studies of at most {HORIZON} pairs of scores"
    return f"{RESAMPLES:,} resamples of {PAIRS:,} pairs"


WORK = (simulation, bootstrap)


@contextmanager
def two_processes() -> Iterator[None]:
    import joblib

    with joblib.parallel_config(backend="loky", n_jobs=2):
        yield


@contextmanager
def dask() -> Iterator[None]:
    import dask
    import joblib
    from distributed import Client, LocalCluster

    with (
        dask.config.set({f"distributed.nanny.pre-spawn-environ.MALLOC_{name}_THRESHOLD_": 1 << 25 for name in HELD}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


def measured(
    place: Callable[[], AbstractContextManager[Any]],
) -> dict[Callable[[], object], tuple[float, float, object]]:
    """Seconds on the clock and of CPU, the least of the repeats, and the answer, for every kind of work."""
    import joblib

    found = {}
    with place():
        joblib.Parallel()(joblib.delayed(warm)() for _ in range(8))  # workers start and import before the clock does
        for work in WORK:
            spent = []
            for _ in range(REPEATS):
                before, began = cpu_of_all(), time.monotonic()
                answer = work()
                spent.append((time.monotonic() - began, cpu_of_all() - before))
            found[work] = min(clock for clock, _ in spent), min(cpu for _, cpu in spent), answer
    return found


def cpu_of_all() -> float:
    """CPU seconds of this process and of every worker that it started: what the work costs, whatever the load."""
    import psutil

    here = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (here, *here.children(recursive=True)))


def aggregated() -> list[Row]:
    """Rows of a frame in memory to a tally of every policy and task, and to the pairs of two policies."""
    import surefoot as sf
    from benchmarks.big_files import table as drawn

    rows, before = [], 0.0
    for size in SIZES:
        frame = drawn(size)
        spent = []
        for _ in range(REPEATS):
            began = time.monotonic()
            table = sf.read(frame)
            table.summary(by=("policy", "task"))
            table.pairs("act", "pi0").tally()
            spent.append(time.monotonic() - began)
        clock = min(spent)
        growth = times(clock / before) if before else ""
        rows.append(Row(f"{size:,} rows to tallies and pairs", seconds(clock), "", growth, "", met=True))
        before = clock
    return rows


def warm() -> None:
    """A little of everything, so that a worker has imported what it needs."""
    from surefoot import Scores, plan_sequential
    from surefoot.reference import paired_bootstrap
    from surefoot.sequential import FiniteHorizonMixture

    plan_sequential(FiniteHorizonMixture(HORIZON), {0: 0.4, 0.5: 0.2, 1: 0.4}, {0: 0.6, 1: 0.4}, rng=7, runs=2)
    paired_bootstrap(Scores([0.1, 0.5, 0.9] * 10), Scores([0.2, 0.4, 0.6] * 10), rng=7)
    time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
