"""Plan, turns, append-only log, fold, verdict: a live study."""
