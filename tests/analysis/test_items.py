"""Tests of `surefoot.analysis.items`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis.items import Items, draw_items, whole_list


def table(rates: dict[str, list[float]], repeats: int = 8, seed: int = 1) -> sf.Rollouts:
    """Rollouts of policies on items q0, q1, ... at these rates."""
    rng = np.random.default_rng(seed)
    rows = [
        (policy, f"q{place}", epoch, int(rng.random() < rate))
        for policy, each in rates.items()
        for place, rate in enumerate(each)
        for epoch in range(repeats)
    ]
    return sf.read(pl.DataFrame(rows, schema=["model", "question", "epoch", "success"], orient="row"))


def test_saturated_flaky_and_suspicious_items_are_named():
    base = [1.0] * 10 + [0.0] * 10
    weak, strong = [*base, *[0.05] * 20, 0.5, 0.95], [*base, *[0.95] * 20, 0.5, 0.05]
    found = sf.items(table({"a": weak, "b": weak, "c": strong, "d": strong}, repeats=10))
    assert {one.name for one in found.always_pass} == {f"q{place}" for place in range(10)}
    assert {one.name for one in found.always_fail} == {f"q{place}" for place in range(10, 20)}
    assert [one.name for one in found.flaky] == ["q40"]
    assert [one.name for one in found.suspicious] == ["q41"]
    said = str(found)
    for words in ("10 always pass", "10 always fail", "Flaky: 'q40'", "Suspicious: 'q41'"):
        assert words in said
    (reversed_item,) = found.suspicious
    assert reversed_item.discrimination is not None
    assert reversed_item.discrimination < -0.9
    assert Items.from_dict(found.to_dict()) == found


def test_counts_are_those_of_the_rows_whatever_their_order():
    rollouts = table({"a": [0.5] * 4, "b": [0.7] * 4}, repeats=5)
    found = sf.items(rollouts)
    rows = rollouts.polars()
    for one in found.items:
        mine = rows.filter(pl.col(rollouts.design.unit_column.key) == one.name)
        assert (one.tally.successes, one.tally.trials) == (mine["success"].sum(), mine.height)
        assert one.disagreements[1] == 4  # of five repeats two pairs each, for two policies
    assert found.table().height == 4
    assert found.table()["rollouts"].sum() == found.rollouts == 40


def test_one_rollout_each_shows_nothing_flaky_and_says_so():
    found = sf.items(table({"a": [0.5] * 30, "b": [0.5] * 30}, repeats=1))
    assert found.flaky == ()
    assert "nothing can be shown to be flaky" in str(found)


def test_what_cannot_be_asked_is_refused():
    rows = pl.DataFrame({"policy": ["a", "b"] * 5, "success": [1, 0] * 5})
    with pytest.raises(sf.DataError, match="tell items apart"):
        sf.items(sf.read(rows))
    scores = pl.DataFrame({"policy": ["a", "b"] * 5, "item": [str(i // 2) for i in range(10)], "score": [0.5] * 10})
    with pytest.raises(sf.DataError):
        sf.items(sf.read(scores))


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [2, 5])
def test_null_tables_name_an_item_in_at_most_five_in_a_hundred(repeats):
    """Items of one law, policies that differ: 2,000 tables of 40 items."""
    named = 0
    for seed in range(2000):
        rates = {name: [rate] * 40 for name, rate in (("a", 0.3), ("b", 0.6), ("c", 0.8))}
        found = sf.items(table(rates, repeats, seed))
        named += bool(found.flaky or found.suspicious)
    assert binom.sf(named - 1, 2000, 0.05) > 1e-3


def results(seed: int, *, items: int = 400, policies: int = 5, spread: float = 0.5) -> tuple[pl.DataFrame, np.ndarray]:
    """Earlier policies on a list whose items differ by so much (small is much), and the items' rates."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(spread * 0.6, spread * 0.4, items)
    rows = [(f"m{k}", f"q{at}", int(rng.random() < rates[at])) for k in range(policies) for at in range(items)]
    return pl.DataFrame(rows, schema=["model", "item", "success"], orient="row"), rates


