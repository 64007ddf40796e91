"""What links promise, in a running job: what promises less is fetched later (`novelty`).

What was learned joins the commit group of the visit that taught it, and a job that goes on has it
again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b

import msgspec
from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.processor import Visit
from nacre.frontier.precedence import MAX_PRECEDENCE
from nacre.frontier.settings import TrapSettings
from nacre.history.finding.novelty import KindRow, Link, Novelty, Promise, complexity
from nacre.store.store import Store
from nacre.wire.coding import decode_content

_FAMILY = "hosts"
_WORDS, _KINDS = b"nw", b"nk"
_MERGED = 1_000
_READ = 300_000
"""Bytes of a page that are read."""
_NORMAL, _VIEW, _POOR = Directive.NORMAL, Directive.VIEW, Directive.POOR

MARK = "_view"
"""Heritable datum of a URI no word of whose URL was new; it is not passed on."""

_DIRECTIVES = {
    Promise.NEW: Directive.NORMAL,
    Promise.VIEW: Directive.VIEW,
    Promise.POOR: Directive.POOR,
    Promise.ENDLESS: Directive.ENDLESS,
}


class Prospects:
    """Says which of the links that were accepted go later.

    Args:
        store: Keeps what was learned.
        settings: Whether it is to be learned, under each combination of sheets.
        overlay_of: Says which combination applies to a URI.
        read_only: It only answers `why`.
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
        self._links: list[Link] = []
        self._next = 0
        if not read_only:
            self._load()

    def met(self, uris: Sequence[CrawlURI], overlay: int) -> list[CrawlURI]:
        """The links of a page, each with the directive that it promises; seeds keep theirs."""
        self._links = []
        if not self._settings[overlay].learn:
            return list(uris)
        found = []
        for uri in uris:
            link = self._novelty.meet(uri.url)
            self._links.append(link)
            found.append(_placed(uri, link))
        return found

    def entered(self, entered: Sequence[bool]) -> None:
        """Which of the links that were `met` last entered the frontier."""
        self._links = [link for link, is_in in zip(self._links, entered, strict=False) if is_in]

    def place(self, uri: CrawlURI) -> CrawlURI:
        """A URI that is about to be handed out, with the directive that it has by now."""
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
        self._novelty.settled(uri.url)
        if not visit.status or uri.is_prerequisite or not self._settings[visit.overlay].learn:
            return
        view = MARK in uri.heritable
        if self._novelty.wants(uri.url, view=view):
            self._novelty.learn(uri.url, _body(visit), links, view=view)

    def why(self, uri: CrawlURI) -> str:
        """Why a URI goes later than others, for people; "" when it does not."""
        if uri.directive <= _NORMAL:
            return ""
        row = self._novelty.row(uri.url, view=MARK in uri.heritable, endless=uri.directive > _POOR)
        if uri.directive == _VIEW or row is None:
            return "every word of its URL is known from others, so that it promises another view"
        if uri.directive == _POOR or not row.reason:
            return f"the last {row.dull} pages of its kind ({row.name}) had nothing new"
        return f"{row.reason} ({row.name})"

    def seal(self) -> None:
        """Write what changed; called just before a group is sealed."""
        if self._novelty.words.fresh:
            self._store.put(_FAMILY, _words_key(self._next), self._novelty.words.taken())
            self._next += 1
        changed = self._novelty.changed
        for (host, name), row in changed.items():
            self._store.put(_FAMILY, _kind_key(host) + _digest(name), _encode((host, row)))
        changed.clear()

    def _load(self) -> None:
        keys = []
        for key, value in self._store.scan(_FAMILY, _WORDS, _WORDS + b"\xff" * 9):
            self._novelty.words.restore(value)
            keys.append(key)
        if keys:
            self._next = int.from_bytes(keys[-1][len(_WORDS) :], "big") + 1
        if len(keys) > _MERGED:
            for key in keys:
                self._store.delete(_FAMILY, key)
            self._store.put(_FAMILY, _words_key(self._next), self._novelty.words.everything())
            self._next += 1

    def _recall(self, host: str) -> Iterator[KindRow]:
        prefix = _kind_key(host)
        for _, value in self._store.scan(_FAMILY, prefix, prefix + b"\xff" * 9):
            yield _decode(value)[1]


def kinds(store: Store) -> Iterable[tuple[str, KindRow]]:
    """All kinds that were learned, with their hosts."""
    for _, value in store.scan(_FAMILY, _KINDS, _KINDS + b"\xff" * 17):
        yield _decode(value)


def _placed(uri: CrawlURI, link: Link) -> CrawlURI:
    """A link with its place; an embed or a redirect goes later only where its kind is poor."""
    if uri.is_seed or (uri.directive < _NORMAL and link.promise < Promise.POOR):
        return uri
    precedence = uri.precedence
    if precedence == uri.cost:  # the stock order, which tells no URLs apart
        precedence = min(precedence + complexity(uri.url), MAX_PRECEDENCE)
    heritable = {**uri.heritable, MARK: "1"} if link.view else uri.heritable
    directive = _DIRECTIVES[link.promise]
    if directive == uri.directive and precedence == uri.precedence and not link.view:
        return uri
    return structs.replace(uri, directive=directive, precedence=precedence, heritable=heritable)


def _body(visit: Visit) -> bytes:
    """What was got, decoded; b"" for a failure."""
    capture = visit.capture
    if capture is None or not 200 <= visit.status < 300:
        return b""
    body = capture.payload(_READ)
    encodings = capture.header_values(b"content-encoding")
    return decode_content(body, encodings, _READ).data if encodings and body else body


def _words_key(number: int) -> bytes:
    return _WORDS + number.to_bytes(8, "big")


def _kind_key(host: str) -> bytes:
    return _KINDS + _digest(host)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[str, KindRow]).decode
