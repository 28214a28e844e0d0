"""`surefoot plan`: how many rollouts, before the first?"""

from __future__ import annotations

import typer

app = typer.Typer(help="How many rollouts, before the first one?", no_args_is_help=True, rich_markup_mode=None)
