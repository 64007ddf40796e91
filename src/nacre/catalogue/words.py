"""Search for words in the pages of a holding: its indexes of words, with the filters of captures.

A page that has the words is in the index of words as it was fetched last. Its capture is the one
that the index of words names, by WARC and offset.
"""

import heapq
from collections.abc import Iterator
from typing import Final

import msgspec

from nacre.catalogue.filters import (
    CaptureFilter,
    CatalogueQuery,
    compile_query,
    read_cursor,
    write_cursor,
)
from nacre.catalogue.holdings import Holding, Member
from nacre.catalogue.query import CapturePage, open_catalogues
from nacre.catalogue.rows import CatalogueItem
from nacre.catalogue.scans import StoredCatalogue
from nacre.errors import JobError
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.search.document import SearchDocument
from nacre.search.local_index import LocalSearch, SearchOptions
from nacre.search.query import ParsedQuery, parse_query

_PAGE: Final = 200
"""Pages that are asked of an index of words at a time."""
_MOST: Final = 10_000
"""Pages of an index of words that are looked through."""


def has_word_index(holding: Holding) -> bool:
    """Whether a member has an index of words."""
    return any(_folder_exists(member) for member in holding.members)


def search_by_words(holding: Holding, query: CatalogueQuery) -> CapturePage:
    """Return a page of the captures whose text has words, the best first.

    Args:
        holding: The job, collection or files.
        query: The query; with the order `newest` the newest come first.

    Raises:
        ConfigError: A part of the query has no meaning.
        JobError: No member has an index of words.
        MissingExtraError: The library of the index is not installed.
    """
    chosen = compile_query(msgspec.structs.replace(query, words="", order="", cursor=""))
    words = parse_query(query.words)
    (skipped,) = read_cursor(query.cursor, tuple[int]) or (0,)
    if not has_word_index(holding):
        raise JobError(
            message(
                "catalogue.no-word-index",
                "{name} has no index of words; make it by `nacre index JOB`, or search for a URL",
                name=holding.name,
            )
        )
    is_newest = query.order == "newest"
    items: list[CatalogueItem] = []
    with open_catalogues(holding) as opened:
        streams = [
            _items(catalogue, holding.members[catalogue.member], words, chosen, is_newest=is_newest)
            for catalogue in opened.catalogues
            if _folder_exists(holding.members[catalogue.member])
        ]
        place = 0
        following = ""
        for _, item in heapq.merge(*streams, key=lambda pair: pair[0]):
            if place >= skipped + query.limit:
                following = write_cursor((place,))
                break
            if place >= skipped:
                items.append(item)
            place += 1
        return CapturePage(tuple(items), following, opened.as_of, opened.is_complete, place)


def _folder_exists(member: Member) -> bool:
    return not member.is_missing and Layout(member.root).search.is_dir()


def _items(
    catalogue: StoredCatalogue,
    member: Member,
    words: ParsedQuery,
    chosen: CaptureFilter,
    *,
    is_newest: bool,
) -> Iterator[tuple[float, CatalogueItem]]:
    """Yield the captures of a member in the order of their scores, which are negative."""
    index = LocalSearch(Layout(member.root).search)
    passes = catalogue.test_of(chosen, has_keys=False)
    for offset in range(0, _MOST, _PAGE):
        options = SearchOptions(limit=_PAGE, offset=offset, newest=is_newest)
        hits = index.search(words, options).hits
        for hit in hits:
            document = hit.document
            row = catalogue.row_at(_warc_name(document), document.warc_offset)
            if row is not None and passes(row):
                yield -hit.score, catalogue.item(row)
        if len(hits) < _PAGE:
            return


def _warc_name(document: SearchDocument) -> str:
    return document.warc_filename.rpartition("/")[2].removesuffix(".open")
