"""Writes after_stop.svg, the figure of docs/sequential.md: `python docs/tables/after_stop.py`.

Half a minute on one core. A fixed seed, so a second run writes the same file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.reporting import style
from surefoot.sequential import ExactBinary, run

FIGURE = Path(__file__).with_name("after_stop.svg")
SEED = 20260
STUDIES = 60
FIRST, SECOND = 0.75, 0.60


def main() -> None:
    rng = np.random.default_rng(SEED)
    rule = ExactBinary(100, claim="either", futility=0.02)
    states = [run(rule, (rng.random((100, 2)) < (FIRST, SECOND)) * 1.0)[-1] for _ in range(STUDIES)]
    states.sort(key=lambda state: (state.pairs, -state.observed))
    with style.drawing():
        figure, axes = style.canvas(7.0, 4.2)
        axes.axhline(100 * (FIRST - SECOND), color=style.FAINT, linewidth=1.2, label="true gain")
        axes.axhline(0.0, color=style.FAINT, linewidth=0.6, linestyle=":")
        for place, state in enumerate(states):
            shown = state.interval
            colour = style.COLOURS[0] if state.ending == "verdict" else style.COLOURS[1]
            axes.plot([place, place], [100 * shown.low, 100 * shown.high], color=colour, linewidth=1.1)
            axes.plot(place, 100 * shown.estimate, "o", color=colour, markersize=3.5)
            axes.plot(place, 100 * state.observed, "x", color=colour, markersize=4.0)
        axes.plot([], [], "x", color="black", markersize=4.0, label="observed gain")
        axes.plot([], [], "o", color="black", markersize=3.5, label="estimate, with its interval")
        axes.plot([], [], color=style.COLOURS[0], label="verdict")
        axes.plot([], [], color=style.COLOURS[1], label="no verdict")
        axes.set(xlabel="60 studies, the earliest stop first", ylabel="gain in points", xlim=(-1, STUDIES))
        axes.set_xticks([])
        axes.legend(loc="upper right", frameon=False)
        axes.set_title(
            f"What is reported after a stop, when the true gain is {100 * (FIRST - SECOND):.0f} points",
            loc="left",
            fontsize=11,
        )
    style.save(figure, FIGURE)


if __name__ == "__main__":
    main()
