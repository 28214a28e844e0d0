"""What an Inspect eval is compared with: the scores of a baseline log, and whether its samples are the same items."""

from __future__ import annotations

import pytest

from surefoot.errors import DataError
from surefoot.integrations.inspect_baselines import chosen, known_of, paired

pytest.importorskip("inspect_ai")

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec
from inspect_ai.scorer import Score


def log(*values: object) -> EvalLog:
    """A log of one sample with an epoch for each value."""
    spec = EvalSpec(
        created="2026-11-15T00:00:00Z", task="quiz", dataset=EvalDataset(), model="mockllm/old", config=EvalConfig()
    )
    samples = [
        EvalSample(id="q", epoch=at, input="one and one", target="2", scores={"match": Score(value=value)})
        for at, value in enumerate(values, 1)
    ]
    return EvalLog(eval=spec, samples=samples, location="old.eval")


def test_a_sample_has_the_mean_of_its_epochs():
    known = known_of(log("C", "P", "I"), None, 0.0)
    assert (known.where, known.model, known.scorer, known.scores) == ("old.eval", "mockllm/old", "match", {"q": 0.5})


def test_the_same_id_must_be_the_same_item():
    known = known_of(log("C"), None, 0.0)
    assert paired([Sample(id="q", input="one and one", target="2")], known) == ("q",)
    with pytest.raises(DataError, match="q has another input or target there"):
        paired([Sample(id="q", input="one and one", target="3")], known)
    with pytest.raises(DataError, match="it lacks 1: other"):
        paired([Sample(id="other", input="one and one")], known)


def test_a_value_is_a_grade_a_number_or_one_of_several():
    assert [chosen({"match": value}, "match", "here") for value in ("C", "P", True, "0.25")] == [1.0, 0.5, 1.0, 0.25]
    assert chosen({"graded": {"tone": 0.75}}, "graded.tone", "here") == 0.75
    with pytest.raises(DataError, match="the score must be C, I, P, N or a"):
        chosen({"match": "great"}, "match", "here")
