"""A document of a search index: its fields, in Nutch's names, their sources, and names of types.

Source: Nutch, `index-basic`, `index-anchor`, `index-more` (reference N 1.14); the place in the
archive is ours. `kind_of` has the short names of media types, for searches and facets.
"""

from functools import lru_cache
from typing import Any, get_type_hints

import msgspec

from nacre.uri.domain import registered_domain
from nacre.uri.parse import host


class SearchDocument(msgspec.Struct, kw_only=True):
    """A page as a search index has it.

    Attributes:
        id: Key of the page; a second document with it replaces the first.
        url: The requested URL.
        host: Its host.
        domain: The registered domain of the host.
        title: Its title; "" for none.
        content: Its text, without the parts that every page of a site repeats.
        rest: The text of the page that `content` leaves out.
        type: Media type, lower case.
        lang: Language, such as `zh-cn`; "" when unknown.
        tstamp: When it was fetched, ms since the epoch.
        modified: Last-Modified, ms since the epoch; 0 when unknown.
        boost: Factor of its importance; 1 is that of a page of which nothing is known.
        digest: Payload digest.
        segment: Segment, or run, that fetched it.
        anchor: Texts of links to it, each once.
        cache: Robots directive on showing a stored copy: `noarchive`; "" for none.
        length: Bytes of the payload.
        warc_filename: Name of the WARC.
        warc_offset: Offset of its record there.
        more: Other fields, by name: those of plug-ins and of a mapping.
    """

    id: str
    url: str = ""
    host: str = ""
    domain: str = ""
    title: str = ""
    content: str = ""
    rest: str = ""
    type: str = ""
    lang: str = ""
    tstamp: int = 0
    modified: int = 0
    boost: float = 1.0
    digest: str = ""
    segment: str = ""
    anchor: list[str] = []
    cache: str = ""
    length: int = 0
    warc_filename: str = ""
    warc_offset: int = 0
    more: dict[str, list[str]] = {}

    @property
    def site(self) -> list[str]:
        """The names by which `site:` finds it: its host, and its parents up to the domain."""
        return list(site_names(self.host))


FIELDS = (
    "id", "url", "host", "domain", "site", "title", "content", "type", "lang", "tstamp", "modified",
    "boost", "digest", "segment", "anchor", "cache", "length", "warc_filename", "warc_offset",
)  # fmt: skip
"""The fields that writers are given, in order."""

FIELD_TYPES: dict[str, Any] = {
    name: get_type_hints(SearchDocument).get(name, list[str]) for name in FIELDS
}
"""The Python types of these fields, in the same order; `site`, which is computed, is a list."""


def plain_document(document: SearchDocument) -> dict[str, Any]:
    """The fields of a document by name, as writers take them; those that are empty are left out."""
    fields = {name: getattr(document, name) for name in FIELDS}
    fields.update(document.more)
    return {name: value for name, value in fields.items() if value not in ("", [], 0)}


@lru_cache(maxsize=16_384)
def site_names(name: str) -> tuple[str, ...]:
    """Return a host and the names above it, up to its registered domain."""
    domain = registered_domain(name)
    names = [name]
    while name != domain and "." in name:
        name = name.partition(".")[2]
        names.append(name)
    return tuple(names)


def place_document(document: SearchDocument) -> SearchDocument:
    """Return the document with host and domain of its URL."""
    name = host(document.url or document.id)
    return msgspec.structs.replace(document, host=name, domain=registered_domain(name))


def is_cut(document: SearchDocument, most: int) -> bool:
    """Return whether the text of a document was cut.

    Args:
        document: The document.
        most: Characters to store of its content, and of the text that the content leaves out.
    """
    return len(document.content) >= most or len(document.rest) >= most


_OFFICE = "application/vnd.openxmlformats-officedocument."
_WORD, _EXCEL = "application/vnd.ms-word.", "application/vnd.ms-excel."
_SLIDES, _MACRO = "application/vnd.ms-powerpoint.", "macroenabled.12"
_NAMES = {
    "application/pdf": "pdf",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "application/epub+zip": "epub",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    **dict.fromkeys((f"{_WORD}document.{_MACRO}", f"{_WORD}template.{_MACRO}"), "docx"),
    **dict.fromkeys((f"{_EXCEL}sheet.{_MACRO}", f"{_EXCEL}template.{_MACRO}"), "xlsx"),
    **dict.fromkeys(
        (f"{_SLIDES}{kind}.{_MACRO}" for kind in ("presentation", "slideshow", "template")), "pptx"
    ),
    f"{_OFFICE}wordprocessingml.template": "docx",
    f"{_OFFICE}spreadsheetml.template": "xlsx",
    f"{_OFFICE}presentationml.template": "pptx",
    f"{_OFFICE}presentationml.slideshow": "pptx",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/vnd.oasis.opendocument.text-master": "odt",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/vnd.oasis.opendocument.graphics-template": "odg",
    "application/vnd.oasis.opendocument.graphics": "odg",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
}
"""Templates, shows and files with macros have the name of the documents that they are like."""


def kind_of(mime: str) -> str:
    """The short name of a media type, as `type:` takes it: `pdf`; the type itself for others."""
    return _NAMES.get(mime, mime)
