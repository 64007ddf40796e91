"""Filters of documents."""

import pytest

from nacre.search.document import SearchDocument
from nacre.search.filters import FILTERS, DocumentFilter, apply_filters

PAGE = SearchDocument(id="http://a.test/", url="http://a.test/", title="图书 - My site")


class NoDocument(DocumentFilter):
    """Leaves all out."""

    filter: str = "none"

    def document(self, document):
        return None


def test_filters_change_documents_in_order():
    chain = [
        FILTERS.read({"filter": "static", "fields": {"source": ["web"]}}),
        FILTERS.read({"filter": "replace", "pattern": " - My site$"}),
        FILTERS.read({"filter": "replace", "pattern": "图", "replacement": "书", "url": "b.test"}),
    ]
    found = apply_filters(chain, PAGE)
    assert found is not None
    assert (found.title, found.more) == ("图书", {"source": ["web"]})
    assert apply_filters([*chain, NoDocument()], PAGE) is None


def test_an_expression_that_is_none_is_told():
    with pytest.raises(ValueError, match="no expression of RE2"):
        FILTERS.read({"filter": "replace", "pattern": "("})
