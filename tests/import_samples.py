"""Small sources in every format that `chunk-sweep data import` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RETURNS = (
    "# Returns\n\nItems may be returned within **30 days** of delivery, in their “original” box.\n\n"
    "Whatever was bought in a sale stays with the buyer. It is never taken back.\n"
)
CARRIERS = "# Carriers\n\nThe buyer pays the carrier. Parcels over 20 kg go by lorry.\n\nLorries come on Mondays.\n"
TABLE = [
    {
        "id": "q1",
        "question": "Can I send back a lamp from the sale?",
        "quote": 'within 30 days of delivery, in their "original" box',
        "document": "returns",
    },
    {"id": "q1", "question": "", "quote": "Whatever was bought in a sale stays with the buyer.", "document": "returns.md"},
    {"id": "q2", "question": "Who pays the carrier?", "quote": "The buyer pays the carrier.", "document": ""},
]


def squad(version: str = "v2.0") -> dict[str, Any]:
    """Two paragraphs of one article; the second question of the second is impossible, one offset is off, one answer is not there."""
    first = "The mill was built in 1820. It burned down in 1871, and was built again."
    second = " Flour is sold on Fridays. The shop is shut in May."
    return {
        "version": version,
        "data": [
            {
                "title": "The_Mill",
                "paragraphs": [
                    {
                        "context": first,
                        "qas": [
                            {
                                "id": "m1",
                                "question": "When was it built?",
                                "answers": [{"text": "1820", "answer_start": 22}, {"text": "in 1820", "answer_start": 19}],
                            },
                            {"id": "m2", "question": "When did it burn down?", "answers": [{"text": "1871", "answer_start": 45}]},
                        ],
                    },
                    {
                        "context": second,
                        "qas": [
                            {
                                "id": "m3",
                                "question": " When is flour sold? ",
                                "answers": [{"text": "Fridays", "answer_start": 18}],
                                "is_impossible": False,
                            },
                            {"id": "m4", "question": "Who owns it?", "answers": [], "is_impossible": True},
                            {"id": "m5", "question": "Where is it?", "answers": [{"text": "Leeds", "answer_start": 3}]},
                        ],
                    },
                ],
            }
        ],
    }


def contractnli() -> dict[str, Any]:
    """One contract; two spans of the first hypothesis touch, the second is not mentioned."""
    text = "Secrets stay secret. They end after five years. Copies are burned."
    annotations = {"nda-1": {"choice": "Entailment", "spans": [0, 1]}, "nda-2": {"choice": "NotMentioned", "spans": []}}
    return {
        "documents": [
            {
                "id": 7,
                "file_name": "seven.pdf",
                "text": text,
                "spans": [[0, 21], [21, 47], [48, 66]],
                "annotation_sets": [{"annotations": annotations}],
            }
        ],
        "labels": {"nda-1": {"hypothesis": "Secrets end some day."}, "nda-2": {"hypothesis": "Spies are shot."}},
    }


def legalbench() -> dict[str, Any]:
    """Two queries; the second names a text that is not there."""
    snippet = {
        "file_path": "shop/returns.md",
        "span": [RETURNS.index("Whatever"), RETURNS.index("Whatever") + 51],
        "answer": "Whatever was bought in a sale stays with the buyer.",
    }
    return {"tests": [{"query": "Sales?", "snippets": [snippet]}, {"query": "Spies?", "snippets": [{"file_path": "shop/gone.md", "span": [0, 3]}]}]}


def write_samples(folder: Path) -> None:
    """Write a source for every command of docs/importing.md."""
    (folder / "docs").mkdir()
    _text(folder / "docs" / "returns.md", RETURNS)
    _text(folder / "docs" / "carriers.md", CARRIERS)
    _text(folder / "questions.csv", table_csv(TABLE))
    _lines(folder / "questions.jsonl", TABLE)
    _text(folder / "dev-v2.0.json", json.dumps(squad()))
    _text(folder / "dev.json", json.dumps(contractnli()))
    write_xlsx(folder / "questions.xlsx", TABLE)
    write_beir(folder / "scifact")
    write_chroma(folder / "chroma")
    (folder / "benchmarks").mkdir()
    _text(folder / "benchmarks" / "shop.json", json.dumps(legalbench()))
    (folder / "corpus" / "shop").mkdir(parents=True)
    _text(folder / "corpus" / "shop" / "returns.md", RETURNS)
    write_parquet(folder / "squad-parquet")


def table_csv(rows: list[dict[str, str]], delimiter: str = ",") -> str:
    """Rows as CSV, every cell quoted."""
    cells = [list(rows[0]), *([row.get(name, "") for name in rows[0]] for row in rows)]
    return "".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in line) + "\r\n" for line in cells)


def write_xlsx(path: Path, rows: list[dict[str, str]]) -> None:
    """The rows as an Excel file."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)


def write_beir(folder: Path) -> None:
    """Three documents (one blank), three queries, a judgement of each kind."""
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": "d1", "title": "Returns", "text": RETURNS},
        {"_id": "d2", "title": "", "text": CARRIERS},
        {"_id": "d3", "title": "", "text": " "},
    ]
    _lines(folder / "corpus.jsonl", documents)
    _lines(folder / "queries.jsonl", [{"_id": f"q{number}", "text": f"Question {number}?"} for number in (1, 2, 3)])
    _text(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t1\nq2\td1\t0\nq2\td9\t1\n")


def write_chroma(folder: Path) -> None:
    """One corpus and two questions, one reference of which stands twice."""
    (folder / "corpora").mkdir(parents=True)
    _text(folder / "corpora" / "shop.md", CARRIERS + CARRIERS)
    quote = "The buyer pays the carrier."
    at = (CARRIERS + CARRIERS).rindex(quote)
    reference = json.dumps([{"content": quote, "start_index": at, "end_index": at + len(quote)}])
    _text(folder / "questions_df.csv", table_csv([{"question": "Who pays?", "references": reference, "corpus_id": "shop"}]))


def write_parquet(folder: Path) -> None:
    """A SQuAD-like split as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    quote = "The buyer pays the carrier."
    rows = [
        {
            "id": "h1",
            "title": "Carriers",
            "context": CARRIERS,
            "question": "Who pays?",
            "answers": {"text": [quote, "The buyer"], "answer_start": [12, 12]},
        }
    ]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "validation-00000-of-00001.parquet")


def _text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    _text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
