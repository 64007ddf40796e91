"""Filters of documents: each changes a document, or leaves it out of all indexes.

A plug-in subclasses `DocumentFilter` and is offered as an entry point, as rules are. Source: Nutch,
`IndexingFilter`, `index-static`, `index-replace` (reference N 1.14).
"""

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import re2
from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema, field_validator

from nacre.config.component import Component, ComponentRegistry, setting
from nacre.messages import message
from nacre.search.document import SearchDocument

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXTS = ("title", "content", "type", "lang")


class DocumentFilter(Component):
    """A filter of documents."""

    def document(self, document: SearchDocument) -> SearchDocument | None:
        """Return the document as it is indexed; None if it is in no index."""
        return document


class StaticFields(DocumentFilter):
    """Gives every document the same fields."""

    filter: Literal["static"] = "static"
    fields: dict[str, tuple[str, ...]] = setting(
        dict, "The fields with their values (`index.static`).", sheets=False
    )

    def document(self, document: SearchDocument) -> SearchDocument | None:
        """See `DocumentFilter.document`."""
        more = {name: list(values) for name, values in self.fields.items()}
        return msgspec.structs.replace(document, more={**document.more, **more})


class ReplaceInField(DocumentFilter):
    """Replaces matches of an expression in a field."""

    filter: Literal["replace"] = "replace"
    field: Literal["title", "content", "type", "lang"] = setting(
        "title", f"The field: {', '.join(_TEXTS)}.", sheets=False
    )
    pattern: str = setting(..., "The expression (RE2).", sheets=False, sample="' - My site$'")
    replacement: str = setting("", "The text in its place; `\\1` is a group.", sheets=False)
    url: str = setting("", "Expression that the URL matches. Empty: any.", sheets=False)

    @field_validator("pattern", "url")
    @classmethod
    def _is_expression(cls, value: str) -> str:
        try:
            re2.compile(value)
        except re2.error as error:
            raise ValueError(f"{value!r} is no expression of RE2: {error}") from None
        return value

    def document(self, document: SearchDocument) -> SearchDocument | None:
        """See `DocumentFilter.document`."""
        if self.url and not self._urls.search(document.url):
            return document
        text = self._expression.sub(self.replacement, getattr(document, self.field))
        return msgspec.structs.replace(document, **{self.field: text})

    @cached_property
    def _expression(self) -> "re2._Regexp":
        return re2.compile(self.pattern)

    @cached_property
    def _urls(self) -> "re2._Regexp":
        return re2.compile(self.url)


FILTERS = ComponentRegistry(
    DocumentFilter,
    "filter",
    message("search.filter-shape", "write the name of a filter, or a mapping with `filter`"),
)
"""Filters by name, those of plug-ins too."""

FILTERS.add(StaticFields, ReplaceInField)

AnyFilter = Annotated[
    SerializeAsAny[DocumentFilter],
    PlainValidator(FILTERS.read),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["filter"]}]}),
]
"""A filter with its settings, by its name or as a mapping."""


def apply_filters(
    filters: "Iterable[DocumentFilter]", document: SearchDocument
) -> SearchDocument | None:
    """Return a document after several filters; None if a filter drops it."""
    for document_filter in filters:
        changed = document_filter.document(document)
        if changed is None:
            return None
        document = changed
    return document
