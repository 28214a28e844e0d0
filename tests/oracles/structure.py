"""Structure that breaks independence: clusters, tasks and seeds, strata, judges, pass@k.

Liang and Zeger 1986 (cluster-robust); Miller 2024 "Adding error bars to evals"; Greenland and Robins 1985 and Sato 1989
(variance of the Mantel-Haenszel risk difference); Rogan and Gladen 1978; Lee et al. 2025 (arXiv 2511.21140); Chen et
al. 2021 (pass@k); Cohen 1960 and Fleiss, Cohen and Everitt 1969 (kappa); Angelopoulos, Duchi and Zrnic 2023 (PPI++).
"""

import math
from collections.abc import Hashable, Sequence
from itertools import combinations
from statistics import fmean

from tests.oracles.common import normal_two_sided_p, z_two_sided


def cluster_errors(values: Sequence[float], clusters: Sequence[Hashable]) -> dict[str, float]:
    """Standard errors of a mean: naive, CR0, CR1 = CR0 sqrt(G/(G-1)), Miller's, and the raw design effect of CR1."""
    n = len(values)
    centre = math.fsum(values) / n
    errors = [v - centre for v in values]
    groups = sorted(set(clusters), key=str)
    squares = math.fsum(
        math.fsum(e for e, g in zip(errors, clusters, strict=True) if g == group) ** 2 for group in groups
    )
    naive = math.fsum(e * e for e in errors) / (n - 1) / n
    cross = math.fsum(
        errors[i] * errors[j] for i in range(n) for j in range(n) if i != j and clusters[i] == clusters[j]
    )
    cr1 = squares / n**2 * len(groups) / (len(groups) - 1)
    return {
        "mean": centre,
        "clusters": len(groups),
        "se_naive": math.sqrt(naive),
        "se_cr0": math.sqrt(squares) / n,
        "se_cr1": math.sqrt(cr1),
        "se_miller": math.sqrt(max(0.0, naive + cross / n**2)),
        "deff_cr1": cr1 / naive if naive else 1.0,
    }


