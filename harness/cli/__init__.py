"""The console command `chunk-sweep` and its verbs, each a file."""
