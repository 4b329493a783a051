"""Text splitters of LangChain (the package langchain-text-splitters), and classes of anybody's with the same method `split_text`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.chunking.external import Cut, ExternalChunker, listed
from harness.chunking.imported import parameters_of
from harness.errors import ConfigError
from harness.units import TiktokenUnit


@dataclass(frozen=True)
class LangChainChunker(ExternalChunker):
    """A text splitter by dotted path: a class, or a class method that makes one (`….RecursiveCharacterTextSplitter.from_language`).

    It gets `chunk_size` and `chunk_overlap` from size and overlap, and measures with the cell's unit as its `length_function`. One that cuts by
    tiktoken (TokenTextSplitter, `from_tiktoken_encoder`) gets the encoding of `unit=tiktoken:…`, or has `encoding_name` or `model_name` in its
    options; special tokens spelt in a text are ordinary text for it. Offsets that LangChain reports (`start_index`) are found by searching and are
    not used.
    """

    splitter: str = "langchain_text_splitters.RecursiveCharacterTextSplitter"
    size: int = 256

    package: ClassVar[str] = "langchain_text_splitters"
    libraries: ClassVar[tuple[str, ...]] = ("langchain-text-splitters", "tiktoken")

    def _cutter(self) -> Callable[[str], Cut]:
        make, options = self._found(), dict(self.options)
        offered: dict[str, Any] = {"chunk_size": self.size, "chunk_overlap": self.overlap}
        if "encoding_name" in parameters_of(make):
            offered["disallowed_special"] = ()
            if "model_name" not in options:
                options["encoding_name"] = self._encoding()
        else:
            offered["length_function"] = self._count()
        splitter = self._make(make, offered, options)
        if not callable(getattr(splitter, "split_text", None)):
            raise ConfigError(self.key, self.splitter, "makes nothing with a method split_text")

        def cut(text: str) -> Cut:
            return [item if isinstance(item, str) else item.page_content for item in listed(self.splitter, splitter.split_text(text))]

        return cut

    def _encoding(self) -> str:
        """The name under which tiktoken has the encoding: one that needs no network where there is such a one."""
        import tiktoken

        name = str(self.options.get("encoding_name") or (self.unit.encoding if isinstance(self.unit, TiktokenUnit) else ""))
        if not name:
            raise ConfigError("unit", getattr(self.unit, "name", self.unit), f"{self.splitter} cuts by tiktoken; unit=tiktoken:cl100k_base would do")
        offline = f"{name}_offline"
        return offline if offline in tiktoken.list_encoding_names() else name
