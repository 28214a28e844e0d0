"""promptfoo results, `promptfoo eval -o out.json` or `out.jsonl`: one result per test, provider and prompt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import inner, listed, may, need, number, objects, scalar, text, unique
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import first_record, json_records
from surefoot.table.findings import Finding, own_total

ABOUT = About(
    name="promptfoo",
    file="out.json, out.jsonl (promptfoo eval -o)",
    becomes="a provider, with its prompt where it has several, is a policy; a test is the condition",
    example="surefoot compare out.json --first large --second small",
)

MARKS = frozenset(("promptIdx", "testIdx", "success", "provider"))
"""What every result has; in a summary of version 2 and before, it has no places."""
EARLIER = frozenset(("prompt", "vars", "success", "provider"))
SHOWN = 60
"""The characters of a prompt or of a test's variables that a name shows."""
ERROR = 2
"""The `failureReason` of a result that the provider or a grader never gave."""
NAMED = {"policy": "provider", "condition": "test"}


def recognises(head: Head) -> bool:
    """Results with a test's and a prompt's place, in a line each or in the summary of an evaluation."""
    if first_record(head).keys() >= MARKS:
        return True
    summary = _summary(head.json_object)
    record = next(iter(listed(summary, "results")), {})
    return record.keys() >= MARKS or (record.keys() >= EARLIER and isinstance(summary.get("stats"), dict))


def load(head: Head) -> Sheet:
    """One row per result; a provider, with its prompt where it has several, is a policy."""
    if first_record(head).keys() >= MARKS:
        found: Iterable[tuple[str, dict[str, Any]]] = ((f"line {row}", line) for row, line in json_records(head))
        stats = None
    else:
        summary = _summary(head.json_object)
        found = objects(need(summary, "results", list, head.name), head.name, "results")
        stats = may(summary, "stats", dict, head.name)
    results = list(found)
    policies = _policies([result for _, result in results], head.name)
    tests = _tests([result for _, result in results])
    rows = []
    for (place, result), policy, (test, repeat) in zip(results, policies, tests, strict=True):
        rows.append(_row(place, result, head.name) | {"policy": policy, "condition": test, "repeat": repeat})
    unique(((row["policy"], row["condition"], row["repeat"]) for row in rows), "a test's result", head.name)
    notes = ["Tests are matched by description or variables, so that runs with different tests can still be paired."]
    if len({row["repeat"] for row in rows}) > 1:
        notes.append("Results of one test are repeats.")
    else:
        for row in rows:
            del row["repeat"]
    errors = sum(result.get("failureReason") == ERROR for _, result in results)
    if errors:
        notes.append(f"{errors:,} results ended in an error; they count as failures, as promptfoo counts them.")
    notes += _scores(rows)
    totals, records = _totals(stats, rows, errors, head.name), [result for _, result in results]
    return Sheet(
        frame_of(rows, head.name), "promptfoo", tuple(notes), totals, named=NAMED, roles=ITEMS, records=records
    )


def _summary(document: dict[str, Any]) -> dict[str, Any]:
    """The summary of an evaluation, which stands alone or under `results`."""
    found = document.get("results")
    return found if isinstance(found, dict) else document if isinstance(found, list) else {}


def _row(place: str, result: dict[str, Any], source: str) -> dict[str, Any]:
    success = result.get("success")
    if not isinstance(success, bool):
        raise DataError(f"`{place}.success` must be true or false; got {str(success)[:60]!r}.", source=source)
    latency = number(result.get("latencyMs"), source, f"{place}.latencyMs")
    row: dict[str, Any] = {
        "policy": None,
        "condition": None,
        "repeat": None,
        "success": success,
        "score": number(result.get("score"), source, f"{place}.score"),
        "duration": None if latency is None else latency / 1000.0,
        "failure": text(result.get("error")),
    }
    for name, value in (may(result, "namedScores", dict, source, place) or {}).items():
        if scalar(value):
            row[f"score:{name}"] = value
    variables = may(result, "vars", dict, source, place) or {}
    return row | {f"vars:{name}": value for name, value in variables.items() if scalar(value)}


def _policies(results: list[dict[str, Any]], source: str) -> list[str]:
    """The provider of each result, with the prompt where one provider has several."""
    providers = [_provider(place, result, source) for place, result in enumerate(results)]
    prompts: dict[str, dict[Any, str]] = {}
    for provider, result in zip(providers, results, strict=True):
        prompts.setdefault(provider, {}).setdefault(_at(result), _prompt(result))
    names = []
    for provider, result in zip(providers, results, strict=True):
        own = prompts[provider]
        label = own[_at(result)]
        clear = label and list(own.values()).count(label) == 1
        names.append(provider if len(own) == 1 else f"{provider} / {label if clear else f'prompt {_at(result)}'}")
    return names


def _provider(place: int, result: dict[str, Any], source: str) -> str:
    provider = result.get("provider")
    named = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    if not isinstance(named, str) or not named:
        raise DataError(
            f"`results[{place}].provider` must have an id; got {str(provider)[:60]!r}.", source=source, row=place + 1
        )
    return named


def _at(result: Mapping[str, Any]) -> str:
    """Which of all pairs of a provider and a prompt made a result; the prompt itself where places are not written."""
    place = text(result.get("promptIdx"))
    return place if place is not None else _prompt(result)


def _prompt(result: Mapping[str, Any]) -> str:
    prompt = inner(result, "prompt")
    label = prompt.get("label") or prompt.get("display")  # version 1
    return _short(" ".join(label.split())) if isinstance(label, str) else ""


def _tests(results: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Each result's test and which repeat of it: tests of the same description, variables and assertions are one."""
    known: dict[tuple[str, str], str] = {}
    taken: dict[str, int] = {}
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for result in results:
        case = inner(result, "testCase")
        variables = result.get("vars") or case.get("vars")
        said = case.get("description") or result.get("description")
        content = json.dumps([said, variables, case.get("assert")], sort_keys=True, default=str)
        if not variables and not said:
            content = name = f"test {text(result.get('testIdx'))}"
        else:
            name = said if isinstance(said, str) else _short(json.dumps(variables, ensure_ascii=False, default=str))
        if (name, content) not in known:
            taken[name] = taken.get(name, 0) + 1
            known[name, content] = name if taken[name] == 1 else f"{name}#{taken[name]}"
        test = known[name, content]
        run = (test, json.dumps(result.get("provider"), default=str), _at(result))
        seen[run] = seen.get(run, 0) + 1
        found.append((test, seen[run]))
    return found


def _short(name: str) -> str:
    return name if len(name) <= SHOWN else f"{name[: SHOWN - 3]}..."


def _scores(rows: list[dict[str, Any]]) -> list[str]:
    """Leave out a score that says no more than success, or that leaves [0, 1]."""
    scores = [row["score"] for row in rows]
    if all(score is None or score == float(row["success"]) for row, score in zip(rows, scores, strict=True)):
        said = []
    elif any(score is not None and not 0.0 <= score <= 1.0 for score in scores):
        said = ["Some scores lie outside [0, 1], so no column is used as the score."]
    else:
        return []
    for row in rows:
        del row["score"]
    return said


def _totals(stats: dict[str, Any] | None, rows: list[dict[str, Any]], errors: int, source: str) -> tuple[Finding, ...]:
    passed = sum(row["success"] for row in rows)
    counts = {"successes": passed, "failures": len(rows) - passed - errors, "errors": errors}
    found = []
    for name, counted in counts.items():
        says = number((stats or {}).get(name), source, f"stats.{name}")
        if says is not None and says != counted:
            found.append(own_total(f"{name} of {source}", says, counted))
    return tuple(found)
