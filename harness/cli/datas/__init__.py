"""The words that `chunk-sweep data` understands, each a file with `parser` and `main`."""
