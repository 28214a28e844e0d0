"""Stable-Baselines3 `evaluations.npz`, as EvalCallback writes it."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files import naming
from surefoot.files.archives import Archive
from surefoot.files.array_files import numbers
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head

ABOUT = About(
    name="Stable-Baselines3 evaluations",
    file="evaluations.npz (EvalCallback)",
    becomes="each evaluated checkpoint is a policy",
    example="surefoot rank logs/evaluations.npz",
)


def recognises(head: Head) -> bool:
    """A zip file of NumPy arrays, with time steps and results among them."""
    return {"timesteps.npy", "results.npy"} <= set(head.members)


def load(head: Head) -> Sheet:
    """One row per episode; each evaluated checkpoint is a policy of its own, named by its time step."""
    with Archive(head.path, head.name) as archive:
        arrays = {
            name.removesuffix(".npy"): numbers(archive.read(name), f"{head.name}/{name}") for name in archive.names
        }
    if "timesteps" not in arrays or "results" not in arrays:
        raise DataError(
            f"an .npz file must be Stable-Baselines3's, with timesteps and results; it has {', '.join(arrays)[:200]}. "
            "Save other arrays as (N, 2) .npy or as CSV.",
            source=head.name,
        )
    steps, results = arrays["timesteps"], arrays["results"]
    shape = results.shape
    if results.ndim != 2 or steps.shape != shape[:1]:
        raise DataError(
            f"`results` must have one row per time step; got {shape} and {steps.shape} steps.", source=head.name
        )
    columns: dict[str, list[Any]] = {}
    for name, column in (("successes", "success"), ("ep_lengths", "steps"), ("results", "reward")):
        if name in arrays:
            if arrays[name].shape != shape:
                raise DataError(
                    f"`{name}` must have the shape of results, {shape}; got {arrays[name].shape}.", source=head.name
                )
            columns[column] = arrays[name].ravel().tolist()
    policy = naming.from_paths([head.path])[0]
    rows: list[dict[str, Any]] = [
        {"policy": f"{policy} @ {int(step)}", "run": str(int(step)), "order": episode + 1}
        for step in steps.tolist()
        for episode in range(shape[1])
    ]
    for column, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[column] = value
    note = f"Each evaluated checkpoint is a policy: '{policy} @ <time step>', the name after the path."
    return Sheet(frame_of(rows, head.name), "Stable-Baselines3 evaluations", (note,), after_path=policy)
