"""The canonical columns of a rollout, and other names for them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from surefoot.core.words import Words

WHOLE = ("order", "steps")
NUMBERS = ("score", "reward", "duration", "human", "forecast")
YES_OR_NO = ("success", "valid")

COLUMNS = (
    *("policy", "task", "condition", "seed", "order", "success", "score", "reward", "repeat", "steps", "duration"),
    *("stage", "failure", "cluster", "run", "dataset", "judge", "human", "session", "robot", "evaluator"),
    *("started_at", "valid", "note", "source", "forecast", "clip"),
)
"""The canonical row; only `policy` and one of `success` and `score` are required."""

TEXT = tuple(name for name in COLUMNS if name not in (*WHOLE, *NUMBERS, *YES_OR_NO))
"""Names and keys, kept as text so that '007' stays '007'; a whole number is written without a point."""

LABELS = (
    *("task", "condition", "seed", "repeat", "cluster", "run", "dataset", "judge", "session", "robot", "evaluator"),
    *("order", "note", "source", "failure", "stage", "steps"),
)
"""Columns whose names decide nothing: what they are follows from the shape of the table."""

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "policy": (
        *("policy_name", "policy_id", "method", "method_name", "model", "model_name", "arm", "agent", "agent_name"),
        *("checkpoint", "checkpoint_name", "ckpt", "algorithm", "algo", "system", "variant", "version"),
    ),
    "task": (
        *("task_name", "task_id", "task_description", "language_instruction", "instruction", "language_command"),
        *("command", "env", "env_name"),
        *("env_id", "environment", "setting", "skill", "scenario", "benchmark", "experiment"),
    ),
    "condition": (
        *("initial_condition", "init", "init_state", "initial_state", "initial_pose", "initial_position", "scene"),
        *("scene_id", "item", "item_id"),
        *("doc_id", "doc_hash", "question_id", "prompt_id", "example_id", "instance_id", "problem_id"),
        *("question", "problem"),  # before samples, which may number the tries at a question
        *("sample_id", "sample", "prompt", "example", "instance", "case", "case_id", "test_case", "layout"),
    ),
    "seed": ("env_seed", "episode_seed", "eval_seed"),
    "order": (
        *("episode", "episode_index", "episode_ix", "episode_id", "rollout", "rollout_id", "trial", "trial_id"),
        *("trial_index", "index", "idx"),
    ),
    "success": (
        *("succeeded", "is_success", "binary_success", "passed", "pass", "solved", "correct", "is_correct", "ok"),
        *("outcome", "result", "label", "exact_match", "acc"),
    ),
    "score": (
        *("progress", "task_progress", "partial_success", "partial_credit", "completion", "rating", "grade"),
        *("rubric", "max_reward"),
    ),
    "reward": ("return", "returns", "sum_reward", "episode_reward", "total_reward"),
    "repeat": ("epoch", "attempt", "replicate", "repetition"),
    "steps": ("num_steps", "n_steps", "episode_length", "ep_length", "length"),
    "duration": (
        *("duration_s", "duration_sec", "duration_seconds", "elapsed_sec", "elapsed_s", "elapsed_seconds", "seconds"),
        *("time_s", "time_sec", "time_seconds", "wall_time_s", "total_time", "total_time_s"),
    ),
    "stage": ("furthest_stage", "stage_reached", "milestone"),
    "failure": ("failure_reason", "failure_mode", "failure_tags", "reason", "termination", "error"),
    "cluster": ("user", "user_id", "group", "group_id", "family", "template"),
    "run": ("run_id", "run_name"),
    "dataset": ("dataset_version", "dataset_name", "suite", "task_suite", "task_group", "panel", "split"),
    "judge": ("judge_model", "judge_name", "grader", "scorer"),
    "human": ("human_label", "human_score", "human_success", "gold"),
    "session": ("session_id", "session_uuid"),
    "robot": ("robot_name", "robot_id", "rig", "station"),
    "evaluator": ("evaluator_name", "operator", "rater"),
    "started_at": ("timestamp", "started_utc", "start_time", "datetime", "date", "collection_time", "created_at"),
    "valid": ("is_valid",),
    "note": ("notes", "comment", "comments", "feedback", "language_feedback"),
    "source": (),
    "forecast": (),
    "clip": ("video", "episode_video", "video_path", "clip_path"),
}

OUTCOMES = frozenset(("success", "score", *OTHER_NAMES["success"], *OTHER_NAMES["score"]))
KNOWN = frozenset(COLUMNS).union(*OTHER_NAMES.values())
"""Every name by which a column, or an outcome's column, is known."""


_ANSWERS = r"(?:y|n|yes|no|0|1|t|f|true|false|pass|fail|success|failure|succeeded|failed|correct|incorrect)"
_LEGEND = re.compile(rf"\s*[(\[]\s*{_ANSWERS}\s*(?:[/,|]|or)\s*{_ANSWERS}\s*[)\]]$")
"""What people put behind a name to say how to fill it in: ``(Y/N)``, ``[pass or fail]``."""


