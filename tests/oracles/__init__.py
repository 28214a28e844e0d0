"""Slow twins: each method written again from its paper, in plain Python, never from the package's source.

They exist to disagree. Nothing here imports surefoot; inputs and outputs are plain numbers, lists and tuples.
"""
