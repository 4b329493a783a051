"""A cell's chunks with their vectors, as files that vector stores load."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from harness.chunking import chunk_documents
from harness.errors import StoreError
from harness.experiment import Experiment, embedded
from harness.tracking.files import write_table
from harness.types import ChunkSet, Document
from harness.units import measure_all


def export_chunks(experiment: Experiment, folder: Path) -> int:
    """Write chunks.parquet and chunks.jsonl; the number of chunks.

    One row a vector, so one a chunk, or two where two lead to it: id (document, start and end, and for a second vector "#also"), document, title,
    start, end, returned_start, returned_end, text (what the reader gets: these characters of the document), context (what was put before the chunk),
    indexed_text (what was embedded), metadata (of the document, as JSON) and vector (float32). Vectors come from the cache where it has them. The
    number is that of the chunks.
    """
    documents = experiment.corpus.documents
    chunks = chunk_documents(experiment.chunker, documents, measure_all(experiment.unit, documents), experiment.around)
    more, owner = chunks.second_texts()
    indexed = [*chunks.indexed_texts(documents), *more]
    vectors = embedded(experiment, chunks)[0].vectors
    rows = _rows(chunks, documents)
    rows += [{**rows[chunk], "id": f"{rows[chunk]['id']}#also"} for chunk in owner.tolist()]
    for row, text in zip(rows, indexed, strict=True):
        row["indexed_text"] = text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pylist(rows) if rows else pa.table({})
        flat = pa.array(np.ascontiguousarray(vectors).ravel())
        write_table(folder / "chunks.parquet", table.append_column("vector", pa.FixedSizeListArray.from_arrays(flat, experiment.embedder.dim)))
        with (folder / "chunks.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for row, vector in zip(rows, vectors, strict=True):
                file.write(json.dumps({**row, "metadata": json.loads(row["metadata"]), "vector": vector.tolist()}, ensure_ascii=False) + "\n")
    except OSError as error:
        raise StoreError(f"{folder}: can't write here ({error.strerror})") from error
    return len(chunks)


def _rows(chunks: ChunkSet, documents: Sequence[Document]) -> list[dict[str, Any]]:
    columns = (chunks.doc, chunks.start, chunks.end, chunks.returned_start, chunks.returned_end)
    contexts = chunks.context or ("",) * len(chunks)
    rows = []
    for (doc, start, end, first, last), context in zip(zip(*(column.tolist() for column in columns), strict=True), contexts, strict=True):
        document = documents[doc]
        about = {"id": f"{document.id}#{start}-{end}", "document": document.id, "title": document.title, "start": start, "end": end}
        returned = {"returned_start": first, "returned_end": last, "text": document.text[first:last], "context": context, "indexed_text": ""}
        rows.append({**about, **returned, "metadata": json.dumps(dict(document.metadata), ensure_ascii=False, default=str)})
    return rows
