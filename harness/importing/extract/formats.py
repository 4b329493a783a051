"""Which files are read, by the ending of their names, and what reading them needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of file. `module` is the extractor in this package; `needs` are packages of the extra `documents`, as they are imported."""

    name: str
    module: str
    suffixes: tuple[str, ...]
    needs: tuple[str, ...] = ()


_CODE = tuple(
    f".{ending}"
    for ending in (
        *("py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "java", "go", "rs", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "kt", "kts"),
        *("swift", "scala", "rb", "php", "pl", "pm", "lua", "r", "jl", "m", "hs", "ml", "ex", "exs", "erl", "clj", "sh", "bash", "zsh", "ps1", "sql"),
        *("proto", "css", "scss", "toml", "yaml", "yml", "json", "xml", "ini", "cfg", "tex", "cmake", "gradle", "tf"),
    )
)

FORMS = (
    Form("text", "plain", (".txt", ".text")),
    Form("markdown", "markdown", (".md", ".markdown", ".mdx")),
    Form("rst", "rst", (".rst",), ("docutils",)),
    Form("html", "html", (".html", ".htm", ".xhtml"), ("bs4", "lxml", "markdownify")),
    Form("pdf", "pdf", (".pdf",), ("pdfplumber",)),
    Form("docx", "docx", (".docx",), ("mammoth", "bs4", "lxml", "markdownify", "defusedxml")),
    Form("xlsx", "sheets", (".xlsx", ".xlsm"), ("openpyxl", "defusedxml")),
    Form("csv", "csv_table", (".csv", ".tsv")),
    Form("notebook", "notebook", (".ipynb",), ("nbformat",)),
    Form("code", "plain", _CODE),
)
_BY_SUFFIX = {suffix: form for form in FORMS for suffix in form.suffixes}


def form_of(suffix: str) -> Form | None:
    """The kind of file with this ending (small letters, with its dot), or None."""
    return _BY_SUFFIX.get(suffix)


def check_installed(forms: Iterable[Form]) -> None:
    """Raise ConfigError if one of the forms needs packages that are not installed, before any file is opened."""
    for form in forms:
        missing = [package for package in form.needs if importlib.util.find_spec(package) is None]
        if missing:
            raise ConfigError(
                "folder",
                f"{form.suffixes[0]} files",
                f"reading them needs {', '.join(missing)}: pip install 'chunk-sweep[documents]'"
                f", or leave them out with --exclude '*{form.suffixes[0]}'",
            )
