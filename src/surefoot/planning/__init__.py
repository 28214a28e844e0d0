"""Sample sizes, before the first rollout.

`plan_rate` and `plan_bound` plan one success rate, `plan_band` and `plan_mean` a score, `plan_comparison`,
`plan_paired_comparison` and `plan_sequential` two policies, `plan_ranking` many; all are names of `surefoot`.
"""

from surefoot import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, {})
