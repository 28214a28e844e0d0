"""The docs build; it fails when the docs lag behind the code."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path
from types import ModuleType

os.environ["COLUMNS"] = "96"  # help texts wrap the same everywhere

import typer

import surefoot
from surefoot.cli.main import application

HERE = Path(__file__).parent
LAZY = ["surefoot", "surefoot.stats", "surefoot.sequential", "surefoot.reference"]
WORDS = [
    "policy",
    "task",
    "rollout",
    "score",
    "success",
    "tally",
    "rate",
    "estimate",
    "pair",
    "gain",
    "margin",
    "confidence",
    "power",
    "interval",
    "bound",
    "band",
    "evidence",
    "p-value",
    "verdict",
    "plan",
    "study",
    "turn",
    "event",
    "log",
    "void",
    "audit",
    "report",
]

project = "surefoot"
author = "The surefoot authors"
copyright = "2026, the surefoot authors"
release = version = surefoot.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
napoleon_custom_sections = [("Assumptions", "notes_style"), ("Reference", "notes_style")]
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
html_theme = "furo"
html_title = "surefoot"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "../src/surefoot/console/static/mark.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5d66", "color-brand-content": "#0b5d66"},
    "dark_css_variables": {"color-brand-primary": "#6cc5cf", "color-brand-content": "#6cc5cf"},
}
html_copy_source = html_show_sourcelink = False
exclude_patterns = ["_build", "decisions/template.md"]
nitpicky = False


def commands(command: object, path: str) -> list[tuple[str, str]]:
    """Every command with its help text."""
    context = command.make_context(path, [], resilient_parsing=True)
    context.info_name = path
    found = [(path, command.get_help(context))]
    for name, child in sorted(getattr(command, "commands", {}).items()):
        found += commands(child, f"{path} {name}")
    return found


def write_commands() -> list[str]:
    """One page of every command's `--help`, and their names."""
    pages = commands(typer.main.get_command(application()), "surefoot")
    body = ["# Commands, as `--help` prints them\n"]
    body += [f"## `{name}`\n\n```text\n{text}\n```\n" for name, text in pages]
    target = HERE / "reference" / "commands-help.md"
    text = "\n".join(body)
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
    return [name for name, _ in pages]


def missing() -> list[str]:
    """What the code has and the docs have not."""
    api = (HERE / "reference" / "api.md").read_text()
    overview = (HERE / "reference" / "commands.md").read_text()
    glossary = (HERE / "glossary.md").read_text()
    lacks = []
    for room in LAZY:
        for name in importlib.import_module(room)._HOMES:
            if not re.search(rf"{re.escape(room)}\.{name}\b", api):
                lacks.append(f"{room}.{name} is not in reference/api.md")
    lacks += [f"`{name}` is not in reference/commands.md" for name in write_commands() if f"`{name}`" not in overview]
    lacks += [f"{word!r} is not in glossary.md" for word in WORDS if not re.search(rf"(?m)^{word}$", glossary)]
    return lacks


def draw_figures() -> None:
    """Every figure of the docs that is not made by a script of its own: how often intervals hold the truth."""
    from matplotlib.ticker import PercentFormatter

    from surefoot import stats
    from surefoot.reporting import style

    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    rates = [(i + 0.5) / 400 for i in range(400)]
    curves = {
        name: [stats.coverage(method, trials=20, rate=rate) for rate in rates]
        for name, method in (("Wilson", stats.wilson), ("Clopper-Pearson", stats.clopper_pearson), ("Wald", stats.wald))
    }
    with style.drawing():
        figure, axes = style.canvas(7.0, 4.0)
        axes.axhline(0.95, color=style.FAINT, linewidth=1.0)
        axes.annotate("promised", (1, 0.95), xytext=(4, -3), textcoords="offset points", annotation_clip=False)
        for (name, values), colour, dash in zip(curves.items(), style.COLOURS, ("-", "--", "-."), strict=False):
            axes.plot(rates, values, dash, color=colour, linewidth=1.4, label=name)
        axes.set(xlim=(0, 1), ylim=(0.7, 1.005), xlabel="true success rate", ylabel="how often the interval holds it")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_title("Exact coverage of 95% intervals, n = 20 rollouts", loc="left", fontsize=11)
        axes.legend(loc="lower center", ncols=len(curves), frameon=False)
    style.save(figure, folder / "coverage.svg")


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "tools" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def write_notebooks() -> None:
    """Every notebook as a page, run anew."""
    notebook = tool("notebook")
    for path in sorted((HERE / "notebooks").glob("*.ipynb")):
        done = notebook.run(json.loads(path.read_text(encoding="utf-8")))
        (path.parent / f"{path.stem}.md").write_text(notebook.page(done), encoding="utf-8")


draw_figures()
tool("gallery").main()
write_notebooks()
LACKS = missing()
if LACKS:
    raise RuntimeError("The docs lag behind the code:\n  " + "\n  ".join(LACKS))
