"""Programming languages: by file name, parsed by tree-sitter, and what their syntax trees call things.

Grammars come from the packages tree-sitter-LANGUAGE, which carry them; nothing is fetched.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_SUFFIXES = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts"),
    "tsx": (".tsx",),
    "java": (".java",),
    "go": (".go",),
    "rust": (".rs",),
    "c": (".c", ".h"),
    "cpp": (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
}
LANGUAGES = tuple(_SUFFIXES)
_GRAMMARS = {
    "python": tree_sitter_python.language,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "java": tree_sitter_java.language,
    "go": tree_sitter_go.language,
    "rust": tree_sitter_rust.language,
    "c": tree_sitter_c.language,
    "cpp": tree_sitter_cpp.language,
}
_LANGUAGE_OF = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes}

CLASSES = frozenset(
    {
        *("class_definition", "class_declaration", "abstract_class_declaration", "class", "interface_declaration", "enum_declaration"),
        *("record_declaration", "annotation_type_declaration", "internal_module", "module"),
        *("class_specifier", "struct_specifier", "union_specifier", "enum_specifier", "namespace_definition"),
        *("impl_item", "trait_item", "mod_item", "struct_item", "enum_item", "union_item", "type_spec"),
    }
)
"""Nodes that give the header of their members."""

ANONYMOUS = frozenset({"function_expression", "generator_function", "arrow_function", "func_literal", "lambda_expression"})

FUNCTIONS = ANONYMOUS | frozenset(
    {
        *("function_definition", "function_declaration", "generator_function_declaration", "function_item"),
        *("method_definition", "method_declaration", "constructor_declaration", "compact_constructor_declaration"),
    }
)
"""Nodes whose signature goes in front of their later parts."""

IMPORTS = frozenset(
    {
        *("import_statement", "import_from_statement", "future_import_statement", "import_declaration", "package_declaration"),
        *("package_clause", "use_declaration", "extern_crate_declaration", "preproc_include", "using_declaration"),
    }
)

COMMENTS = frozenset(["comment", "line_comment", "block_comment", "html_comment"])

DECORATORS = frozenset({"decorator", "annotation", "marker_annotation"})

LEADS = COMMENTS | frozenset(["decorator", "attribute_item", "access_specifier"])
"""Nodes that belong to what follows them."""


def language_of(name: str) -> str | None:
    """The language of a file by the ending of its name (upper or lower case), None where it is none of these. `.h` is C here."""
    return _LANGUAGE_OF.get(PurePosixPath(name).suffix.lower())


def parse(language: str, source: bytes) -> Node:
    """The root of the syntax tree of `source`, well-formed UTF-8. Where the text isn't in the language, there are error nodes in it."""
    return Parser(_grammar(language)).parse(source).root_node


def error_bytes(root: Node) -> int:
    """Bytes that did not parse: those under error nodes, but for whole definitions in there (a brace too few makes an error of a whole file), and one
    for each thing that the parser had to make up (a missing bracket)."""
    total, waiting = 0, [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        inner = node.children
        if node.is_error:
            inner = [child for child in inner if child.type in CLASSES or child.type in FUNCTIONS]
            total += node.end_byte - node.start_byte - sum(child.end_byte - child.start_byte for child in inner)
        total += node.is_missing
        waiting.extend(child for child in inner if child.has_error)
    return total


@lru_cache(maxsize=len(LANGUAGES))
def _grammar(language: str) -> Language:
    return Language(_GRAMMARS[language]())
