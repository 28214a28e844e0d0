"""The mean of human values, a judge's for all items: methods-0.3.md section 23 B, word by word, item by item."""

import math
from collections.abc import Sequence

from tests.oracles.common import mp


def bell_mccaffrey(sizes: Sequence[int]) -> float:
    """(tr P)^2 / ||P||_F^2 with P_gh = a_g a_h (m_g [g = h] - m_g m_h / n), a_g = (1 - m_g / n)^(-1/2)."""
    n = sum(sizes)
    a = [1 / math.sqrt(1 - m / n) for m in sizes]
    matrix = [
        [a[g] * a[h] * ((sizes[g] if g == h else 0) - sizes[g] * sizes[h] / n) for h in range(len(sizes))]
        for g in range(len(sizes))
    ]
    trace = sum(matrix[g][g] for g in range(len(sizes)))
    return trace**2 / sum(cell**2 for row in matrix for cell in row)


def corrected_gain(
    judge: Sequence[float], human: Sequence[float | None], documents: Sequence[object], used: bool = True
) -> dict[str, float]:
    """Gain, lambda, the moments, the degrees of freedom and the counted items, of gains in [-1, 1]."""
    labelled = [i for i, h in enumerate(human) if h is not None]
    others = [i for i, h in enumerate(human) if h is None]
    n, rest = len(labelled), len(others)
    names = list(dict.fromkeys(documents))
    m = {d: sum(documents[i] == d for i in labelled) for d in names}
    k = {d: sum(documents[i] == d for i in others) for d in names}
    m0 = sum(m[d] ** 2 for d in names) / n
    g_u = sum(judge[i] for i in others) / rest
    h = {i: human[i] or 0.0 for i in labelled}
    trust = dict.fromkeys(names, 0.0)
    for d in names if used else ():
        outside = [i for i in labelled if documents[i] != d]
        h_mean = sum(h[i] for i in outside) / len(outside)
        g_mean = sum(judge[i] for i in outside) / len(outside)
        s_hg = sum((h[i] - h_mean) * (judge[i] - g_mean) for i in outside)
        s_gg = sum((judge[i] - g_mean) ** 2 for i in outside)
        trust[d] = min(1.0, max(0.0, rest / (n + rest) * (s_hg - m0 / 4) / (s_gg + m0 / 4)))
    r = {i: h[i] - trust[documents[i]] * (judge[i] - g_u) for i in labelled}
    gain = sum(r.values()) / n
    lam = sum(m[d] * trust[d] for d in names) / n
    e = [sum(r[i] - gain for i in labelled if documents[i] == d) / math.sqrt(1 - m[d] / n) / n for d in names]
    u = [
        lam * sum(judge[i] - g_u for i in others if documents[i] == d) / math.sqrt(1 - k[d] / rest) / rest
        for d in names
    ]
    v_l, v_u = sum(x * x for x in e), sum(x * x for x in u)
    nu = bell_mccaffrey([m[d] for d in names if m[d]])
    if lam > 0:
        nu_u = bell_mccaffrey([k[d] for d in names if k[d]])
        nu = max(1.0, (v_l + v_u) ** 2 / (v_l**2 / nu + v_u**2 / nu_u))
    return {
        "gain": gain,
        "trust": lam,
        "m2": max(sum((x + y) ** 2 for x, y in zip(e, u, strict=True)), v_l),
        "m3": sum(x**3 for x in e),
        "m4": sum(x**4 for x in e),
        "nu": nu,
        "counted": n / max(1.0, v_l / (sum((x - gain) ** 2 for x in r.values()) / (n * (n - 1)))),
    }


def t_quantile(freedom: float, level: float) -> float:
    """Student's quantile from the incomplete beta function, by bisection."""

    def above(t: float) -> float:
        return float(mp.betainc(freedom / 2, 0.5, 0, freedom / (freedom + t * t), regularized=True) / 2)

    low, high = 0.0, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > 1 - level else (low, middle)
    return low


def half_width(n: int, items: int, left: float, judged: float, trust: float) -> float:
    """At 95%: t sqrt((n s_r^2 + 2 (1 + lam)^2) / (n + 2)^2 + lam^2 s_g^2 / (N - n))."""
    v_l = (n * left + 2 * (1 + trust) ** 2) / (n + 2) ** 2
    v_u = trust**2 * judged / (items - n)
    freedom = (v_l + v_u) ** 2 / (v_l**2 / (n + 1) + v_u**2 / (items - n - 1))
    return t_quantile(freedom, 0.975) * math.sqrt(v_l + v_u)
