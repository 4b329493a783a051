"""The script that everybody writes: split, encode, search, count, for every cell; one file, nothing kept but a table.

    python benchmarks/peers/everybodys_script.py JOB.json

LangChain's splitters with sizes in the model's own tokens, `SentenceTransformer.encode` with its defaults, a flat FAISS index, a loop over the
questions. Where a chunk stands in its document is found by searching for its text; a chunk that does not stand there word for word (the token
splitter gives back decoded tokens: lower case, blanks around punctuation) is compared by its letters and digits. A question counts as answered by a
chunk that holds every passage of its answer. JOB.json: corpus, model (folders), cells, ks, out (the file that the table is written to). `--chunks`
writes every cell's chunks instead, for the judge; it is not timed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import faiss
from langchain_text_splitters import RecursiveCharacterTextSplitter, SentenceTransformersTokenTextSplitter, TextSplitter
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer


def load(corpus: str) -> tuple[dict[str, str], list[dict]]:
    folder = Path(corpus, "documents")
    documents = {str(path.relative_to(folder)): path.read_bytes().decode() for path in sorted(folder.rglob("*")) if path.is_file()}
    lines = Path(corpus, "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return documents, [question for line in lines if (question := json.loads(line))["answers"]]


def splitter(cell: dict, model: str, tokenizer: object) -> TextSplitter:
    size, overlap = cell["size"], cell["overlap"]
    if cell["strategy"] == "fixed":
        return SentenceTransformersTokenTextSplitter(model_name=model, tokens_per_chunk=size, chunk_overlap=overlap)
    separators = {
        "recursive": {},
        "sentence": {"separators": [r"(?<=[.!?])\s+", r"\s+", ""], "is_separator_regex": True, "keep_separator": "end"},
    }
    return RecursiveCharacterTextSplitter.from_huggingface_tokenizer(
        tokenizer, chunk_size=size, chunk_overlap=overlap, **separators[cell["strategy"]]
    )


def split(cell: dict, model: str, documents: dict[str, str]) -> list[tuple[str, str, int]]:
    """(document, text, start) of every chunk; start is -1 where its text does not stand in the document."""
    splits = splitter(cell, model, AutoTokenizer.from_pretrained(model))
    return [(name, chunk, text.find(chunk)) for name, text in documents.items() for chunk in splits.split_text(text)]


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def holds(chunk: tuple[str, str, int], answer: dict) -> bool:
    name, text, start = chunk
    for passage in answer["evidence"]:
        if passage["doc"] != name:
            return False
        if start >= 0:
            if not (start <= passage["start"] and passage["end"] <= start + len(text)):
                return False
        elif letters(passage["quote"]) not in letters(text):
            return False
    return True


def run_cell(cell: dict, job: dict, model: SentenceTransformer, documents: dict[str, str], questions: list[dict]) -> dict:
    chunks = split(cell, job["model"], documents)
    vectors = model.encode([text for _, text, _ in chunks])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    asked = model.encode([question["question"] for question in questions])
    _, found = index.search(asked, max(job["ks"]))
    possible, hits = [], {k: 0 for k in job["ks"]}
    for question, ranking in zip(questions, found, strict=True):
        relevant = {number for number, chunk in enumerate(chunks) if any(holds(chunk, answer) for answer in question["answers"])}
        if not relevant:
            continue
        possible.append(question["id"])
        for k in job["ks"]:
            hits[k] += bool(relevant & set(ranking[:k].tolist()))
    recall = {f"recall_at_{k}": count / max(1, len(possible)) for k, count in hits.items()}
    return {**cell, "chunks": len(chunks), "n": len(possible), "exists": len(possible) / len(questions), **recall}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    documents, questions = load(job["corpus"])
    if "--chunks" in sys.argv:
        Path(job["out"]).write_text(json.dumps([{**cell, "chunks": split(cell, job["model"], documents)} for cell in job["cells"]]))
        return
    model = SentenceTransformer(job["model"])
    rows = [run_cell(cell, job, model, documents, questions) for cell in job["cells"]]
    Path(job["out"]).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
