"""Run the command line as ``python -m bayesbias``."""

from bayesbias.cli import main

if __name__ == "__main__":
    main()
