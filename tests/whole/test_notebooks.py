"""The notebooks of the docs run from top to bottom, and show what they show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
spec = importlib.util.spec_from_file_location("notebook", ROOT / "tools" / "notebook.py")
assert spec is not None
assert spec.loader is not None
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_what_is_kept_is_what_it_says(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    done = tool.run(json.loads(path.read_text(encoding="utf-8")))
    plain = [
        [
            ["".join(output.get("data", {}).get("text/plain", output.get("text", []))) for output in cell["outputs"]]
            for cell in notebook["cells"]
            if cell["cell_type"] == "code"
        ]
        for notebook in (kept, done)
    ]
    assert plain[0] == plain[1], "run `python tools/notebook.py docs/notebooks/*.ipynb`"
    assert sum("<svg" in "".join(output["data"].get("text/html", [])) for cell in done["cells"]
               for output in cell.get("outputs", []) if "data" in output) >= 4  # fmt: skip
