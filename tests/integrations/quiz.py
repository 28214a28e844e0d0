"""Real Inspect evals of a mock model, for `test_inspect`; a program of its own, since Inspect warns of its own matters.

Run as ``python quiz.py FOLDER``. What the model answers depends on the question alone, not on when it is asked.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import anyio
from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import TaskState, generate, solver

from surefoot.integrations.inspect import BaselineComparison


def run(folder: str, name: str, rate: float, early_stopping: Any = None, **more: Any) -> EvalLog:
    """One eval of 80 questions by a model that knows this share of them; some names crash at the first attempt."""
    crashing_too = name in ("crashing", "retrying", "skipping")
    tried: list[Any] = []

    async def answer(messages: Any, *others: Any) -> ModelOutput:
        number = messages[-1].text.split()[-1]
        await anyio.sleep(0.01 * random.Random(f"{name} {number}").random())
        output = ModelOutput.from_content("mockllm", number if random.Random(number).random() < rate else "no idea")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it would be counted by download
        return output

    @solver
    def crashing():
        async def solve(state: TaskState, generate: Any) -> TaskState:
            tried.append(state.sample_id)
            if crashing_too and tried.count(state.sample_id) == 1 and str(state.sample_id).endswith("3"):
                raise OSError("the tool is gone")
            return state

        return solve

    items = [Sample(id=f"q{number}", input=f"question {number}", target=str(number)) for number in range(80)]
    task = Task(MemoryDataset(items), solver=[crashing(), generate()], scorer=match(), early_stopping=early_stopping)
    model = get_model(f"mockllm/{name}", custom_outputs=answer)
    return eval(task, model=model, log_dir=folder, display="none", **more)[0]


def main(folder: str) -> None:
    """All evals; what they have come to is printed."""
    old = run(folder, "old", 0.2)
    logs = {
        f"at once {number}": run(
            folder,
            "new",
            0.9,
            BaselineComparison(old.location, about="these items"),
            sample_shuffle=7,
            max_samples=number,
        )
        for number in (1, 12)
    }
    logs["in order"] = run(folder, "new", 0.9, BaselineComparison(old.location))
    crashes: dict[str, dict[str, Any]] = {
        "crashing": {"fail_on_error": False, "score_on_error": True},
        "retrying": {"retry_on_error": 2},
        "skipping": {"fail_on_error": False},
    }
    for name, errors in crashes.items():
        logs[name] = run(folder, name, 0.9, BaselineComparison(old), sample_shuffle=3, **errors)
    logs["epochs"] = run(folder, "new", 0.9, BaselineComparison(old), sample_shuffle=3, epochs=3)
    print(json.dumps({name: [log.location, log.status, log.error and log.error.message] for name, log in logs.items()}))


if __name__ == "__main__":
    main(sys.argv[1])