def design_effect(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """CR1 variance over the naive variance, never below 1."""
    return max(1.0, cluster_errors(values, clusters)["deff_cr1"])


def runs_by_tasks(matrix: Sequence[Sequence[float]]) -> dict[str, float]:
    """Variance components of R runs (rows) of the same n tasks (columns).

    within = mean over tasks of the variance (R - 1) of its runs; between = variance (n - 1) of task means;
    task = between - within/R; Var(mean, random tasks) = task/n + within/(nR) = between/n.
    """
    runs, tasks = len(matrix), len(matrix[0])
    task_means = [fmean(row[i] for row in matrix) for i in range(tasks)]
    run_means = [fmean(row) for row in matrix]
    centre = fmean(run_means)
    errors = [[v - centre for v in row] for row in matrix]
    size = runs * tasks
    by_task = sum(sum(row[i] for row in errors) ** 2 for i in range(tasks)) / size**2
    by_run = sum(sum(row) ** 2 for row in errors) / size**2
    single = sum(e * e for row in errors for e in row) / size**2
    out = {
        "mean": centre,
        "se_task_clustered_cr0": math.sqrt(by_task),
        "se_run_clustered_cr0": math.sqrt(by_run),
        "var_twoway_cr0": by_task + by_run - single,
        "var_between_task_means": sum((m - centre) ** 2 for m in task_means) / (tasks - 1),
    }
    out["se_mean_random_tasks"] = math.sqrt(out["var_between_task_means"] / tasks)
    if runs > 1:
        within = fmean(sum((row[i] - task_means[i]) ** 2 for row in matrix) / (runs - 1) for i in range(tasks))
        out["sd_between_runs"] = math.sqrt(sum((m - centre) ** 2 for m in run_means) / (runs - 1))
        out["var_within_task"] = within
        out["var_task_component"] = out["var_between_task_means"] - within / runs
        out["se_iid_single_run_equivalent"] = math.sqrt((out["var_task_component"] + within) / tasks)
    return out


# --- Strata -----------------------------------------------------------------------------------------------


def mantel_haenszel(strata: Sequence[tuple[int, int, int, int]]) -> dict[str, float]:
    """Risk difference over strata (x1, n1, x2, n2): sum w d / sum w, w = n1 n2/N, with two standard errors.

    Greenland-Robins: each stratum's own binomial variance, sum w^2 (p1 q1/n1 + p2 q2/n2) / (sum w)^2.
    Sato: (d sum P + sum Q)/(sum w)^2, P = (n1^2 x2 - n2^2 x1 + n1 n2 (n2 - n1)/2)/N^2,
    Q = (x1 (n2 - x2) + x2 (n1 - x1))/(2N).
    """
    weights = [n1 * n2 / (n1 + n2) for _, n1, _, n2 in strata]
    total = math.fsum(weights)
    d = math.fsum(w * (x1 / n1 - x2 / n2) for w, (x1, n1, x2, n2) in zip(weights, strata, strict=True)) / total
    robins = p = q = 0.0
    for w, (x1, n1, x2, n2) in zip(weights, strata, strict=True):
        p1, p2, n = x1 / n1, x2 / n2, n1 + n2
        robins += w * w * (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        p += (n1**2 * x2 - n2**2 * x1 + n1 * n2 * (n2 - n1) / 2) / n**2
        q += (x1 * (n2 - x2) + x2 * (n1 - x1)) / (2 * n)
    return {
        "difference": d,
        "se_greenland_robins": math.sqrt(robins) / total,
        "se_sato": math.sqrt(max(0.0, d * p + q)) / total,
    }


def cmh(strata: Sequence[tuple[int, int, int, int]]) -> tuple[float, float]:
    """(chi2, p) of Cochran-Mantel-Haenszel without correction: (sum x1 - E)^2 / sum V, hypergeometric E and V."""
    gap = variance = 0.0
    for x1, n1, x2, n2 in strata:
        n, m = n1 + n2, x1 + x2
        gap += x1 - n1 * m / n
        variance += n1 * n2 * m * (n - m) / (n**2 * (n - 1)) if n > 1 else 0.0
    chi2 = gap**2 / variance if variance else 0.0
    return chi2, float(normal_two_sided_p(math.sqrt(chi2)))


# --- Judges and samples -----------------------------------------------------------------------------------


def rogan_gladen(k: int, n: int, tn: int, m0: int, tp: int, m1: int, confidence: float = 0.95) -> dict[str, float]:
    """(q + spec - 1)/(sens + spec - 1) with its delta-method error, and the smoothed interval of Lee et al."""

    def shape(p: float, spec: float, sens: float, sizes: tuple[float, float, float]) -> tuple[float, float, float]:
        youden = spec + sens - 1
        theta = (p + spec - 1) / youden
        noise = p * (1 - p) / sizes[0]
        from_spec = spec * (1 - spec) / sizes[1]
        from_sens = sens * (1 - sens) / sizes[2]
        variance = noise + (1 - theta) ** 2 * from_spec + theta**2 * from_sens
        shift = -(1 - theta) * from_spec + theta * from_sens
        return theta, math.sqrt(variance) / youden, shift

    z = float(z_two_sided(confidence))
    theta, se, _ = shape(k / n, tn / m0, tp / m1, (n, m0, m1))
    smooth = (k + z * z / 2) / (n + z * z), (tn + 1) / (m0 + 2), (tp + 1) / (m1 + 2)
    centre, lee_se, shift = shape(*smooth, (n + z * z, m0 + 2, m1 + 2))
    centre += 2 * z * z * shift
    return {
        "theta_raw": theta,
        "theta_clipped": min(1.0, max(0.0, theta)),
        "se_delta": se,
        "lee_centre": centre,
        "lee_se": lee_se,
        "lee_lo": max(0.0, centre - z * lee_se),
        "lee_hi": min(1.0, centre + z * lee_se),
    }


def pass_at_k(n: int, c: int, k: int) -> tuple[float, float]:
    """(any of k passes, all of k pass): the share of all k-subsets of n samples, c of them correct."""
    subsets = list(combinations(range(n), k))
    some = sum(1 for subset in subsets if any(i < c for i in subset))
    every = sum(1 for subset in subsets if all(i < c for i in subset))
    return some / len(subsets), every / len(subsets)


def cohen_kappa(table: Sequence[Sequence[int]]) -> tuple[float, float]:
    """(kappa, standard error): (po - pe)/(1 - pe), and the large-sample variance of Fleiss, Cohen and Everitt."""
    n, size = sum(map(sum, table)), len(table)
    p = [[v / n for v in row] for row in table]
    rows, columns = [sum(row) for row in p], [sum(row[j] for row in p) for j in range(size)]
    po = sum(p[i][i] for i in range(size))
    pe = sum(r * c for r, c in zip(rows, columns, strict=True))
    kappa = (po - pe) / (1 - pe)
    a = sum(p[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(size))
    b = (1 - kappa) ** 2 * sum(
        p[i][j] * (columns[i] + rows[j]) ** 2 for i in range(size) for j in range(size) if i != j
    )
    c = (kappa - pe * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(0.0, a + b - c) / n) / (1 - pe)


def ppi_mean(
    truth: Sequence[float],
    judged: Sequence[float],
    judged_only: Sequence[float],
    power: float | None = None,
    ddof: int = 1,
) -> dict[str, float]:
    """PPI++ mean: lam mean_N(f) + mean_n(Y - lam f), with its tuned lam and standard error.

    lam = Cov_n(Y, f)/((1 + n/N) Var_{n+N}(f)) (PPI++ example 6.1), clipped to [0, 1]; `power` sets it by hand.
    """

    def spread(a: Sequence[float], b: Sequence[float]) -> float:
        return sum((x - fmean(a)) * (y - fmean(b)) for x, y in zip(a, b, strict=True)) / (len(a) - ddof)

    n, big = len(truth), len(judged_only)
    everything = [*judged, *judged_only]
    raw = spread(truth, judged) / ((1 + n / big) * spread(everything, everything)) if power is None else power
    lam = min(1.0, max(0.0, raw)) if power is None else power
    rest = [y - lam * f for y, f in zip(truth, judged, strict=True)]
    return {
        "estimate": lam * fmean(judged_only) + fmean(rest),
        "power": lam,
        "power_raw": raw,
        "se": math.sqrt(lam**2 * spread(judged_only, judged_only) / big + spread(rest, rest) / n),
    }
