"""What several tests of judged gains share."""

import numpy as np
import polars as pl


def table(seed=1, *, items=300, labels=80, epochs=1, documents=0, lean=0.0, rates=(0.7, 0.6), both=True, **columns):
    """Two policies judged on the same items, some labelled; `lean` makes the judge lenient on the first."""
    rng = np.random.default_rng(seed)
    hard = rng.random(items)
    labelled = rng.permutation(items) < labels
    rows = []
    for policy, rate, more in (("a", rates[0], lean), ("b", rates[1], 0.0)):
        for epoch in range(epochs):
            true = 0.6 * hard + 0.4 * rng.random(items) < rate
            said = np.where(true, rng.random(items) < 0.92, rng.random(items) < 0.1 + more)
            for place in range(items):
                has = labelled[place] and (both or policy == "a")
                rows.append(
                    {
                        "policy": policy,
                        "item": f"q{place}",
                        "epoch": epoch,
                        "success": int(said[place]),
                        "human": float(true[place]) if has else None,
                        **({"cluster": f"d{place // documents}"} if documents else {}),
                        **columns,
                    }
                )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame if epochs > 1 else frame.drop("epoch")


# --- The headline, the rank, the page and the gate (T8)


def leaning(path, **more):
    """The judge prefers a; people prefer b."""
    frame = table(lean=0.5, rates=(0.55, 0.68), items=600, labels=200, **more)
    frame.write_csv(path)
    return frame
