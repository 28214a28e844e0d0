"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "agresti_coull": "surefoot.stats.rates",
    "clopper_pearson": "surefoot.stats.rates",
    "clopper_pearson_lower": "surefoot.stats.rates",
    "clopper_pearson_upper": "surefoot.stats.rates",
    "jeffreys": "surefoot.stats.rates",
    "wald": "surefoot.stats.rates",
    "wilson": "surefoot.stats.rates",
    "wilson_lower": "surefoot.stats.rates",
    "wilson_upper": "surefoot.stats.rates",
}

if TYPE_CHECKING:
    from surefoot.stats.rates import agresti_coull as agresti_coull
    from surefoot.stats.rates import clopper_pearson as clopper_pearson
    from surefoot.stats.rates import clopper_pearson_lower as clopper_pearson_lower
    from surefoot.stats.rates import clopper_pearson_upper as clopper_pearson_upper
    from surefoot.stats.rates import jeffreys as jeffreys
    from surefoot.stats.rates import wald as wald
    from surefoot.stats.rates import wilson as wilson
    from surefoot.stats.rates import wilson_lower as wilson_lower
    from surefoot.stats.rates import wilson_upper as wilson_upper

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