def tonight(path, outcomes: dict[str, int], *, lacking: int = 0) -> pl.DataFrame:
    """What a night gives: the items to be run, in the file's order, but for some that are lacking."""
    drawn = pl.read_csv(path).filter(pl.col("run") == 1)["item"].to_list()[lacking:]
    return pl.DataFrame({"model": ["new"] * len(drawn), "item": drawn, "success": [outcomes[one] for one in drawn]})


def kept(found, folder):
    """The file of a draw."""
    path = folder / "nightly.csv"
    found.table().write_csv(path)
    return path


def test_predictions_are_taken_where_they_help():
    earlier, _ = results(1)
    helped = draw_items(earlier, 80, rng=7)
    assert helped.half_width < helped.plain
    assert (len(helped.items), len(helped.predictions), helped.run) == (400, 400, 80)
    means = dict(earlier.group_by("item").agg(pl.col("success").mean()).iter_rows())
    assert helped.predictions == pytest.approx([means[one] for one in helped.items])
    alike, _ = results(1, spread=1000.0)
    plain = draw_items(alike, 80, rng=7)
    assert (plain.predictions, plain.within, plain.half_width) == ((), None, plain.plain)
    assert "would not help" in str(plain)
    ends = sf.stats.population_rate(sf.Tally(40, 80), population=400)
    assert plain.plain == (ends.high - ends.low) / 2.0
    assert draw_items(earlier, 80, rng=7) == helped
    assert draw_items(earlier, 80, rng=8).items != helped.items
    alone = draw_items(earlier.filter(pl.col("model") == "m0"), 80, rng=7, unit="item")
    assert alone.predictions == ()


@pytest.mark.parametrize("spread", [0.5, 1000.0])
def test_the_next_run_reads_the_file(tmp_path, spread):
    earlier, rates = results(2, spread=spread)
    path = kept(draw_items(earlier, 80, rng=7), tmp_path)
    outcomes = {f"q{at}": int(np.random.default_rng(at).random() < rates[at]) for at in range(400)}
    found = whole_list(tonight(path, outcomes), path)["new"]
    whole = np.mean(list(outcomes.values()))
    assert found.low <= whole <= found.high
    shuffled = tonight(path, outcomes).sample(fraction=1.0, shuffle=True, seed=3)
    assert whole_list(shuffled, path)["new"] == found


def test_nothing_is_left_out_and_nothing_is_guessed(tmp_path):
    earlier, _ = results(3)
    path = kept(draw_items(earlier, 80, rng=7), tmp_path)
    outcomes = {f"q{at}": at % 2 for at in range(400)}
    with pytest.raises(sf.DataError, match=r"every item drawn must have an outcome; 'new' lacks 5: .* A crash is"):
        whole_list(tonight(path, outcomes, lacking=5), path)
    with pytest.raises(sf.DataError, match="one column must hold the items drawn; none does"):
        whole_list(pl.DataFrame({"model": ["new"] * 9, "item": list("abcdefghi"), "success": [1] * 9}), path)
    sorted_by_hand = tmp_path / "sorted.csv"
    pl.read_csv(path).sort("item").write_csv(sorted_by_hand)
    with pytest.raises(sf.DataError, match="the items to be run must come first, as they were drawn"):
        whole_list(tonight(path, outcomes), sorted_by_hand)
    with pytest.raises(ValueError, match="`number` must be below 400, the items of the list; got 400"):
        draw_items(earlier, 400, rng=7)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.5, 1000.0])
def test_the_interval_holds_the_mean_of_the_whole_list(tmp_path, spread):
    missed, nights = 0, 300
    earlier, rates = results(4, items=200, spread=spread)
    rng = np.random.default_rng(5)
    outcomes = {f"q{at}": int(rng.random() < rates[at]) for at in range(200)}
    whole = np.mean(list(outcomes.values()))
    for night in range(nights):  # the draw is what is random
        path = kept(draw_items(earlier, 40, rng=night), tmp_path)
        found = whole_list(tonight(path, outcomes), path)["new"]
        missed += not found.low <= whole <= found.high
    assert binom.sf(missed - 1, nights, 0.05) > 1e-4
