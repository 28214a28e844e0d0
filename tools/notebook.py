"""Run a notebook's cells and keep what they show: `python tools/notebook.py docs/notebooks/first-look.ipynb`.

No Jupyter is needed: a cell is plain Python, and its last expression is shown by `_repr_html_`, as a notebook does.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

FENCE = "```"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its code cells, each run in the names of those before it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"], cell["outputs"] = count, _outputs("".join(cell["source"]), names, count)
    return notebook


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"output_type": "execute_result", "execution_count": count, "data": data, "metadata": {}})
    return outputs


def page(notebook: dict[str, Any]) -> str:
    """The notebook as a page of the docs."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"{FENCE}python\n{source}\n{FENCE}")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f"{FENCE}{{raw}} html\n{''.join(data['text/html'])}\n{FENCE}")
            else:
                text = "".join(data.get("text/plain", output.get("text", [])))
                parts.append(f"{FENCE}text\n{text.rstrip()}\n{FENCE}")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Run the notebooks named and write them back."""
    for path in map(Path, sys.argv[1:]):
        done = run(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
