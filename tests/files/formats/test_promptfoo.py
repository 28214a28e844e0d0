"""promptfoo: `out.json` and `out.jsonl` were written by promptfoo 0.121.20; token counts are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.samples import FIXTURES, put

FOLDER = FIXTURES / "promptfoo"


def tallies(rollouts: sf.Rollouts) -> dict[str, tuple[int, int]]:
    return {group.key[0]: (group.successes, group.outcomes) for group in rollouts.summary()}


def written() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / "out.json").read_text())
    return document


def read(folder: Path, document: Any) -> sf.Rollouts:
    return sf.read(put(folder, "out.json", json.dumps(document)))


def test_totals_are_the_files_own() -> None:
    rollouts = sf.read(FOLDER / "out.json")
    stats = written()["results"]["stats"]
    assert tallies(rollouts) == {"large": (6, 6), "small": (2, 6)}
    assert sum(passed for passed, _ in tallies(rollouts).values()) == stats["successes"]
    assert len(rollouts) == stats["successes"] + stats["failures"] + stats["errors"]
    assert rollouts.findings == ()
    assert any("2 results ended in an error" in str(note) for note in rollouts.notes)


def test_repeats_of_a_test_are_tries_at_one_unit() -> None:
    rollouts = sf.read(FOLDER / "out.json")
    assert rollouts.names("condition") == ("one", '{"x": 2}', '{"x": 3}')
    assert rollouts.names("repeat") == ("1", "2")
    assert (rollouts.design.keys("unit"), rollouts.design.keys("repeat")) == (("condition",), ("repeat",))
    assert rollouts.pairs("large", "small").matched == 6


def test_a_provider_with_several_prompts_is_several_policies() -> None:
    rollouts = sf.read(FOLDER / "out.jsonl")
    assert rollouts.policies == (
        "large / Double {{x}}.",
        "large / terse",
        "small / Double {{x}}.",
        "small / terse",
    )
    assert "repeat" not in rollouts.columns
    assert sf.read(FOLDER / "out.jsonl", columns={"policy": "provider.id"}).policies == ("acme:large", "acme:small")


def test_one_result_alone(tmp_path: Path) -> None:
    one = (FOLDER / "out.jsonl").read_text().splitlines()[0]
    assert sf.read(put(tmp_path, "out.jsonl", one + "\n")).policies == ("small",)


def test_a_named_score_and_a_variable_are_reached_by_name() -> None:
    rollouts = sf.read(FOLDER / "out.json", columns={"score": "exact"}, where={"vars.x": "2"})
    assert rollouts.column("score") == (0.0, 1.0, 0.0, 1.0)
    assert rollouts.names("condition") == ('{"x": 2}',)


def test_a_test_without_words_is_known_by_its_place_and_a_score_in_parts_is_none(tmp_path: Path) -> None:
    document = written()
    for result in document["results"]["results"]:
        result |= {"vars": {}, "testCase": {}, "description": None, "namedScores": {"exact": {"part": 1}}}
    rollouts = read(tmp_path, document)
    assert rollouts.names("condition") == tuple(f"test {place}" for place in range(6))
    with pytest.raises(sf.DataError, match=r"`score` \(column 'exact'\) must be a column"):
        sf.read(tmp_path / "out.json", columns={"score": "exact"})


def test_runs_pair_though_tests_moved(tmp_path: Path) -> None:
    moved = written()
    for result in moved["results"]["results"]:
        result["testIdx"] += 7
    now = read(tmp_path, moved)
    before = sf.read(FOLDER / "out.json")
    assert set(now.column("condition")) == set(before.column("condition"))


def test_tests_alike_but_for_their_assertions_are_two(tmp_path: Path) -> None:
    document = written()
    for result in document["results"]["results"]:
        result["vars"] = result["testCase"]["vars"] = {"x": 1}
        result["testCase"]["description"] = None
    assert len(read(tmp_path, document).names("condition")) == 3


def test_summaries_of_earlier_versions_write_no_places(tmp_path: Path) -> None:
    document = written()
    for result in document["results"]["results"]:
        del result["testIdx"], result["promptIdx"], result["testCase"]
        result["provider"] = result["provider"]["id"]
    for shape in (document, {**document["results"], "version": 2}):
        rollouts = read(tmp_path, shape)
        assert tallies(rollouts) == {"acme:large": (6, 6), "acme:small": (2, 6)}
        assert rollouts.names("repeat") == ("1", "2")


def test_a_total_that_disagrees_is_found(tmp_path: Path) -> None:
    document = written()
    document["results"]["stats"]["successes"] = 9
    found = read(tmp_path, document).findings
    assert [finding.about for finding in found] == ["own totals disagree"]
    assert "successes" in found[0].says


def test_partial_scores_stay_scores_and_wild_ones_do_not(tmp_path: Path) -> None:
    document = written()
    document["results"]["results"][0]["score"] = 0.5
    assert read(tmp_path, document).column("score")[0] == 0.5
    document["results"]["results"][0]["score"] = 7
    rollouts = read(tmp_path, document)
    assert "score" not in rollouts.columns
    assert any("lie outside [0, 1]" in str(note) for note in rollouts.notes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"success": "yes"}, r"`results\[0\].success` must be true or false; got 'yes'"),
        ({"provider": {}}, r"`results\[0\].provider` must have an id"),
        ({"latencyMs": "fast"}, r"`results\[0\].latencyMs` must be a number"),
        ({"namedScores": 3}, r"`results\[0\].namedScores` must be an object"),
    ],
)
def test_refusals(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    document = written()
    document["results"]["results"][0] |= change
    with pytest.raises(sf.DataError, match=says):
        read(tmp_path, document)


@pytest.mark.parametrize("version", [1, 2])
def test_results_of_earlier_versions_have_no_places(version: int) -> None:
    """Samples by the schemas of promptfoo's results, versions 1 and 2."""
    rollouts = sf.read(FIXTURES / "promptfoo_earlier" / f"version{version}.json")
    assert tallies(rollouts) == {"openai:a": (1, 3), "openai:b": (3, 3)}
    assert rollouts.pairs("openai:a", "openai:b").matched == 3
    assert not rollouts.findings
