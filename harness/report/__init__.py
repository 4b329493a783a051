"""Results for people: the verdict in words, tables, figures."""
