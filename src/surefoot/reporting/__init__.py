"""Results in, pages and pictures out: formats, never computes."""
