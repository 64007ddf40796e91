"""The promise of links in a running job: those that promise less come later (`novelty`).

What was learned joins the commit group of the visit that taught it, and a job that resumes has it
again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

import msgspec
from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.processor import Visit
from nacre.engine.candidates.identity import Identity
from nacre.frontier.known_set import KnownSet
from nacre.frontier.novelty import AssessedLink, KindRow, Novelty, Promise, complexity
from nacre.frontier.policy import MAX_PRECEDENCE
from nacre.frontier.settings import FrontierSettings, TrapSettings
from nacre.frontier.url_kinds import ValuesRow
from nacre.messages import message
from nacre.store.store import Store
from nacre.wire.coding import decode_content

_FAMILY = "hosts"
_WORDS, _KINDS, _VALUES = b"nw", b"nk", b"nv"
_MERGED = 1_000
"""Rows of words that become one when a job goes on."""
_REMOVED = 4
"""Rows of words that are removed with each row that is written, at most."""
_READ = 300_000
"""Bytes of a page that are read."""
_NORMAL, _VIEW, _POOR = Directive.NORMAL, Directive.VIEW, Directive.POOR

_INDEXLESS = frozenset({"noindex", "none"})

MARK = "_view"
"""Heritable datum of a URI whose URL had no new word; links do not inherit it."""

_DIRECTIVES = {
    Promise.NEW: Directive.NORMAL,
    Promise.VIEW: Directive.VIEW,
    Promise.POOR: Directive.POOR,
    Promise.ENDLESS: Directive.ENDLESS,
}


class Prospects:
    """Determines which of the links that were accepted go later.

    Args:
        store: Stores the rows.
        settings: Whether to learn, for each combination of sheets.
        overlay_of: Determines which combination applies to a URI.
        read_only: Whether only `reason` is called.
    """

    def __init__(
        self,
        store: Store,
        settings: Effective[TrapSettings],
        overlay_of: Callable[[CrawlURI], int],
        *,
        read_only: bool = False,
    ) -> None:
        self._store = store
        self._settings = settings
        self._overlay_of = overlay_of
        self._novelty = Novelty(self._recall)
        self._links: list[AssessedLink] = []
        self._words = WordRows(store, self._novelty.words)
        if not read_only:
            self._words.load()

    def met(self, uris: Sequence[CrawlURI], overlay: int) -> list[CrawlURI]:
        """The links of a page, each with the directive that it promises; seeds keep theirs."""
        self._links = []
        if not self._settings[overlay].learn:
            return list(uris)
        placed = []
        for uri in uris:
            link = self._novelty.meet(uri.url)
            self._links.append(link)
            placed.append(_place(uri, link))
        return placed

    def entered(self, entered: Sequence[bool]) -> None:
        """Note which of the links that were `met` last entered the frontier."""
        self._links = [link for link, is_in in zip(self._links, entered, strict=False) if is_in]
        self._novelty.entered(self._links)

    def place(self, uri: CrawlURI) -> CrawlURI:
        """Return a URI that is about to be handed out, with the directive that it has by now."""
        if not self._settings[self._overlay_of(uri)].learn or uri.is_prerequisite:
            return uri
        view = MARK in uri.heritable
        promise, viewed = self._novelty.place(uri.url, view=view)
        if uri.is_seed or uri.directive < _NORMAL:
            return uri
        directive = _DIRECTIVES[promise]
        if directive == uri.directive and viewed == view:
            return uri
        self._novelty.settled(uri.url)
        heritable = {**uri.heritable, MARK: "1"} if viewed else uri.heritable
        return structs.replace(uri, directive=directive, heritable=heritable)

    def learn(self, visit: Visit) -> None:
        """Take in a final visit, with the links that it brought in."""
        links, self._links = self._links, []
        uri = visit.uri
        if not visit.status or uri.is_prerequisite or not self._settings[visit.overlay].learn:
            self._novelty.settled(uri.url)
            return
        view = MARK in uri.heritable
        if self._novelty.visited(uri.url, view=view):
            noindex = not _INDEXLESS.isdisjoint(visit.robots_meta)
            self._novelty.learn(uri.url, _body(visit), links, view=view, noindex=noindex)

    def reason(self, uri: CrawlURI) -> str:
        """Return why a URI is fetched later than others, as text for people; "" if it is not."""
        if uri.directive <= _NORMAL:
            return ""
        row = self._novelty.row(uri.url, view=MARK in uri.heritable, endless=uri.directive > _POOR)
        if uri.directive == _VIEW and row is not None and row.says_noindex:
            return message(
                "engine.kind-with-noindex",
                "most pages of its kind ({name}) say noindex: they are no content",
                name=row.name,
            )
        if uri.directive == _VIEW or row is None:
            return message(
                "engine.words-of-url-known",
                "every word of its URL is known from others, so that it promises another view",
            )
        if uri.directive == _POOR or not row.reason:
            return message(
                "engine.kind-without-news",
                "the last {dull} pages of its kind ({name}) had nothing new",
                dull=row.dull,
                name=row.name,
            )
        return message(
            "engine.kind-with-reason",
            "{reason} ({name})",
            reason=endless_text(row),
            name=row.name,
        )

    def promises_little(self, url: str) -> bool:
        """Whether a URL that was never scheduled is of a kind whose last pages had nothing new."""
        rows = (self._novelty.row(url, view=view) for view in (False, True))
        return any(row is not None and row.promise >= Promise.POOR for row in rows)

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        self._words.seal()
        changed = self._novelty.changed
        for (host, name), row in changed.items():
            key = _host_key(_KINDS, host) + _digest(name)
            self._store.put(_FAMILY, key, _encode((host, row)))
        changed.clear()
        values = self._novelty.changed_values
        for (host, name), of_name in values.items():
            key = _host_key(_VALUES, host) + _digest(name)
            self._store.put(_FAMILY, key, _encode((host, of_name)))
        values.clear()

    def _recall(self, host: str) -> Iterator[KindRow | ValuesRow]:
        rows = [_decode(value)[1] for value in self._rows(_KINDS, host)]
        yield from rows
        if rows:
            yield from (_decode_values(value)[1] for value in self._rows(_VALUES, host))

    def _rows(self, family: bytes, host: str) -> Iterator[bytes]:
        prefix = _host_key(family, host)
        for _, value in self._store.scan(_FAMILY, prefix, prefix + b"\xff" * 9):
            yield value


class WordRows:
    """The rows of the store that hold the words and texts of sites: those that were added later.

    A row is deleted when later rows fill the table, which has forgotten its words then. So rows of
    a long crawl take no longer to load.

    Args:
        store: Keeps them.
        words: The table.
    """

    def __init__(self, store: Store, words: KnownSet) -> None:
        self._store = store
        self._words = words
        self._first = self._next = 0  # numbers of the oldest row, and of the next
        self._held = 0  # bytes of the rows

    def load(self) -> None:
        """Restore the table; many rows become one."""
        keys, words = [], self._words
        for key, value in self._store.scan(_FAMILY, _WORDS, _WORDS + b"\xff" * 9):
            words.restore(value)
            keys.append(key)
            self._held += len(value)
        if keys:
            self._first, self._next = _number_of(keys[0]), _number_of(keys[-1]) + 1
        if len(keys) > _MERGED:
            for key in keys:
                self._store.delete(_FAMILY, key)
            self._first, self._held = self._next, 0
            self._put(words.everything())

    def seal(self) -> None:
        """Write the words that were added, and remove the rows of those that were forgotten."""
        if self._words.fresh:
            self._put(self._words.take_fresh())
            for _ in range(_REMOVED):
                if not self._remove_oldest():
                    break

    def _put(self, value: bytes) -> None:
        self._store.put(_FAMILY, _words_key(self._next), value)
        self._next += 1
        self._held += len(value)

    def _remove_oldest(self) -> bool:
        """Remove the oldest row; False if the later rows do not fill the table."""
        if self._held <= KnownSet.most_bytes():
            return False
        key = _words_key(self._first)
        remaining = self._held - len(self._store.get(_FAMILY, key) or b"")
        if remaining < KnownSet.most_bytes():
            return False
        self._store.delete(_FAMILY, key)
        self._first += 1
        self._held = remaining
        return True


class UriPlacement:
    """Determines the place of a URI when it is about to be handed out (a `Placement`).

    Args:
        identity: Gives the queue of a URI.
        settings: Settings of queues, with whether URIs may move.
        overlay_of: Determines which combination of sheets applies to a URI.
        prospects: Determines which URIs go later; None: none do.

    Attributes:
        moves: Whether queues of URIs may change.
    """

    def __init__(
        self,
        identity: Identity,
        settings: Effective[FrontierSettings],
        overlay_of: Callable[[CrawlURI], int],
        prospects: Prospects | None,
    ) -> None:
        self._identity = identity
        self._overlay_of = overlay_of
        self._prospects = prospects
        self.moves = identity.moves
        settings.watch(self._renew)

    def _renew(self) -> None:
        self.moves = self._identity.moves

    def queue_of(self, uri: CrawlURI) -> str:
        """See `Placement`."""
        return self._identity.requeue(uri, self._overlay_of(uri))

    def place(self, uri: CrawlURI) -> CrawlURI:
        """See `Placement`."""
        return uri if self._prospects is None else self._prospects.place(uri)


def kinds(store: Store) -> Iterable[tuple[str, KindRow]]:
    """Yield all kinds that were learned, with their hosts."""
    for _, value in store.scan(_FAMILY, _KINDS, _KINDS + b"\xff" * 17):
        yield _decode(value)


def endless_text(row: KindRow) -> str:
    """Return the reason why a kind of URLs is endless, with its counts of now; "" if it is not."""
    if not row.reason:
        return ""
    return message(
        "engine.kind-endless",
        "the last {pages} pages of this kind had nothing new and led to {links:.1f} more such "
        "URLs each",
        pages=row.empty,
        links=row.leads,
    )


def _place(uri: CrawlURI, link: AssessedLink) -> CrawlURI:
    """A link with its place; an embed or a redirect goes later only where its kind is poor."""
    if uri.is_seed or (uri.directive < _NORMAL and link.promise < Promise.POOR):
        return uri
    precedence = uri.precedence
    if precedence == uri.cost:  # the stock order, which treats all URLs alike
        precedence = min(precedence + complexity(uri.url), MAX_PRECEDENCE)
    heritable = {**uri.heritable, MARK: "1"} if link.view else uri.heritable
    directive = _DIRECTIVES[link.promise]
    if directive == uri.directive and precedence == uri.precedence and not link.view:
        return uri
    return structs.replace(uri, directive=directive, precedence=precedence, heritable=heritable)


def _body(visit: Visit) -> bytes:
    """What was fetched, decoded; b"" for a failure."""
    capture = visit.capture
    if capture is None or not 200 <= visit.status < 300:
        return b""
    body = capture.payload(_READ)
    encodings = capture.header_values(b"content-encoding")
    return decode_content(body, encodings, _READ).data if encodings and body else body


def _words_key(number: int) -> bytes:
    return _WORDS + number.to_bytes(8, "big")


def _number_of(key: bytes) -> int:
    return int.from_bytes(key[len(_WORDS) :], "big")


def _host_key(family: bytes, host: str) -> bytes:
    return family + _digest(host)


@lru_cache(maxsize=4_096)
def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, KindRow]).decode
_decode_values = msgspec.msgpack.Decoder(tuple[str, ValuesRow]).decode
