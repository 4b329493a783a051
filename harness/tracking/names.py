"""What MLflow's page shows: the metrics that people sort by, curves over k, and the tags that tie runs together."""

from __future__ import annotations

import re

LOGGED_METRICS = (
    "answer_existence",
    "answer_coverage",
    "complete_at_5",
    "complete_at_10",
    "complete_within_512",
    "complete_within_1024",
    "complete_within_2048",
    "complete_within_2048_low",
    "complete_within_2048_high",
    "complete_within_4096",
    "hit_rate_at_5",
    "recall_at_5",
    "mrr_at_20",
    "ndcg_at_10",
    "half_answer_rate_at_5",
    "claim_above_exception_rate",
    "discrimination",
    "auc",
    "selectivity_bits",
    "tokens_to_answer_median",
    "unreached_share",
    "chunks",
    "chunk_tokens_mean",
    "storage_ratio",
    "truncated_token_share",
    "embedded_tokens",
    "seconds_embed",
)
STEPPED_METRICS = {
    "complete_at_k": re.compile(r"complete_at_(\d+)"),
    "recall_at_k": re.compile(r"recall_at_(\d+)"),
}
TAG_SWEEP = "chunk_sweep.sweep_key"
TAG_CELL = "chunk_sweep.cell_key"
TAG_REUSED = "reused"
TAG_COMMAND = "chunk_sweep.command"
TAG_SELECT = "chunk_sweep.select"
TAG_PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"


def safe_name(name: str) -> str:
    """`name` as the name of a folder: what is neither letter, digit, underscore, hyphen nor point becomes an underscore, as does a leading point."""
    return re.sub(r"[^\w.-]|^\.", "_", name)


def metric_name(name: str) -> str:
    """`name` as MLflow takes it for a metric: what it refuses becomes an underscore."""
    return re.sub(r"[^\w\-. :/]", "_", name, flags=re.ASCII)
