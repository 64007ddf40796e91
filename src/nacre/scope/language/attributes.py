"""What an expression can ask of a URI."""

from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.core.crawluri import hop_count
from nacre.scope.hops import link_hops
from nacre.scope.paths import path_of
from nacre.scope.rule import Need, Subject
from nacre.scope.state import ScopeState
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host, scheme, split

Getter = Callable[[Subject], Any]

TEXT, NUMBER, TRUTH = "text", "number", "yes or no"


class Attribute(NamedTuple):
    """One attribute.

    Attributes:
        kind: `TEXT`, `NUMBER` or `TRUTH`.
        doc: Its meaning.
        get: Its value, given the state of the scope; None where it is not known.
        needs: What must be known at the place where it is asked.
    """

    kind: str
    doc: str
    get: Callable[[ScopeState], Getter]
    needs: Need = Need.NOTHING


def _plain(getter: Getter) -> Callable[[ScopeState], Getter]:
    return lambda _: getter


def _queue(state: ScopeState) -> Getter:
    queue_of = state.queue_of
    return lambda subject: subject.facts.queue or queue_of(subject.url)


def _known(text: str) -> str | None:
    return text or None


def _domain(url: str) -> str | None:
    name = host(url)
    return registered_domain(name) if name else None


def _port(subject: Subject) -> int | None:
    return split(subject.url).port or {"http": 80, "https": 443}.get(scheme(subject.url))


def _query(subject: Subject) -> str:
    return subject.url.partition("?")[2]


def _media_type(subject: Subject) -> str:
    return subject.facts.content_type.partition(";")[0].strip().lower()


_HEAD = Need.HEADERS
ATTRIBUTES: dict[str, Attribute] = {
    "url": Attribute(TEXT, "The URL, normalised.", _plain(lambda s: s.url)),
    "scheme": Attribute(TEXT, "`http`, `https`, `dns` …", _plain(lambda s: scheme(s.url))),
    "host": Attribute(TEXT, "Its host, lower case.", _plain(lambda s: _known(host(s.url)))),
    "domain": Attribute(
        TEXT, "Its registered domain: `example.co.uk`.", _plain(lambda s: _domain(s.url))
    ),
    "port": Attribute(NUMBER, "Its port; 80 or 443 where it names none.", _plain(_port)),
    "path": Attribute(TEXT, "Its path, query left out.", _plain(lambda s: path_of(s.url))),
    "query": Attribute(TEXT, "Its query without `?`; empty for none.", _plain(_query)),
    "url_length": Attribute(NUMBER, "Characters of the URL.", _plain(lambda s: len(s.url))),
    "path_depth": Attribute(
        NUMBER, "Slashes in the path.", _plain(lambda s: path_of(s.url).count("/"))
    ),
    "surt": Attribute(TEXT, "SURT as prefixes are compared with it.", _plain(lambda s: s.surt)),
    "hops": Attribute(TEXT, "Hop path from the seed, `LLE`.", _plain(lambda s: s.path)),
    "hop_count": Attribute(NUMBER, "Hops of any kind.", _plain(lambda s: hop_count(s.path))),
    "link_hops": Attribute(
        NUMBER, "Navigational hops (L, M, S).", _plain(lambda s: link_hops(s.path))
    ),
    "last_hop": Attribute(
        TEXT, "Letter of the last hop; empty for a seed.", _plain(lambda s: s.path[-1:])
    ),
    "via": Attribute(
        TEXT, "URL of the page that it was found on.", _plain(lambda s: _known(s.via))
    ),
    "via_host": Attribute(TEXT, "Its host.", _plain(lambda s: _known(host(s.via)))),
    "via_domain": Attribute(TEXT, "Its registered domain.", _plain(lambda s: _domain(s.via))),
    "context": Attribute(
        TEXT, "Where on the page: `a/@href`, `img/@src` …", _plain(lambda s: s.context)
    ),
    "is_seed": Attribute(TRUTH, "It is a seed, or a seed led to it.", _plain(lambda s: s.is_seed)),
    "source": Attribute(
        TEXT,
        "Seed that it descends from; needs `engine.source_tags`.",
        _plain(lambda s: _known(s.source)),
    ),
    "seed": Attribute(
        TEXT,
        "Seed with a scope of its own that it descends from.",
        _plain(lambda s: _known(s.seed)),
    ),
    "queue": Attribute(TEXT, "Queue key: `com,example,www,`.", _queue),
    "precedence": Attribute(
        NUMBER, "Precedence, once it is queued.", _plain(lambda s: s.facts.precedence)
    ),
    "attempts": Attribute(NUMBER, "Fetch attempts before.", _plain(lambda s: s.facts.attempts)),
    "ip": Attribute(
        TEXT, "Address of the server.", _plain(lambda s: _known(s.facts.address)), Need.ADDRESS
    ),
    "status": Attribute(
        NUMBER, "Status: HTTP's, or the crawler's own.", _plain(lambda s: s.facts.status), _HEAD
    ),
    "content_type": Attribute(
        TEXT,
        "Content-Type as sent; `unknown` for none.",
        _plain(lambda s: s.facts.content_type),
        _HEAD,
    ),
    "media_type": Attribute(
        TEXT, "The same without parameters, lower case.", _plain(_media_type), _HEAD
    ),
    "header_length": Attribute(
        NUMBER, "Content-Length as sent, bytes.", _plain(lambda s: s.facts.header_length), _HEAD
    ),
    "length": Attribute(
        NUMBER, "Bytes of payload received.", _plain(lambda s: s.facts.received), Need.RESPONSE
    ),
    "identical": Attribute(
        TRUTH,
        "Its payload is that of an earlier capture.",
        _plain(lambda s: s.facts.identical),
        Need.DIGEST,
    ),
}
"""Attributes by name."""

OF_ORIGIN = frozenset(("via", "via_host", "via_domain", "context", "is_seed", "source", "seed"))
"""Attributes that are about where the URI was found."""
