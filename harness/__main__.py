"""`python -m harness …` and the command `chunk-sweep …` are the same."""

from harness.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
