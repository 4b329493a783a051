"""Metrics over questions, chunks and rankings. `relevant` before retrieval, `score` after it; families are found in this folder."""
