"""A model card and a file of `.eval_results`, read back by huggingface_hub where it is installed."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.integrations.hugging_face import eval_results, model_card

RATE = sf.stats.wilson(sf.Tally(38, 50))


def test_the_text_says_how_sure():
    said = eval_results(RATE, dataset='a "b"', task="t", date="2026-11-19", source="https://x.y", notes="no tools")
    assert said.splitlines()[1] == '    id: "a \\"b\\""'
    assert said.endswith('  notes: "no tools; 95% interval [62.5%, 85.8%], n = 50, Wilson"\n')
    assert "| cais/hle | 76.0% | 95% interval [62.5%, 85.8%] | 50 |" in model_card(RATE, model="m", dataset="cais/hle")


def test_one_estimate_is_needed():
    with pytest.raises(ValueError, match="`result` must hold one estimate, such"):
        eval_results(sf.stats.clopper_pearson_lower(sf.Tally(9, 10)), dataset="d")


def test_the_hub_reads_both():
    hub = pytest.importorskip("huggingface_hub")
    yaml = pytest.importorskip("yaml")
    said = eval_results(RATE, dataset="cais/hle", task="hle", date="2026-11-19", source="https://x.y")
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(said))
    assert (entry.dataset_id, entry.task_id, entry.value, entry.date) == ("cais/hle", "hle", 0.76, "2026-11-19")
    assert entry.notes == "95% interval [62.5%, 85.8%], n = 50, Wilson"
    card = hub.ModelCard(model_card(RATE, model="me/mine: 1", dataset="cais/hle", metric="accuracy"))
    (found,) = card.data.eval_results
    assert (found.metric_value, found.dataset_type, found.metric_type) == (0.76, "cais/hle", "accuracy")
    assert "[62.5%, 85.8%], n = 50" in found.metric_name
