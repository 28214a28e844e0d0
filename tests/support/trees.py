"""The syntax trees of the package's files, parsed once for all tests of a process."""

from __future__ import annotations

import ast
import functools
from pathlib import Path


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file; nobody may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))
