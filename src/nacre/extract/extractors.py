"""The registry of extractors, which find the links in documents, by name.

Nacre's own extractors are added where they are used (`dispatch`): a reader of configurations needs
none of them, and they are slow to load.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

from nacre.config.registry import EXTRACTORS as GROUP
from nacre.config.registry import Registry
from nacre.extract.document import Document


class StockExtractor(StrEnum):
    """The names of Nacre's own extractors; `NONE` for none."""

    NONE = ""
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    HTML = "html"
    CSS = "css"
    SCRIPT = "script"
    JSON = "json"
    XML = "xml"


class Extractor(NamedTuple):
    """Finds the links in documents of some kind.

    Attributes:
        name: Its name in configurations.
        extract: Adds the links of a `Document` to a `LinkCollector`. It uses no clock, file or
            network, takes time linear in the document, and runs in a separate process for documents
            over 1 MB. A ValueError, LookupError or RecursionError is an annotation of the URI;
            anything else that it raises is a bug and costs the URI.
        media_types: The types that it takes, lower case, without parameters. Most of Nacre's own
            have none, since they depend on content and path too (`kind`).
        is_text: The encoding of its documents is found out first (`Document.charset`).
        switch: The setting of the section `extract` that switches it off; "" if none does.
        contract: Of a plug-in: the contract that it was written for; 0 for Nacre's own.
    """

    name: str
    extract: Callable[[Document, Any], None]
    media_types: frozenset[str] = frozenset()
    is_text: bool = False
    switch: str = ""
    contract: int = 0


EXTRACTORS: Registry[Extractor] = Registry(
    "extractor", lambda part: isinstance(part, Extractor), group=GROUP
)
"""All extractors."""
