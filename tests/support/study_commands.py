"""What several tests of study commands share."""

from __future__ import annotations

from surefoot.cli.main import run

ROBOT = """
import json, os, random, sys
turn = json.loads(sys.stdin.readline())
assert turn["policy"] == os.environ["SUREFOOT_POLICY"] and turn["code"] == os.environ["SUREFOOT_CODE"]
rng = random.Random(turn["number"])
print("driving", turn["policy"])
print(rng.random() < {"new": 0.97, "old": 0.2}[turn["policy"]])
"""


def said(capsys, *words):
    code = run(["study", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def create(capsys, *more):
    words = ("create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--assume", "0.9,0.3", *more)
    code, out, err = said(capsys, *words)
    assert code == 0, err
    return out
