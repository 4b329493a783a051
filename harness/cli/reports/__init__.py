"""The words that `chunk-sweep report` understands, each a file with `parser` and `main`."""
