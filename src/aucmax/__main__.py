"""``python -m aucmax``: the command line."""

from aucmax.cli import main

if __name__ == "__main__":
    main(prog_name="python -m aucmax")
