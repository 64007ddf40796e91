"""The capture that answers a request of a replayed page, or the nearest URLs if there is none.

In this order: the exact index key, in which http and https, and hosts with and without `www`, are
equal already; for a POST or PUT with what its body adds; then URLs that differ in noise alone
(`replay.noise`); then, for files, any query; for a POST, another body with the same fields. Among
the captures of a URL the nearest in time comes first, of two as near the earlier, as in pywb; but
`_order` has the exceptions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urljoin

from nacre.archive.index_facts import PostQuery
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex
from nacre.errors import URIError
from nacre.messages import message
from nacre.replay.memento import seconds_timestamp, timestamp_seconds
from nacre.replay.noise import without_noise, without_static_query
from nacre.replay.records import ReplayError
from nacre.replay.reply import ArchivedExchange, captured_range, read_exchange
from nacre.uri.surt import index_key

NEAR = 3600
"""Seconds by which a good capture may be farther away than an error, and is still preferred."""

_SCANNED = 1000
"""Captures with the same path that are compared without noise."""

_NEAREST = 10
"""URLs that are named when nothing was captured."""

_NEAREST_IN_TIME = 50
"""Captures of a URL that are considered, the nearest in time."""

_TRIED = 10
"""Captures of a URL that are read until one can be replayed."""


class ReplayRequest(NamedTuple):
    """A request for an archived reply.

    Attributes:
        url: The URL.
        timestamp: Up to 14 digits; "" for the newest capture.
        method: Method; "" for GET, as which HEAD counts.
        query: What the body of a POST or PUT adds (`archive.index_facts.post_query`).
        first_byte: The first byte of the part that is requested; 0 for the whole.
    """

    url: str
    timestamp: str = ""
    method: str = ""
    query: str = ""
    first_byte: int = 0

    @property
    def key(self) -> str:
        """Its index key.

        Raises:
            URIError: The URL is none.
        """
        url = self.url
        if self.has_method:
            url = PostQuery(self.method, self.query).appended(url)
        return index_key(url).replace(" ", "%20")

    @property
    def has_method(self) -> bool:
        """Whether the method is part of the key."""
        return self.method not in ("", "GET", "HEAD")


class CaptureMatch(NamedTuple):
    """The captures that answer a request.

    Attributes:
        captures: At least one, the best first; others follow for when it cannot be replayed.
        rule: How they were matched: `exact`, `noise`, `file` or `form`.
    """

    captures: tuple[IndexedCapture, ...]
    rule: str

    @property
    def capture(self) -> IndexedCapture:
        """The best of them."""
        return self.captures[0]


class NotArchived(NamedTuple):
    """Nothing answers a request.

    Attributes:
        nearest: Captures of URLs below the same path, each URL once, for the page that says so.
    """

    nearest: tuple[IndexedCapture, ...] = ()


class ReplayAnswer(NamedTuple):
    """The exchange that answers a request.

    Attributes:
        exchange: The exchange.
        match: How it was matched.
        skipped: What was nearer, but could not be replayed, with the reason.
    """

    exchange: ArchivedExchange
    match: CaptureMatch
    skipped: tuple[tuple[IndexedCapture, ReplayError], ...] = ()


def find_capture(index: CaptureIndex, request: ReplayRequest) -> CaptureMatch | NotArchived:
    """Return the captures that answer a request, or captures of URLs near it.

    Raises:
        StorageError: An index cannot be read.
    """
    try:
        key = request.key
    except URIError:
        return NotArchived()
    exact = _nearest_in_time(index, key, request.timestamp)
    if exact:
        return CaptureMatch(_order(exact, request), "exact")
    return _match_noise(index, request, key) or NotArchived(_nearest(index, key, request))


def replay_request(
    holding: Holding, index: CaptureIndex, request: ReplayRequest, *, decode: bool = False
) -> ReplayAnswer | NotArchived:
    """Read the exchange that answers a request; captures that cannot be replayed are passed over.

    A redirect to its own index key (http to https, `www`, a slash at the end) would loop, so it is
    passed over as well. A 206 that does not have the requested byte comes behind all others:
    browsers fetch media in parts, which are captures of the same URL.

    Args:
        holding: Where the files are.
        index: Its index.
        request: The request.
        decode: Remove the content coding.

    Raises:
        ReplayError: None of the captures can be replayed; the error of the best.
        StorageError: An index cannot be read.
    """
    match = find_capture(index, request)
    if isinstance(match, NotArchived):
        return match
    skipped: list[tuple[IndexedCapture, ReplayError]] = []
    other_part: ArchivedExchange | None = None
    for capture in match.captures[:_TRIED]:
        try:
            exchange = read_exchange(holding, index, capture, decode=decode)
            _refuse_loop(exchange)
            part = captured_range(exchange)
        except ReplayError as error:
            skipped.append((capture, error))
            continue
        if part is None or part.has(request.first_byte):
            return ReplayAnswer(exchange, match, tuple(skipped))
        other_part = other_part or exchange
    if other_part is not None:
        return ReplayAnswer(other_part, match, tuple(skipped))
    raise skipped[0][1]


def is_self_redirect(exchange: ArchivedExchange) -> bool:
    """Whether an exchange redirects to its own index key, so that replay would loop."""
    location = exchange.header("location")
    if not 300 <= exchange.status < 400 or exchange.status == 304 or not location:
        return False
    try:
        return index_key(urljoin(exchange.url, location)) == exchange.capture.key
    except (URIError, ValueError):
        return False


def moved_page(requested: str, captured: str) -> str:
    """Return the URL of a capture if only a slash at its end tells it from the request; else "".

    The index key does not have that slash, but relative URLs of the page depend on it.

    Args:
        requested: URL of the request.
        captured: URL of the capture that answers it.
    """
    paths = [url.partition("#")[0].partition("?")[0] for url in (requested, captured)]
    folders = [path.partition("://")[2].partition("/")[2] for path in paths]
    shorter, longer = sorted((unquote(folder).lower() for folder in folders), key=len)
    return captured.partition("#")[0] if shorter and longer == f"{shorter}/" else ""


def _refuse_loop(exchange: ArchivedExchange) -> None:
    if is_self_redirect(exchange):
        raise ReplayError(
            "self-redirect",
            message(
                "replay.self-redirect",
                "{url} was only captured as a redirect to itself ({location}). Look for another "
                "time, or crawl it again.",
                url=exchange.url, location=exchange.header("location"),
            ),
        )  # fmt: skip


def _nearest_in_time(index: CaptureIndex, key: str, timestamp: str) -> list[IndexedCapture]:
    """Return the captures of a key that are near a time; a URL may have any number of them."""
    full = seconds_timestamp(timestamp_seconds(timestamp)) if timestamp else ""
    return index.closest(key, full, _NEAREST_IN_TIME)


def _order(
    captures: Iterable[IndexedCapture], request: ReplayRequest
) -> tuple[IndexedCapture, ...]:
    """Order the captures of a key.

    The key does not distinguish upper and lower case, as wikis do: captures whose path and query
    are those of the request come first. Then the nearest in time, of two as near the earlier;
    without a time the newest. A capture of exactly that time is first whatever it is. Else an error
    (4xx, 5xx) comes behind the good captures that are at most `NEAR` seconds farther away: of a
    page that failed and succeeded some minutes later, the success is shown. So does a 204: indexes
    do not tell the reply to an OPTIONS request from that to a GET. A 304 without its original comes
    last.
    """
    timestamp, page = request.timestamp, _page_of(request.url)
    aim = timestamp_seconds(timestamp) if timestamp else None

    def rank(capture: IndexedCapture) -> tuple[bool, bool, bool, int, int]:
        seconds = timestamp_seconds(capture.timestamp)
        distance = -seconds if aim is None else abs(seconds - aim)
        is_aimed = len(timestamp) == 14 and capture.timestamp == timestamp
        is_worse = capture.status >= 400 or capture.status == 204
        penalty = NEAR if is_worse and not is_aimed else 0
        is_bare = capture.status == 304 and not capture.is_revisit
        is_other = _page_of(capture.url) != page
        return is_bare, is_other, not is_aimed, distance + penalty, seconds

    return tuple(sorted(captures, key=rank))


def _page_of(url: str) -> tuple[str, list[str]]:
    """Return the path and the sorted query of a URL, with upper and lower case, unescaped."""
    path, _, query = url.partition("#")[0].partition("?")
    folder = path.partition("://")[2].partition("/")[2]
    return unquote(folder).rstrip("/"), sorted(unquote(part) for part in query.split("&"))


def _match_noise(index: CaptureIndex, request: ReplayRequest, key: str) -> CaptureMatch | None:
    """CaptureMatch a request without noise, then as a file, then as a form."""
    plain = without_noise(key)
    if plain != key and (captures := _nearest_in_time(index, plain, request.timestamp)):
        return CaptureMatch(_order(captures, request), "noise")
    path = key.partition("?")[0]
    same_path = index.prefix(f"{path}?", limit=_SCANNED)
    if path not in (key, plain):  # which have no captures
        same_path = [*_nearest_in_time(index, path, request.timestamp), *same_path]
    if request.has_method:
        return _match_form(same_path, request)
    same_path = [capture for capture in same_path if not capture.method]
    rules: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("noise", without_noise),
        ("file", without_static_query),
    )
    for rule, reduce in rules:
        reduced = reduce(key)
        if reduced and (same := [c for c in same_path if reduce(c.key) == reduced]):
            return CaptureMatch(_order(same, request), rule)
    return None


def _match_form(captures: Sequence[IndexedCapture], request: ReplayRequest) -> CaptureMatch | None:
    """CaptureMatch a POST or PUT: without noise, else the form with the most equal fields.

    The fields must have the same names; of as many equal ones, the nearest in time is first.
    """
    captures = [capture for capture in captures if capture.method == request.method]
    reduced = without_noise(request.key)
    same = [capture for capture in captures if without_noise(capture.key) == reduced]
    if same:
        return CaptureMatch(_order(same, request), "noise")
    fields = _fields(request.key)
    alike = [c for c in captures if {name for name, _ in _fields(c.key)} == {n for n, _ in fields}]
    if not alike:
        return None
    ordered = _order(alike, request)
    return CaptureMatch(tuple(sorted(ordered, key=lambda c: -len(_fields(c.key) & fields))), "form")


def _fields(key: str) -> set[tuple[str, str]]:
    query = without_noise(key).partition("?")[2]
    return set(parse_qsl(query, keep_blank_values=True))


def _nearest(index: CaptureIndex, key: str, request: ReplayRequest) -> tuple[IndexedCapture, ...]:
    """Return captures of the URLs below the nearest path that has any, each URL once."""
    for prefix in _paths_above(key):
        captures = index.prefix(prefix, limit=_SCANNED)
        if captures:
            best: dict[str, IndexedCapture] = {}
            for capture in _order(captures, request):
                best.setdefault(capture.key, capture)
            near = sorted(best.values(), key=lambda c: -_common(c.key, key))
            return tuple(near[:_NEAREST])
    return ()


def _paths_above(key: str) -> Iterator[str]:
    """Yield the path of a key, and its directories up to the host."""
    path = key.partition("?")[0]
    host, bracket, folder = path.partition(")/")
    if not bracket:
        return
    yield path
    while folder:
        folder = folder.rpartition("/")[0]
        yield f"{host})/{folder}/" if folder else f"{host})/"
    yield f"{host})/"


def _common(first: str, second: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
