"""What several tests of label files share."""

import csv

import surefoot as sf
from tests.analysis.test_judged_gains import table


def frame(epochs=1, items=60, **more):
    return table(epochs=epochs, items=items, labels=items, **more)


def unlabelled(full):
    return sf.read(full.drop("human"))


def filled(draw, full, tmp_path, *, raters=(), leave=0, change=None):
    """A drawn file as a person would fill it in, with the truth behind each code."""
    behind = {row[0]: row[1:] for row in draw.key}
    names = [{"item": "item", "epoch": "epoch", "task": "task"}[name] for name in draw.header[1:]]
    truth = {(*(str(row[name]) for name in names), row["policy"]): row["human"] for row in full.iter_rows(named=True)}
    lines = draw.to_csv().splitlines()
    rows = list(csv.reader(lines[2:]))
    out = [lines[0], lines[1]]
    for place, row in enumerate(rows):
        value = truth[tuple(behind[row[0]])] if place >= leave else ""
        for rater in raters or ("",):
            said = value if change is None else change(value, rater, place)
            out.append(",".join([*row[:-2], str(said), rater]))
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    return path
