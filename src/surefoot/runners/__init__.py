"""Who carries out a turn: a Python function, or a command."""
