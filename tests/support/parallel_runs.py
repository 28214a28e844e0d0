"""Files of rollouts that run side by side and are written as they end, for tests of the order of the starts."""

import heapq

import numpy as np
import polars as pl


def parallel(seed, simulators, pairs, *, slow="failures", rate=0.5, gain=0.0):
    """Rows as they end: two policies in turn, each rollout on the simulator that is free first.

    Failures of `new` end at once and those of `old` take long, or (`slow="successes"`) the other way round, so that the
    two differ in nothing but the time that their outcomes take.
    """
    rng = np.random.default_rng([seed, simulators, slow == "failures"])
    free = [(0.01 * worker, worker) for worker in range(simulators)]
    heapq.heapify(free)
    rows = []
    for number in range(1, 2 * pairs + 1):
        policy = "new" if number % 2 else "old"
        success = bool(rng.random() < rate + (gain if policy == "new" else 0.0))
        quick = success == (slow == "successes") if policy == "new" else success == (slow == "failures")
        start, worker = heapq.heappop(free)
        took = float(rng.uniform(0.5, 1.5) * (1.0 if quick else 30.0))
        heapq.heappush(free, (start + took, worker))
        rows.append((policy, f"c{(number + 1) // 2}", number, start, took, int(success)))
    names = ["policy", "condition", "episode", "start_time", "duration", "success"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.sort(pl.col("start_time") + pl.col("duration"))
