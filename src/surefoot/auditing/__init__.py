"""What can a table of rollouts not support? Findings, and the checks that make them."""
