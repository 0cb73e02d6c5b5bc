"""The command line: parse, call, print. Each command imports what it needs when it runs."""

from bayesbias.cli.app import main

__all__ = ["main"]
