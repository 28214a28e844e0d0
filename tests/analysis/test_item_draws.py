"""A draw of items for every night, and the mean of the whole list from it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis.item_draws import draw_items, whole_list


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
