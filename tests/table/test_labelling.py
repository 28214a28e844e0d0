"""Tests of `surefoot.table.labelling`."""

import pytest

import surefoot as sf
from tests.support.label_files import filled, frame, unlabelled


def test_the_method_is_fixed_when_labels_are_joined(tmp_path):
    full = frame()
    path = filled(sf.draw_labels(unlabelled(full), 40, seed=7), full, tmp_path)
    joined = sf.label(unlabelled(full), path, method="labels")
    assert sf.judged_gain(joined, "a", "b").found.left_out.value == "asked"
    with pytest.raises(ValueError, match="`method` must be one of judge, labels"):
        sf.label(unlabelled(full), path, method="narrower")
