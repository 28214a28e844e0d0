"""How does a page become a PDF? By the browser on this machine, with the page's own print style."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from surefoot._files import write_whole

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
SECONDS = 120.0
FLAGS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"),
    *("--disable-component-update", "--disable-sync", "--no-pdf-header-footer"),
)


def pdf(page: str) -> bytes:
    """A page as PDF; every section is there, also those that are closed on the screen.

    Raises:
        ValueError: There is no browser, or it could not print.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise ValueError(
            "A PDF must be printed by a browser, and none is here: install Chromium or Chrome, or write .html and "
            "print it."
        )
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder:
        source, target = Path(folder) / "report.html", Path(folder) / "report.pdf"
        write_whole(source, page)
        alone = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()  # root has no other way
        asked = [browser, *FLAGS, *alone, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}"]
        try:
            subprocess.run([*asked, source.as_uri()], capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"The browser must print within {SECONDS:.0f} seconds; it did not.") from None
        if not target.exists():
            raise ValueError(f"{Path(browser).name} must be able to print; it wrote nothing. Write .html and print it.")
        return target.read_bytes()
