"""The last line of `--help`: what installed packages add to the values of a command's options."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot import _plugins

OF: dict[str, _plugins.Group] = {
    "rule": "rules",
    "rules": "rules",
    "store": "stores",
    "figures": "figures",
    "runner": "runners",
}
"""What packages can add to the values of a parameter; formats are listed by `surefoot formats`."""


def added_by_packages(parameters: Iterable[str]) -> str:
    """What packages add to the values of these parameters, each with its package; empty where they add nothing."""
    groups = dict.fromkeys(OF[name] for name in parameters if name in OF)
    lines = []
    for group in groups:
        if _plugins.offered(group):
            _load(group)
            names = [f"{name} ({package})" for name, package in _plugins.packages(group).items()]
            lines += [f"{group}: {', '.join(names)}"] if names else []
    return f"Added by installed packages: {'; '.join(lines)}." if lines else ""


def _load(group: _plugins.Group) -> None:
    """Load what packages add to a group, as far as it can be used."""
    if group == "rules":
        from surefoot.sequential import registry

        registry.names()
    elif group == "stores":
        from surefoot.study import stores

        stores.schemes()
    elif group == "figures":
        from surefoot.reporting import figures

        figures.figure_names()
    else:
        from surefoot.runners import added_runners

        added_runners.runner_names()
