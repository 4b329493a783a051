"""The formats that `chunk-sweep data import` understands, each a file with a `FORMAT`."""
