"""How is a plan written so that a person can read, judge and change it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.study.plans import Plan

FIELDS = {
    "title": "What the study is called.",
    "policies": "The policies. Every verdict is about the first-named.",
    "claim": '"either" asks which is better; "first better" asks only whether the first is, and needs fewer rollouts.',
    "measure": 'What a rollout gives: "success" (yes or no) or "score" (a number in a range fixed here).',
    "low": "The lowest score possible.",
    "high": "The highest score possible.",
    "levels": "The rubric, when a score can take only these values.",
    "rule": 'The rule that decides. "exact" for successes, "mixture" for scores; also nscore, wsr, savi, fixed.',
    "confidence": "The confidence of the verdict, over all looks together.",
    "horizon": "The most pairs that will be run. Rather too many than too few: a later increase is an amendment.",
    "margin": "A gain that would not matter (0 for none).",
    "environments": (
        "How the environment of each rollout is drawn:\n"
        '  "independent"  each rollout draws its own task and condition at random\n'
        '  "shared"       both policies of a pair meet the same task and condition\n'
        "                 (fewer rollouts if their outcomes go together)\n"
        '  "stratified"   both policies of a pair meet the same kind of environment, each drawn afresh\n'
        '  "one"          every rollout is in the same environment'
    ),
    "tasks": "The tasks; the study mixes them.",
    "conditions": "The initial conditions, scenes or items; the study mixes them too.",
    "blinded": "Whether whoever judges a rollout sees a code in place of the policy.",
    "time_limit": "Seconds a rollout may take.",
    "reset": "What to do before each rollout; shown to the operator.",
    "void_reasons": "Why a pair may be declared not to count. Failing is not a reason.",
    "on_crash": (
        "What a rollout counts as that crashed, ran out of time or gave an unreadable answer:\n"
        '  "failure"      a failure; of scores, the lowest\n'
        '  "void"         its pair does not count, and another is run\n'
        '  "retry"        it is run again, three times at most; the report counts that by policy'
    ),
}
EXAMPLES = {
    "levels": [0.0, 0.5, 1.0],
    "tasks": ["place mug", "fold towel"],
    "conditions": ["lid left", "lid right"],
    "time_limit": 90.0,
    "reset": "Put the mug on the blue mark.",
}
HEAD = """\
# The plan of a study, for `surefoot study create`. All of it is fixed before the first rollout and fingerprinted.
# A later change of the question, the rule, the confidence, the horizon or the range is possible (an amendment, with a
# reason), but after the first result it makes the verdict exploratory, and the report says so. A decision stays: after
# it, none of these can be changed.
"""


def written(plan: Plan) -> str:
    """The plan as commented TOML; what was left out stands as a commented example."""
    lines = [HEAD]
    for name, comment in FIELDS.items():
        if plan.measure == "success" and name in ("low", "high", "levels"):
            continue
        value = getattr(plan, name)
        if len(plan.policies) > 2:  # what is a pair of two is a round of more
            comment = comment.replace("pair", "round").replace("both policies", "all policies")
        lines += [f"# {part}" for part in comment.split("\n")]
        left_out = name in EXAMPLES and not value
        shown = EXAMPLES[name] if left_out else value
        lines += [f"{'# ' if left_out else ''}{name} = {_toml(shown)}", ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """One value; JSON writes strings, numbers and lists as TOML reads them, but for the delete character."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")
