"""Who carries out a turn: a Python function, a command, or a Gymnasium environment."""
