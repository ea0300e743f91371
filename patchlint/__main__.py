"""``python -m patchlint``."""

from patchlint.cli.main import main

if __name__ == "__main__":
    main()
