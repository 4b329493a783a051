"""Word documents as Markdown: headings, lists, tables, notes; pictures, comments, heads and feet left out.

mammoth turns the document's structure into HTML by the names of its styles, and the HTML reader does the rest, so both kinds of file come out alike.
Word stores no pages: where a page ends is decided when it is printed, so there are no page breaks in the text.
"""

from __future__ import annotations

import io
import zipfile

import mammoth

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.html import convert_text
from harness.importing.extract.zipped import check_archive, properties

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='heading 1'] => h1:fresh
p[style-name='Code'] => pre:separator('\n')
p[style-name='HTML Preformatted'] => pre:separator('\n')
"""


def extract(source: Source) -> Extracted:
    """The body of the document, its footnotes at the end. Text that was deleted under "track changes" is gone, inserted text is there."""
    check_archive(source.raw, "docx")
    try:
        page = mammoth.convert_to_html(io.BytesIO(source.raw), style_map=_STYLES, convert_image=mammoth.images.img_element(lambda image: {}))
    except (KeyError, ValueError, AttributeError, TypeError, IndexError, OSError, RecursionError, zipfile.BadZipFile, SyntaxError) as error:
        raise UnreadableError(f"is damaged, or no docx ({type(error).__name__})") from error
    except Exception as error:  # xml.sax and expat raise errors of their own, without a common root
        raise UnreadableError(f"holds XML that can't be read ({type(error).__name__})") from error
    text, notes = convert_text(page.value)
    title, metadata = properties(source.raw)
    if not text.strip():
        notes = (*notes, "has no text in its body (pictures or text boxes, it may be)")
    return Extracted(text, title, metadata, notes)
