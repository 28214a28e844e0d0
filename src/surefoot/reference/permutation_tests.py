"""Permutation test of paired scores."""

from __future__ import annotations

from surefoot import _check
from surefoot.core.assumptions import PAIRS_EXCHANGEABLE, SCORE_PAIRS_APART
from surefoot.core.gain import Gain
from surefoot.core.scores import Scores
from surefoot.stats import score_gains

EXACT_UP_TO = 16  # pairs: 2^16 = 65,536 patterns of signs, all of them counted


def paired_permutation(
    first: Scores,
    second: Scores,
    *,
    rng: _check.Rng,
    resamples: int = 10_000,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """Permutation test and interval of a mean gain, by swapping the two scores of each pair.

    Up to 16 pairs every swap is counted and the p-value is exact; beyond, random swaps are drawn and the p-value
    is (1 + as extreme) / (1 + drawn), which stays valid. The interval holds every constant shift that the same
    test would not reject, so it excludes 0 exactly when the p-value is at most 1 - confidence.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        rng: A seed, kept with the result, or a Generator; unused when all swaps can be counted.
        resamples: How many random swaps beyond 16 pairs.
        confidence: How often such intervals hold the gain.
        margin: The gain that would not matter.

    Assumptions:
        The two scores of a pair are exchangeable under no gain, and pairs are independent.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import paired_permutation
        >>> first, second = Scores([1, 0.9, 0.8, 0.9, 0.7, 1]), Scores([0.5, 0.6, 0.4, 0.8, 0.5, 0.6])
        >>> print(paired_permutation(first, second, rng=7))
        +0.317 [+0.100, +0.500] n=6 (95% exact paired permutation interval), p = 0.0313: the first is better.

    Reference:
        Fisher (1935), "The design of experiments", section 21; Phipson and Smyth (2010), "Permutation p-values
        should never be zero".
    """
    import numpy as np

    from surefoot.reference import bootstrap

    gap = score_gains.paired(first, second)
    confidence = _check.confidence(confidence)
    resamples = _check.whole(resamples, "resamples", least=1)
    generator, seed = _check.generator(rng)
    pairs = gap.size
    exact = pairs <= EXACT_UP_TO
    flipped, total = bootstrap.sign_flips(gap, resamples, None if exact else generator)
    # A pattern is as extreme as the data at shift s exactly when s lies between the mean of the flipped
    # differences and the mean of the others; the pattern that flips none or all is so at every shift.
    inner = (flipped > 0) & (flipped < pairs)
    one = total[inner] / flipped[inner]
    other = (gap.sum() - total[inner]) / (pairs - flipped[inner])
    slack = 1e-12 * float(abs(gap).max())
    always = int((~inner).sum()) + (0 if exact else 1)
    of = flipped.size + (0 if exact else 1)
    lows, highs = np.sort(np.minimum(one, other)), np.sort(np.maximum(one, other))
    extreme = always + np.count_nonzero((np.minimum(one, other) <= slack) & (np.maximum(one, other) >= -slack))
    # the p-value of a shift below the mean is the share of patterns whose lower end is at most that shift
    needed = int(np.floor((1.0 - confidence) * of * (1.0 + 1e-12))) + 1 - always
    most = first.high - first.low
    low = -most if needed <= 0 else float(lows[needed - 1]) if needed <= lows.size else float(gap.mean())
    high = most if needed <= 0 else float(highs[-needed]) if needed <= highs.size else float(gap.mean())
    low, high = (0.0 if abs(end) <= slack else end for end in (low, high))
    how = f"all {of:,} swaps were counted" if exact else f"{resamples:,} random swaps were drawn"
    return score_gains.gain_of(
        (first, second),
        (low, high),
        estimate=float(gap.mean()),
        confidence=confidence,
        method=f"{'exact' if exact else 'Monte Carlo'} paired permutation",
        margin=margin,
        trials=pairs,
        p_value=extreme / of,
        assumptions=(SCORE_PAIRS_APART, PAIRS_EXCHANGEABLE),
        notes=(f"{how[0].upper()}{how[1:]}.",),
        seed=None if exact else seed,
    )