@functools.lru_cache(4096)
def plain(name: str) -> str:
    """A header as it is compared: ``Task ID:`` becomes ``task_id``, ``Succeeded? (Y/N)`` becomes ``succeeded``."""
    return re.sub(r"\W+", "_", _LEGEND.sub("", name.strip().casefold())).strip("_")


def match(header: Iterable[str], columns: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The file's column for each canonical one, and what was guessed.

    Args:
        header: The file's column names.
        columns: What the user said, canonical name to the file's name, empty for none; checked by the caller.
    """
    found, notes = _match(tuple(header), tuple(columns.items()))
    return dict(found), notes


@functools.lru_cache(256)  # thousands of files of a folder have the same header
def _match(header: tuple[str, ...], said: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    columns = dict(said)
    found = {column: name for column, name in columns.items() if name}
    free = [name for name in header if name not in set(columns.values())]
    known: dict[str, list[str]] = {}
    for name in free:
        known.setdefault(plain(name), []).append(name)
    notes = []
    for column in COLUMNS:
        if column in columns:
            continue
        candidates = [name for alias in (column, *OTHER_NAMES[column]) for name in known.get(alias, ())]
        if not candidates:
            continue
        chosen = found[column] = candidates[0]
        others = [name for name in candidates[1:] if name != chosen]
        if column not in LABELS and (others or not _says_it(column, plain(chosen))):
            also = f" (it could also be {', '.join(map(repr, others))})" if others else ""
            notes.append(f"{column} is guessed to be the column {chosen!r}{also}.{_matters(column)}")
    return found, tuple(notes)


def _matters(column: str) -> str:
    """What a guess changes that nobody may have asked for."""
    if column != "human":
        return ""
    return (
        " Answers are corrected by these labels; to leave them out: --column human=, in Python columns={'human': ''}."
    )


def _says_it(column: str, name: str) -> bool:
    """Whether a header says what its column is, so that nothing is guessed."""
    return name == column or (column == "policy" and name in POLICY_NOUNS)


# What sentences call the things of a table


def _nouns(*groups: str) -> dict[str, str]:
    """Names of columns and the noun that each stands for: the first of its group."""
    return {name: group.split()[0] for group in groups for name in group.split()}


POLICY_NOUNS = _nouns(
    *("policy policy_name policy_id", "model model_name model_id llm provider", "agent agent_name agent_id"),
    *("checkpoint checkpoint_name ckpt", "algorithm algo", "method method_name", "system", "solver", "controller"),
    *("planner", "variant"),
)
"""What is compared, by the name of its column; a column of any other name holds policies."""
ROLLOUT_NOUNS = _nouns(
    *("rollout rollout_id", "episode episode_id episode_index episode_ix", "trial trial_id trial_index", "attempt"),
)
"""A row, by the name of a column that counts rows or tells them apart."""
ASKED_NOUNS = {
    **_nouns("question question_id", "prompt prompt_id", "problem problem_id", "document doc_id doc_hash"),
    **dict.fromkeys(("sample", "sample_id"), "item"),
}
"""What only a model is asked, by the name of its column; a row is a sample there, so a sample's name is an item's."""
ITEM_NOUNS = ASKED_NOUNS | _nouns(
    *("item item_id", "example example_id", "instance instance_id", "case case_id test_case", "test")
)
"""What is shared by the rows of a pair, by the name of its column."""
TASK_NOUNS = _nouns("task", "benchmark", "skill", "scenario")


def words_of(named: Mapping[str, str]) -> Words:
    """What sentences call the things of a table, by its users' own names of the columns; the usual words for others.

    Args:
        named: What the users call each canonical column; a column that nobody named is not in it.

    Example:
        >>> from surefoot.table.columns import words_of
        >>> words_of({"policy": "model", "condition": "question"}).rollouts
        'samples'
    """
    name = {column: plain(yours) for column, yours in named.items()}
    told = name.get("condition", "")
    asked, item = told in ASKED_NOUNS, ITEM_NOUNS.get(told)
    policy = POLICY_NOUNS.get(name.get("policy", ""), "model" if asked and "policy" not in name else "policy")
    of_models = asked or (policy == "model" and (item or not {"condition", "robot", "seed"} & set(name)))
    counted = (ROLLOUT_NOUNS.get(name.get(column, "")) for column in ("order", "repeat", "condition"))
    return Words(
        policy=policy,
        rollout=next((noun for noun in counted if noun is not None), "sample" if of_models else "rollout"),
        task=TASK_NOUNS.get(name.get("task", ""), "task"),
        environment=item or ("item" if of_models else "environment"),
    )
