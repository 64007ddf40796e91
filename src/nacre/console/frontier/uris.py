"""The queued URIs of a frontier: queue by queue, in their order; then those for a later time."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import msgspec

from nacre.console.links import ItemList, cursor_of, place_of
from nacre.core.clock import iso
from nacre.core.crawluri import CrawlURI
from nacre.machine.layout import Layout
from nacre.ops.fields import Cursor, LineText, RowCount
from nacre.ops.queued_uris import (
    FrontierPreview,
    PreviewWish,
    QueueNames,
    export_lines,
    preview_change,
    queued_rows,
)
from nacre.scope.patterns.matching import Matcher, any_text, matcher
from nacre.uri.surt import surt
from nacre.web.workers.task import PROGRESS, reader_task
from nacre.web.workers.views import VIEWS, ScanBudget
from nacre.wire.urltext import spellings

_PART: Final = 20_000
"""Rows of a part of an export, and the seconds that it may take."""
_PART_SECONDS: Final = 0.5


class UrisQuery(msgspec.Struct, frozen=True):
    """The filters of the queued URIs.

    Attributes:
        queue: Only this queue; "" for all.
        re: Expression that is found in the URL; "" for all.
        prefix: Beginning of the URL, or of its SURT, such as `http://(com,example,`; "" for all.
        after: `next` of the previous page; "" for the first.
        limit: URIs on a page, 1 to 500.
    """

    queue: LineText = ""
    re: LineText = ""
    prefix: LineText = ""
    after: Cursor = ""
    limit: RowCount = 50


class UriItem(msgspec.Struct, frozen=True):
    """A queued URI.

    Attributes:
        url: The URL.
        queue: Its queue.
        via: The page on which it was found; "" for a seed.
        path: Hop path.
        directive: Its place in the queue: lower directives come first.
        precedence: The same within the directive.
        attempts: How often it was tried.
        last_status: Fetch status of the last try; 0 before.
        due: When it is tried again, frontier time, RFC 3339; "" for when it is its turn.
        is_seed: It is a seed.
    """

    url: str
    queue: str
    via: str
    path: str
    directive: int
    precedence: int
    attempts: int
    last_status: int
    due: str
    is_seed: bool


class UriList(ItemList[UriItem], frozen=True):
    """A page of queued URIs: queue by queue, in their order; then those for a later time.

    Attributes:
        searched: URIs that were read; with few items and a `next` the filter resumes there.
    """

    searched: int


class ExportQuery(msgspec.Struct, frozen=True):
    """The filters of an export.

    Attributes:
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
    """

    urls: LineText = ""
    queues: LineText = ""


class ExportRequest(ExportQuery, frozen=True):
    """A part of an export.

    Attributes:
        after: Family and key of the row before the part; null for the first.
    """

    after: tuple[str, bytes] | None = None


class ExportPart(msgspec.Struct, frozen=True):
    """A part of an export.

    Attributes:
        text: Lines of a recovery journal.
        next: The `after` of the next part; null for none.
    """

    text: str
    next: tuple[str, bytes] | None


@reader_task("uris")
def list_uris(layout: Layout, query: UrisQuery) -> UriList:
    """Read a page of queued URIs.

    Raises:
        RefusedRequestError: The cursor is none (400).
        ConfigError: The expression cannot be read.
    """
    urls, has_prefix = matcher(with_escapes(query.re)), prefix_test(query.prefix)
    place = place_of(query.after, tuple[str, bytes])
    with VIEWS.looking(layout) as view:
        names = QueueNames(view.store)
        budget, items, last = ScanBudget(), list[UriItem](), None
        for row in queued_rows(view.store, query.queue, place):
            if len(items) == query.limit or budget.spent:
                break
            last = (row.family, row.key)
            uri, due = names.uri(row)
            is_chosen = not query.queue or uri.queue == query.queue
            if is_chosen and urls(uri.url) and has_prefix(uri.url):
                items.append(_item(uri, due))
        else:
            last = None
        following = None if last is None else cursor_of(last)
        return UriList(tuple(items), following, iso(view.as_of), budget.looked)


def _item(uri: CrawlURI, due: float | None) -> UriItem:
    return UriItem(
        uri.url, uri.queue, uri.via, uri.path, uri.directive, uri.precedence, uri.attempts,
        uri.last_status, "" if due is None else iso(due), uri.is_seed,
    )  # fmt: skip


@reader_task("export-part")
def export_part(layout: Layout, request: ExportRequest) -> ExportPart:
    """Read a part of the queued URIs as lines of a recovery journal."""
    urls, queues = matcher(request.urls), matcher(request.queues)
    with VIEWS.looking(layout) as view:
        names, budget = QueueNames(view.store), ScanBudget(_PART, _PART_SECONDS)
        chosen, last = list[CrawlURI](), None
        for row in queued_rows(view.store, "", request.after):
            if budget.spent:
                break
            last = (row.family, row.key)
            uri, _ = names.uri(row)
            if urls(uri.url) and queues(uri.queue):
                chosen.append(uri)
        else:
            last = None
        return ExportPart("".join(f"{line}\n" for line in export_lines(chosen)), last)


def prefix_test(prefix: str) -> Matcher:
    """Return the test for a beginning: of a SURT if it has a bracket, else of the URL.

    Letters of a URL that are not ASCII mean their escapes in every usual encoding.
    """
    if not prefix:
        return any_text
    if "(" in prefix:
        return lambda url: surt(url).startswith(prefix)
    prefixes = tuple(dict.fromkeys((prefix, *_spelled(prefix))))
    return lambda url: url.startswith(prefixes)


def _spelled(prefix: str) -> Iterator[str]:
    from nacre.wire.urltext import possible_urls  # noqa: PLC0415 - with the parser

    for url in possible_urls(prefix):
        yield url
        yield from spellings(url)


_LETTERS: Final = re.compile(r"[^\x00-\x7f]+")
_BARE: Final = re.compile(r"(?<!\\)[\w/-]\?(?![?+])")
_CODECS: Final = ("utf-8", "gb18030", "big5")


def with_escapes(expression: str) -> str:
    """An expression whose letters outside ASCII also mean their escapes in a URL.

    Each run of such letters becomes a group of what a site may have made of it: UTF-8, GB18030 and
    Big5, in small or large hexadecimal digits. An expression with classes of characters in brackets
    stays as it is: there a group would mean something else.
    """
    if "[" in expression:
        return expression
    return _LETTERS.sub(lambda match: _group(match[0]), expression)


def containing(text: str) -> str:
    """The expression for URLs that have a text in them as it is; letters mean their escapes too."""
    return _LETTERS.sub(lambda match: _group(match[0]), re.escape(text))


def has_bare_mark(expression: str) -> bool:
    """Whether an expression has an unescaped question mark that may be meant as that of a URL.

    After a letter, a digit, a slash or a dash, it makes that character optional, which an
    expression for URLs hardly ever intends: `/rili?` also matches `/ril`.
    """
    return _BARE.search(expression.replace("https?:", "")) is not None


def _group(letters: str) -> str:
    forms = [letters]
    for codec in _CODECS:
        try:
            forms.append(quote(letters.encode(codec), safe=""))
        except UnicodeEncodeError:
            continue
    return f"(?i:{'|'.join(dict.fromkeys(forms))})"


@reader_task("count")
def count_affected(layout: Layout, request: PreviewWish) -> FrontierPreview:
    """Count the URIs or queues that a change affects, to the end of the store.

    Raises:
        ConfigError: An expression cannot be read.
    """
    with VIEWS.looking(layout) as view:
        return preview_change(view.store, request, iso(view.as_of), PROGRESS.tell)
