"""The attributes of a URI and the operators that an expression of a scope may use."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.core.crawluri import hop_count
from nacre.messages import message
from nacre.scope.rules.regex import pattern_list, usable_regex
from nacre.scope.rules.url import path_of
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need, Subject, link_hops
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host, scheme, split

Getter = Callable[[Subject], Any]

TEXT, NUMBER, TRUTH = "text", "number", "yes or no"


class Attribute(NamedTuple):
    """One attribute.

    Attributes:
        kind: `TEXT`, `NUMBER` or `TRUTH`.
        doc: Its meaning.
        get: Return its value, given the state of the scope; None: the value is unknown.
        needs: Facts that its place must have.
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


def _none_if_empty(text: str) -> str | None:
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
    "host": Attribute(TEXT, "Its host, lower case.", _plain(lambda s: _none_if_empty(host(s.url)))),
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
        TEXT, "URL of the page that it was found on.", _plain(lambda s: _none_if_empty(s.via))
    ),
    "via_host": Attribute(TEXT, "Its host.", _plain(lambda s: _none_if_empty(host(s.via)))),
    "via_domain": Attribute(TEXT, "Its registered domain.", _plain(lambda s: _domain(s.via))),
    "context": Attribute(
        TEXT, "Where on the page: `a/@href`, `img/@src` …", _plain(lambda s: s.context)
    ),
    "is_seed": Attribute(TRUTH, "It is a seed, or a seed led to it.", _plain(lambda s: s.is_seed)),
    "source": Attribute(
        TEXT,
        "Seed that it descends from; needs `engine.source_tags`.",
        _plain(lambda s: _none_if_empty(s.source)),
    ),
    "seed": Attribute(
        TEXT,
        "The seed with its own scope that the URI descends from.",
        _plain(lambda s: _none_if_empty(s.seed)),
    ),
    "queue": Attribute(TEXT, "Queue key: `com,example,www,`.", _queue),
    "precedence": Attribute(
        NUMBER, "Precedence, once it is queued.", _plain(lambda s: s.facts.precedence)
    ),
    "attempts": Attribute(NUMBER, "Fetch attempts before.", _plain(lambda s: s.facts.attempts)),
    "ip": Attribute(
        TEXT,
        "Address of the server.",
        _plain(lambda s: _none_if_empty(s.facts.address)),
        Need.ADDRESS,
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


class Operand(NamedTuple):
    """A part of an expression.

    Attributes:
        kind: `text`, `number`, `yes or no`, or `list of …s`.
        needs: Facts that its place must have.
        make: Its value for a URI, given the state of the scope.
        position: Where it begins.
        constant: Its value where it is always the same; else None.
    """

    kind: str
    needs: Need
    make: Callable[[ScopeState], Getter]
    position: int
    constant: Any = None


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MANY = f"list of {TEXT}s"


def compare(sign: str, left: Operand, right: Operand) -> Operand:
    """`left sign right`.

    Raises:
        ValueError: They cannot be compared so.
    """
    if left.kind != right.kind:
        raise ValueError(
            message(
                "scope.cannot-be-compared",
                "a {left} cannot be compared with a {right}",
                left=left.kind,
                right=right.kind,
            )
        )
    if left.kind not in (TEXT, NUMBER) and sign not in ("==", "!="):
        raise ValueError(
            message(
                "scope.compares-texts-or-numbers",
                "`{sign}` compares texts or numbers, not a {kind}",
                sign=sign,
                kind=left.kind,
            )
        )
    return _join_operands(left, right, _COMPARISONS[sign])


def word(name: str, left: Operand, right: Operand) -> Operand:
    """`left in right`, `left matches right` and so on.

    Raises:
        ValueError: What is on one of the sides does not suit the word.
    """
    return WORDS[name](name, left, right)


def _join_operands(left: Operand, right: Operand, test: Callable[[Any, Any], bool]) -> Operand:
    def make(state: ScopeState) -> Getter:
        first, second = left.make(state), right.make(state)

        def holds(subject: Any) -> bool:  # noqa: ANN401 - a Subject
            left_value, right_value = first(subject), second(subject)
            return (
                left_value is not None and right_value is not None and test(left_value, right_value)
            )

        return holds

    return Operand(TRUTH, left.needs | right.needs, make, left.position)


def _require(name: str, operand: Operand, *kinds: str) -> None:
    if operand.kind not in kinds:
        raise ValueError(
            message(
                "scope.takes-not",
                "`{name}` takes a {names}, not a {kind}",
                name=name,
                names=" or a ".join(kinds),
                kind=operand.kind,
            )
        )


def _in(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT, NUMBER)
    _require(name, right, f"list of {left.kind}s")
    return _join_operands(left, right, lambda value, many: value in many)


def _contains(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    if right.kind == TEXT:
        return _join_operands(left, right, operator.contains)
    return _join_operands(left, right, lambda value, many: any(part in value for part in many))


def _ends(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    method = str.startswith if name == "startswith" else str.endswith
    if right.constant is None:
        return _join_operands(left, right, method)
    suffixes = right.constant
    ends = (suffixes,) if isinstance(suffixes, str) else tuple(sorted(suffixes))
    return _join_operands(left, right, lambda value, _: method(value, ends))


def _matches(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    if right.constant is None:
        raise ValueError(
            message(
                "scope.takes-text-in-quotes",
                "`{name}` takes a text in quotes, or a list of them",
                name=name,
            )
        )
    constant = right.constant
    patterns = [constant] if isinstance(constant, str) else sorted(constant)
    for pattern in patterns:
        usable_regex(pattern)

    def make(state: ScopeState) -> Getter:
        value = left.make(state)
        match = pattern_list(patterns, state, search=name == "finds").matches

        def holds(subject: Any) -> bool:  # noqa: ANN401 - a Subject
            text = value(subject)
            return text is not None and match(text)

        return holds

    return Operand(TRUTH, left.needs, make, left.position)


WORDS: dict[str, Callable[[str, Operand, Operand], Operand]] = {
    "in": _in,
    "contains": _contains,
    "startswith": _ends,
    "endswith": _ends,
    "matches": _matches,
    "finds": _matches,
}
"""Operators that are words. `matches` means the whole text, `finds` anywhere in it."""
