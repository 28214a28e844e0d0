"""`python -m surefoot` is `surefoot`."""

from surefoot.cli.main import main

main()
