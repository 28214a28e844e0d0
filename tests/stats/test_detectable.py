"""What could it have shown, and what would it take: a value, from which the sentence is made."""

import pytest

import surefoot as sf
from surefoot import PairTally, Tally, reference, stats
from surefoot.stats import outlook
from surefoot.stats.detectable import Outlook, outlook_from


def rough(**values):
    kept = {"unit": "pairs", "scale": "gain", "confidence": 0.95, **values}
    return outlook_from(kept.pop("estimate", 0.05), kept.pop("half_width", 0.1), kept.pop("sizes", (100,)), **kept)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("first", "second", "n"), [(0.8, 0.7, 150), (0.95, 0.9, 300), (0.6, 0.5, 400)])
def test_the_closed_form_is_near_the_exact_power_where_that_is_left(first, second, n):
    found = outlook(stats.exact_gain(Tally(round(first * n), n), Tally(round(second * n), n)))
    assert not found.exact
    base = round(second * n) / n
    assert stats.power(base + found.up, base, n).better == pytest.approx(0.8, abs=0.03)
    assert stats.power(base - found.down, base, n).worse == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
def test_the_closed_form_of_pairs_is_near_the_exact_power():
    pairs = outlook(stats.exact_paired_gain(PairTally(150, 42, 38, 70)))
    share = 80 / 300
    assert stats.paired_power((share + pairs.up) / 2, (share - pairs.up) / 2, 300).better == pytest.approx(
        0.8, abs=0.03
    )


def test_what_the_interval_alone_tells_is_near_what_the_table_tells():
    gain = stats.exact_paired_gain(PairTally(150, 42, 30, 78))
    table = outlook(gain)
    half = max(gain.interval.high - gain.estimate, gain.estimate - gain.interval.low)
    alone = rough(estimate=gain.estimate, half_width=half, sizes=(300,))
    assert alone.up == pytest.approx(table.up, rel=0.06)
    assert alone.needed == pytest.approx(table.needed, rel=0.12)


def test_every_value_matters():
    plain = rough()
    assert (plain.up, plain.down) == (plain.up, plain.up)
    assert plain.needed == 818  # (1 + 0.8416 / 1.96)^2 (0.1 / 0.05)^2 100 = 817.3
    assert rough(estimate=0.1).needed == 205
    assert rough(half_width=0.05).needed == 205
    assert rough(sizes=(200,)).needed == 1635
    assert rough(sizes=(100, 100)).needed == 818
    assert rough(sizes=(200, 50)).needed == 654  # 80 of each would be as good
    assert rough(power=0.5).needed == 400
    assert rough(confidence=0.8).needed > plain.needed  # the same width at less confidence is a larger spread
    assert rough(most=0.1).up is None
    same = rough(margin=0.2)
    assert (same.same, same.needed < plain.needed) == (True, True)
    assert rough(margin=0.02).not_worse == 417
    assert rough(margin=0.02, not_worse=True).not_worse is None
    assert rough(estimate=0.3).needed == 101
    assert rough(estimate=0.3, undecided=False).needed == 23


def test_reasons_are_values():
    none = rough(estimate=0.0)
    assert (none.needed, none.reason) == (None, "no gain")
    assert none.wanted == "No gain was observed: no number of rollouts would show one."
    edge = rough(estimate=0.1, margin=0.1)
    assert (edge.needed, edge.reason) == (None, "at margin")
    assert edge.wanted.endswith("The observed gain is as large as the margin: no number of rollouts would decide.")
    assert rough(estimate=-0.1, margin=0.1).wanted.startswith("The observed gain is as large as the margin")


def test_sentences_are_whole_and_count_what_they_say():
    assert rough(unit="clusters", sizes=(12,)).wanted == (
        "About 99 clusters would be needed to tell, if the observed gain is the true one."
    )
    assert rough(unit="clusters", sizes=(12,)).seen.startswith(
        "12 clusters could have shown a true gain of about +14.3 or"
    )
    assert "could not have shown any gain, however large" in rough(most=0.1).seen
    tiny = rough(estimate=1e-5)
    assert tiny.needed > 10**6
    assert tiny.wanted == "More than a million pairs would be needed to tell, if the observed gain is the true one."
    score = rough(scale="score gain", unit="rollouts", sizes=(40, 60), most=5.0)
    assert score.seen == "40 and 60 rollouts could have shown a true gain of about +0.143 or -0.143 with 80% power."
    assert rough(unit="rollouts", sizes=(40, 40)).seen.startswith("40 rollouts each could")
    both = rough(margin=0.02)
    assert both.wanted == (
        "About 417 pairs would be needed to show the first not worse by as much as the margin, about 2,271 pairs to "
        "decide, if the observed gain is the true one."
    )
    assert Outlook.from_dict(both.to_dict()) == both


def test_a_million_is_the_last_number_told():
    gain = stats.exact_gain(Tally(7001, 14042), Tally(7000, 14042))
    assert "More than a million rollouts of each policy would be needed to tell" in str(outlook(gain))


def test_outlook_wants_tallies():
    scores = sf.Scores([0.1, 0.9]), sf.Scores([0.2, 0.3])
    with pytest.raises(TypeError, match="`gain` must compare two tallies or pairs"):
        stats.outlook(reference.betting_gain(*scores))
