"""Tests of `surefoot.files.formats.matrix`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.core.notes import Note
from surefoot.files.importers import NoOutcomesError
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put

SHARED = Path(__file__).parents[4] / "shared" / "data"
ITEMS = [f"django-{at}" for at in range(12)]
ALPHA, BETA = "101101110010", "001101110110"


def matrix(first: str, *rows: tuple[str, str]) -> str:
    return "\n".join([",".join((first, *ITEMS)), *(",".join((name, *cells)) for name, cells in rows), ""])


@pytest.mark.parametrize("first", ["model", "", "name", "subject_id", "Agent"])
def test_rows_are_models_and_columns_items(tmp_path: Path, first: str) -> None:
    rollouts = sf.read(put(tmp_path, "m.csv", matrix(first, ("alpha", ALPHA), ("beta", BETA))))
    assert tallies(rollouts) == {("alpha",): (7, 12), ("beta",): (7, 12)}
    assert set(rollouts.column("condition")) == set(ITEMS)
    assert rollouts.pairs("alpha", "beta").matched == 12
    told = Note("models by items", {"column": first, "items": 12, "kind": "success", "empty": 0})
    assert told in rollouts.notes


@pytest.mark.parametrize(("first", "names"), [("model", ("gpt4", "o3")), ("", ("model-1", "model-2"))])
def test_models_may_be_numbered(tmp_path: Path, first: str, names: tuple[str, str]) -> None:
    rollouts = sf.read(put(tmp_path, "m.csv", matrix(first, (names[0], ALPHA), (names[1], BETA))))
    assert tallies(rollouts) == {(names[0],): (7, 12), (names[1],): (7, 12)}


def test_a_word_among_outcomes_is_refused_with_its_place_and_a_column_of_words_is_not_used(tmp_path: Path) -> None:
    text = matrix("model", ("alpha", ALPHA), ("beta", BETA))
    with pytest.raises(sf.DataError, match=r"'beta' and 'django-0' must be a success or a failure; got 'good'"):
        sf.read(put(tmp_path, "m.csv", text.replace("beta,0", "beta,good")))
    beside = text.replace("model,", "model,vendor,").replace("alpha,", "alpha,north,").replace("beta,", "beta,south,")
    rollouts = sf.read(put(tmp_path, "v.csv", beside))
    assert tallies(rollouts) == {("alpha",): (7, 12), ("beta",): (7, 12)}
    assert Note("unused columns", {"columns": ("vendor",)}) in rollouts.notes


def test_numbers_of_rows_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError):
        sf.read(put(tmp_path, "m.csv", matrix("model", ("1", ALPHA), ("2", BETA))))


def test_the_other_way_round_gives_the_same_pairs(tmp_path: Path) -> None:
    rows = [f"{item},{one},{two}" for item, one, two in zip(ITEMS, ALPHA, BETA, strict=True)]
    turned = sf.read(put(tmp_path, "t.csv", "\n".join(["item,alpha,beta", *rows, ""])))
    own = sf.read(put(tmp_path, "m.csv", matrix("model", ("alpha", ALPHA), ("beta", BETA))))
    assert tallies(turned) == tallies(own)
    assert sf.compare(turned, "alpha", "beta").gain == sf.compare(own, "alpha", "beta").gain


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(["0", "1", ""]), min_size=12, max_size=12), min_size=2, max_size=5))
def test_every_filled_cell_is_one_outcome(tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]) -> None:
    told = [cell for row in cells for cell in row if cell]
    if not {"0", "1"} <= set(told):
        return
    text = "\n".join([",".join(("model", *ITEMS)), *(",".join((f"m{at}x", *row)) for at, row in enumerate(cells)), ""])
    rollouts = sf.read(put(tmp_path_factory.mktemp("m"), "m.csv", text))
    assert len(rollouts) == len(told)
    assert sum(group.successes for group in rollouts.summary()) == told.count("1")
    empty = sum(note.values["empty"] for note in rollouts.notes if isinstance(note, Note) and "empty" in note.values)
    assert empty == 12 * len(cells) - len(told)


def test_totals_beside_and_below_are_left_out_and_said(tmp_path: Path) -> None:
    text = (FIXTURES / "matrix" / "models_by_items.csv").read_text().splitlines()
    below = ["mean", *["0.5"] * 12]
    table = [f"{text[0]},total", *(f"{line},{line.count(',1')}" for line in text[1:]), ",".join((*below, "6"))]
    rollouts = sf.read(put(tmp_path, "m.csv", "\n".join(table) + "\n"))
    assert tallies(rollouts) == tallies(sf.read(FIXTURES / "matrix" / "models_by_items.csv"))
    kinds = {note.kind: note.values for note in rollouts.notes if isinstance(note, Note)}
    assert kinds["unused columns"] == {"columns": ("total",)}
    assert kinds["total rows"] == {"lines": (5,), "names": ("mean",)}


def test_shares_of_trials_are_scores(tmp_path: Path) -> None:
    head = ",".join(("model", *(f"task-{at}" for at in range(20))))
    rows = [",".join((name, *(f"{(at * step) % 6 / 5:g}" for at in range(20)))) for name, step in (("a", 1), ("b", 5))]
    rollouts = sf.read(put(tmp_path, "m.csv", "\n".join([head, *rows, ""])))
    assert rollouts.policies == ("a", "b")
    assert len(rollouts.column("score")) == 40


@pytest.mark.parametrize(
    "text",
    [
        ",mmlu,gsm8k\nllama,0.71,0.5\nqwen,0.8,0.4\n",
        "rank,model,mmlu,gsm8k\n1,llama,71.2,50.1\n2,qwen,70.0,40.2\n",
        "model,size,mmlu,gsm8k,arc\nllama,7B,71.2,50.1,3\nqwen,8B,70.0,-,4\n",
        "model,mmlu\nllama,71.2 ± 0.4\nqwen,70.1 ± 0.5\n",
    ],
)
def test_a_leaderboard_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(NoOutcomesError, match="this is a leaderboard, with a row a model"):
        sf.read(put(tmp_path, "l.csv", text))


def test_a_leaderboard_met_in_a_folder_is_left_out_and_said(tmp_path: Path) -> None:
    put(tmp_path, "board.csv", "model,mmlu,gsm8k\nllama,0.71,0.5\nqwen,0.8,0.4\n")
    put(tmp_path, "rollouts.csv", "policy,success\nnew,1\nold,0\n")
    rollouts = sf.read(tmp_path)
    assert rollouts.policies == ("new", "old")
    assert any("leaderboard" in str(note) and "It is left out." in str(note) for note in rollouts.notes)


def test_the_cure_reads_columns_that_are_policies(tmp_path: Path) -> None:
    path = put(tmp_path, "w.csv", ",ACT,DP\nleft,0.25,0.5\nright,0.75,1\n")
    with pytest.raises(NoOutcomesError, match=r'one rollout, policies_in=\["ACT", "DP"\]'):
        sf.read(path)
    assert sf.read(path, policies_in=["ACT", "DP"]).policies == ("ACT", "DP")


@pytest.mark.parametrize(
    ("text", "policies"),
    [
        ("run,ACT,DP\n1,0.25,0.5\n2,0.75,1\n", ("ACT", "DP")),
        ("run,ACT,DP\nrun 1,0.25,0.5\nrun 2,0.75,1\n", ("ACT", "DP")),
        (",ACT,DP\n0,0.25,0.5\n1,0.75,1\n", ("ACT", "DP")),
        (",ACT,DP\nleft,1,0\nright,1,1\n", ("ACT", "DP")),
    ],
)
def test_a_column_per_policy_stays_one(tmp_path: Path, text: str, policies: tuple[str, ...]) -> None:
    assert sf.read(put(tmp_path, "w.csv", text)).policies == policies


@pytest.mark.parametrize(
    ("name", "count", "policies"),
    [("swebench/verified.csv", 33_500, 67), ("roboarena/per_trial_binary_data.csv", 4_554, 7)],
)
def test_published_matrices_of_items_by_systems(name: str, count: int, policies: int) -> None:
    if not (SHARED / name).is_file():
        pytest.skip("the published data are not here")
    rollouts = sf.read(SHARED / name)
    assert (len(rollouts), len(rollouts.policies)) == (count, policies)


def test_a_published_matrix_turned_and_a_published_leaderboard(tmp_path: Path) -> None:
    if not SHARED.is_dir():
        pytest.skip("the published data are not here")
    lines = list(csv.reader((SHARED / "swebench" / "verified.csv").read_text().splitlines()))
    rows = [["model", *(line[0] for line in lines[1:])], *list(zip(*lines, strict=True))[1:]]
    rollouts = sf.read(put(tmp_path, "turned.csv", "\n".join(map(",".join, rows)) + "\n"))
    assert tallies(rollouts) == tallies(sf.read(SHARED / "swebench" / "verified.csv"))
    with pytest.raises(NoOutcomesError, match="'Human agreement'"):
        sf.read(SHARED / "matrices" / "alpaca_evaluators_leaderboard.csv")
