"""Which of several models is the best on a list: what does a guaranteed answer cost, and how often is a bandit's wrong?

banditeval spends a budget and names the highest estimate; it promises no error. It is given the same lists, and as many
evaluations as the guaranteed rule took on average.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import cpu, dated, importable, kept, seconds, write
from surefoot.sequential import ClosedRanking, simulate_ranking

SEED, DRAWS, ITEMS, BATCH = 23, 200, 200, 5
SETTINGS = (
    (0.9, 0.7, 0.5, 0.3, 0.1),
    (0.8, 0.7, 0.6, 0.5, 0.4),
    (0.6, 0.55, 0.5, 0.45, 0.4),
    (0.7, 0.7, 0.5, 0.3, 0.1),
)


def bandit(list_of: NDArray[np.float64], budget: int) -> int:
    """The model that banditeval names after so many evaluations of items (rows) by models (columns)."""
    import torch
    from banditeval import BanditEval

    answers = torch.tensor(list_of.T)

    def evaluate(model: int, items: list[int]) -> Any:
        return answers[model, items].to(torch.float32)

    with contextlib.redirect_stderr(io.StringIO()):
        run = BanditEval(range(answers.shape[0]), range(answers.shape[1]), evaluate, "ucbe")
        return int(run(max(1, budget // BATCH), batch_size=BATCH).argmax())


def main() -> int:
    if not importable("banditeval"):
        print("banditeval is not installed here (it needs torch); nothing was measured.", file=sys.stderr)
        return 0
    import torch

    warnings.simplefilter("ignore")
    lines = [
        "## The best of five models on a list of 200",
        "",
        f"{dated(['surefoot', 'numpy', 'torch', 'banditeval'])}. {DRAWS} lists, seed {SEED}. surefoot: "
        '`ClosedRanking` with the question "best", 95%: evaluations, share in which one is named, and falsely. '
        f"banditeval: UCB-E in batches of {BATCH}, with the same mean number of evaluations; it always names one, and "
        "promises no error. In the last row two are the best, and to name one above the other is false. Command: "
        "`python -m benchmarks.best_arm`.",
        "",
        "| rates | surefoot: evaluations | named | wrong | banditeval: a worse one named | asked of surefoot | met |",
        "|---|---|---|---|---|---|---|",
    ]
    met, names = True, tuple("abcde")
    for place, rates in enumerate(SETTINGS):
        rng = np.random.default_rng([SEED, place])
        torch.manual_seed(SEED)
        lists = (rng.random((DRAWS, ITEMS, len(rates))) < rates).astype(float)
        found = simulate_ranking(ClosedRanking(names, ITEMS, binary=True, question="best"), lists)
        used = float(found.rollouts.sum(axis=1).mean())
        named = found.better.sum(axis=2) == len(rates) - 1
        best = np.array(rates) > sorted(rates)[-2]  # none where two are the best
        wrong = int((named & ~best).any(axis=1).sum())
        theirs = sum(rates[bandit(one, round(used))] < max(rates) for one in lists)
        fine = kept(wrong, DRAWS, error=0.05)
        met &= fine
        lines.append(
            f"| {' '.join(f'{rate:g}' for rate in rates)} | {used:,.0f} of {ITEMS * len(rates):,} | "
            f"{named.any(axis=1).mean():.3f} | {wrong / DRAWS:.3f} | {theirs / DRAWS:.3f} | "
            "wrong in 0.05, within its binomial limit | "
            f"{'yes' if fine else '**no**'} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    spent = cpu(lambda: bandit(lists[0], round(used)))
    rule = ClosedRanking(names, ITEMS, binary=True, question="best")
    ours = cpu(lambda: simulate_ranking(rule, lists[:1]))
    lines.append(f"| CPU of one list | {seconds(ours)} | | | {seconds(spent)} | none | yes |")
    print("\n".join(lines))
    write("best_arm", lines)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
