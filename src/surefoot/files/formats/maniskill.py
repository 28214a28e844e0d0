"""ManiSkill episode JSON, beside the trajectories that `RecordEpisode` writes."""

from __future__ import annotations

from typing import Any

from surefoot.files.fields import filled, inner, listed, need, number, objects, repeated, text
from surefoot.files.importers import About, NoOutcomesError, Sheet, frame_of
from surefoot.files.recognising import Head

ABOUT = About(
    name="ManiSkill",
    file="<trajectory>.json with env_info and episodes",
    becomes="an episode with its seed and success at its end",
    example="surefoot compare new/trajectory.json old/trajectory.json",
)


def recognises(head: Head) -> bool:
    """The environment and a list of numbered episodes."""
    episodes = listed(head.json_object, "episodes")
    return bool(inner(head.json_object, "env_info")) and bool(episodes) and "episode_id" in episodes[0]


def load(head: Head) -> Sheet:
    """One row per episode."""
    document = head.json_object
    task = text(inner(document, "env_info").get("env_id"))
    episodes = need(document, "episodes", list, head.name)
    rows: list[dict[str, Any]] = []
    for place, episode in objects(episodes, head.name, "episodes"):
        seed = inner(episode, "reset_kwargs").get("seed", episode.get("episode_seed"))
        seed = seed[0] if isinstance(seed, list) and len(seed) == 1 else seed
        row = {
            "task": task,
            "seed": text(seed),
            "order": len(rows) + 1,
            "success": number(episode.get("success"), head.name, f"{place}.success"),
            "steps": number(episode.get("elapsed_steps"), head.name, f"{place}.elapsed_steps"),
        }
        rows.append({name: value for name, value in row.items() if value is not None or name == "success"})
    filled(rows, "the file must hold episodes", head.name)
    if all(row["success"] is None for row in rows):
        raise NoOutcomesError("episodes must say whether they succeeded; none does.", source=head.name)
    repeated(rows, "seed")
    seeded = {"seed": "unit", "repeat": "repeat"} if all("seed" in row for row in rows) else {}
    return Sheet(frame_of(rows, head.name), "ManiSkill", ("success is that of the last step.",), roles=seeded)
