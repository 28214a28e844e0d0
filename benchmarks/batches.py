"""How much CPU does a study add to a vectorised simulator that runs 4,096 rollouts in batches of 64?"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import surefoot as sf
from benchmarks.common import Row, seconds, section, times

ROLLOUTS, BATCH, STEPS = 4096, 64, 200


class Simulator:
    """64 CartPoles at once: each rollout lasts 200 steps or until the pole falls; it counts its own CPU."""

    def __init__(self) -> None:
        self.envs = gymnasium.make_vec("CartPole-v1", num_envs=BATCH, vectorization_mode="sync")
        self.cpu = 0.0

    def __call__(self, turns: list[Any]) -> list[bool]:
        began = time.process_time()
        rows = turns + [turns[-1]] * (BATCH - len(turns))
        damping = np.array([1.0 if turn.policy == "new" else 0.9 for turn in rows])
        state, _ = self.envs.reset(seed=[turn.block for turn in rows])
        standing = np.ones(BATCH, bool)
        for _ in range(STEPS):
            state, _, ended, _, _ = self.envs.step((state[:, 2] + damping * state[:, 3] > 0).astype(int))
            standing &= ~ended
        self.cpu += time.process_time() - began
        return list(standing[: len(turns)])


def main() -> int:
    simulator = Simulator()
    plan = sf.Plan(policies=("new", "old"), rule="mixture", horizon=ROLLOUTS // 2, futility=0.0)
    with tempfile.TemporaryDirectory() as folder:
        study = sf.Study.create(plan, Path(folder) / "study.db")
        began = time.process_time()
        status = sf.run_study(study, simulator, batch=BATCH)
        total = time.process_time() - began
    ratio = total / simulator.cpu
    rows = [
        Row(
            f"{status.recorded:,} rollouts of 64 CartPoles at once, in a study on disk",
            seconds(total),
            seconds(simulator.cpu),
            times(ratio),
            "at most 1.3x",
            ratio <= 1.3 and status.recorded == ROLLOUTS,
        )
    ]
    met = section("batches", "A study beside the simulator that it runs", rows, peers=["gymnasium"])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
