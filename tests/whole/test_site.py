"""Does the site work as a folder of files, without a server: is it searched?"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("furo")

ROOT = Path(__file__).parents[2]
KEPT = ("extensions", "html_theme", "html_theme_options", "myst_enable_extensions", "myst_heading_anchors")
PAGES = {
    "index": "# surefoot\n\n```{toctree}\nmeasuring\nranking\n```\n",
    "measuring": "# One rate\n\nWilson made the interval.\n",
    "ranking": "# Many policies\n\nLetters tell who differs.\n",
}


def settings() -> str:
    """The settings of the real site that a small one needs, as they stand in docs/conf.py."""
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8"))
    found = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in KEPT
    ]
    assert len(found) == len(KEPT)
    return "\n".join(found)


@pytest.mark.end_to_end
def test_the_site_is_searched_without_a_server(chromium, tmp_path):
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "conf.py").write_text(settings(), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(tmp_path), str(tmp_path / "site")], check=True
    )
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.fill("input[name=q]", "wilson")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results ul.search li a")
    assert page.locator("#search-results ul.search li a").all_inner_texts() == ["One rate"]
    assert [url for url in asked if not url.startswith("file:")] == []
    page.close()
