"""Whether a rule is valid for the way rollouts are collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from surefoot import _check
from surefoot._arguments import in_python
from surefoot.sequential import registry
from surefoot.sequential.registry import Environments, Offered, Setting
from surefoot.sequential.rules import R, Rule

_WHY = {
    "shared": "Both rollouts of a pair share their environment, so they are not independent.",
    "stratified": "Both rollouts of a pair come from one stratum, so they are not independent.",
}


def admit(rule: R, environments: Environments, *, randomised: bool) -> R:
    """The rule, when its promise holds for rollouts collected in this way.

    Args:
        rule: The rule.
        environments: "one": every rollout in the same conditions, begun afresh; "shared": both rollouts of a pair in
            the same environment; "independent": each rollout in an environment of its own, drawn at random;
            "stratified": both rollouts of a pair from the same stratum (a task, a scene).
        randomised: Whether the order of the environments was drawn at random.

    Raises:
        ValueError: The rule's promise does not hold; the sentence says which rules to use.

    Example:
        >>> from surefoot.sequential import Savi, admit
        >>> admit(Savi(horizon=50), "shared", randomised=True)
        Traceback (most recent call last):
        ...
        surefoot.errors.ArgumentError: `rule` must hold for shared environments; got theta-SAVI. Both rollouts \
of a pair share their environment, so they are not independent. Use ExactPairedBinary for success, \
FiniteHorizonMixture for scores.
    """
    kinds = get_args(Environments)
    if environments not in kinds:
        raise _check.refused("environments", f"be one of {', '.join(kinds)}", environments)
    if holds(rule, environments, randomised=randomised):
        return rule
    if environments not in rule.environments:
        exact, mixture = in_python("ExactPairedBinary", "exact"), in_python("FiniteHorizonMixture", "mixture")
        must = f"hold for {environments} environments; got {rule.title}. {_WHY.get(environments, '')}".rstrip()
        raise _check.wrong("rule", must, rule, f"Use {exact} for success, {mixture} for scores.")
    betting = f"a betting rule, such as {in_python('FiniteHorizonMixture', 'mixture')}"
    cure = f"Use {betting}, or draw the order of the environments at random."
    raise _check.wrong("rule", f"hold for an order that was not randomised; got {rule.title}.", rule, cure)


def declared(name: str, setting: Setting) -> Offered:
    """The rule of this name as it is declared in a setting, when its promise holds there.

    Args:
        name: The word in plan files.
        setting: What is asked, of which policies, and how rollouts are collected.

    Raises:
        ValueError: There is no such rule, or it does not fit; the sentence says which would.
    """
    rule = registry.one_of(name, setting).made(setting)
    return admit(rule, setting.environments, randomised=setting.randomised) if isinstance(rule, Rule) else rule


def holding(setting: Setting, names: Sequence[str] | None = None) -> list[tuple[type[Offered], Rule[Any]]]:
    """Every rule on two policies that looks as rollouts come in and holds in a setting, the default one first.

    Args:
        setting: What is asked, and how rollouts are collected; its futility goes to the rules that can give up.
        names: The rules wanted, by their words in plan files; left out, all.
    """
    kinds = [kind for kind in registry.kinds() if kind.ranks(2) and not kind.once and setting.measure in kind.measures]
    kinds = [kind for kind in kinds if kind.asked(setting)]
    for name in names or ():
        _check.choice(name, "rules", dict.fromkeys(kind.name for kind in kinds))
    found: list[tuple[type[Offered], Rule[Any]]] = []
    refused: list[ValueError] = []
    for kind in kinds:
        if names is not None and kind.name not in names:
            continue
        try:
            rule = kind.made(setting if kind.gives_up else replace(setting, futility=0.0))
        except ValueError as error:  # such as a horizon too short or too long for an exact table
            refused.append(error)
            continue
        if isinstance(rule, Rule) and holds(rule, setting.environments, randomised=setting.randomised):
            found.append((kind, rule))
    if not found and refused:
        raise refused[-1]
    return found


def holds(rule: Rule[Any], environments: Environments, *, randomised: bool) -> bool:
    """Whether the rule's promise holds for rollouts collected in this way."""
    return environments in rule.environments and (randomised or not rule.needs_random_order)
