"""The subject of a rule: facts about a URI, the places with them, and tests of its hop path."""

from collections.abc import Sequence
from enum import Enum, Flag, auto
from functools import lru_cache

import msgspec

from nacre.core.crawluri import Hop, split_path
from nacre.core.processor import Visit
from nacre.uri.surt import scope_surt


class Need(Flag):
    """The data that a rule needs beside the URI; each is known only from some place on."""

    NOTHING = 0
    ADDRESS = auto()
    HEADERS = auto()
    RESPONSE = auto()
    DIGEST = auto()


NEEDS = {
    Need.ADDRESS: "the server's address",
    Need.HEADERS: "the status and headers of the reply",
    Need.RESPONSE: "the whole reply",
    Need.DIGEST: "the comparison with earlier captures",
}
"""The needs in words."""


class RulePlace(Enum):
    """The places where rules are evaluated, and the facts that they have."""

    CANDIDATES = ("the scope, which judges links before anything is fetched", Need.NOTHING)
    BEFORE_FETCH = ("the gate of a processor before the fetch", Need.ADDRESS)
    RECHECK = ("the scope, asked again before the fetch", Need.ADDRESS)
    MID_FETCH = ("fetch.midfetch, asked between headers and body", Need.ADDRESS | Need.HEADERS)
    AFTER_FETCH = (
        "the gate of a processor after the fetch",
        Need.ADDRESS | Need.HEADERS | Need.RESPONSE,
    )
    DISPOSITION = (
        "the gate of a processor of the disposition",
        Need.ADDRESS | Need.HEADERS | Need.RESPONSE | Need.DIGEST,
    )

    @property
    def text(self) -> str:
        """The place in words."""
        return self.value[0]

    @property
    def offers(self) -> Need:
        """The data that are known there."""
        return self.value[1]


_IDENTICAL = "identical-payload-digest"
_LONGEST = 18
"""Digits of a length that is believed."""

UNKNOWN_TYPE = "unknown"
"""The media type where a reply names none, as in Heritrix's logs."""


class Facts(msgspec.Struct, frozen=True, gc=False):
    """The facts of a URI that became known after it was a link.

    Attributes:
        queue: Queue key; "" while it has none.
        precedence: Its precedence; None while it has none.
        attempts: Fetch attempts made before.
        address: Address of the server; "" while unknown.
        status: Status of the fetch; 0 before the fetch.
        content_type: Content-Type of the header; `unknown` if it is missing.
        header_length: Content-Length of the header, bytes; None when missing or unreadable.
        received: Bytes of payload received; None before the body.
        identical: The payload is the same as that of an earlier capture.
    """

    queue: str = ""
    precedence: int | None = None
    attempts: int = 0
    address: str = ""
    status: int = 0
    content_type: str = UNKNOWN_TYPE
    header_length: int | None = None
    received: int | None = None
    identical: bool = False


NO_FACTS = Facts()


class Subject(msgspec.Struct, gc=False):
    """The URI that a rule decides on, with all facts about it.

    Attributes:
        url: Absolute and normalised.
        path: Hop path, its own hop included; "" for a seed.
        via: The page that it was found on; "" for a seed.
        context: Link context.
        is_seed: A seed, or the redirect target of one. A rule may make it one.
        source: Source tag.
        seed: The seed with its own scope that the URI descends from; "" for none.
        facts: What is known later than that.
    """

    url: str
    path: str = ""
    via: str = ""
    context: str = ""
    is_seed: bool = False
    source: str = ""
    seed: str = ""
    facts: Facts = NO_FACTS

    def mark_as_seed(self) -> None:
        """Count the URI as a seed from now on: a seed led to it."""
        self.is_seed = True

    @property
    def surt(self) -> str:
        """SURT for prefix matching; https counts as http."""
        return scope_surt(self.url)


OWN_SCOPE = "scope"
"""Key of the heritable data: the seed with its own scope that a URI descends from."""


def subject_of_link(visit: Visit, facts: Facts = NO_FACTS) -> Subject:
    """Return a visit as its link was, with the facts that are known of it."""
    uri = visit.uri
    seed = uri.heritable.get(OWN_SCOPE, "") if uri.heritable else ""
    return Subject(uri.url, uri.path, uri.via, uri.context, uri.is_seed, uri.source, seed, facts)


def subject_of(visit: Visit, address: str = "") -> Subject:
    """Return the subject of a visit at this moment.

    Args:
        visit: The visit.
        address: Address of the server if there is no capture yet; "" if unknown.
    """
    uri, capture = visit.uri, visit.capture
    headers = capture.headers if capture is not None else ()
    facts = Facts(
        queue=uri.queue,
        precedence=uri.precedence,
        attempts=uri.attempts,
        address=(capture.address if capture is not None else "") or address,
        status=visit.status,
        content_type=_text(headers, b"content-type") or UNKNOWN_TYPE,
        header_length=_length(_text(headers, b"content-length")),
        received=capture.payload_length if capture is not None else None,
        identical=visit.revisit is not None and visit.revisit.kind == _IDENTICAL,
    )
    return subject_of_link(visit, facts)


def head_facts(
    visit: Visit, address: str, status: int, headers: Sequence[tuple[bytes, bytes]]
) -> Facts:
    """Return the facts that are known between the headers and the body of a reply."""
    return Facts(
        queue=visit.uri.queue,
        precedence=visit.uri.precedence,
        attempts=visit.uri.attempts,
        address=address,
        status=status,
        content_type=_text(headers, b"content-type") or UNKNOWN_TYPE,
        header_length=_length(_text(headers, b"content-length")),
    )


def _text(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str:
    """Return the first value of a header; "" when it is missing."""
    for key, value in headers:
        if key.lower() == name:
            return value.strip().decode("latin-1")
    return ""


def _length(text: str) -> int | None:
    """Return a Content-Length; None when it is missing or no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else None


_NAVIGATION = "LMS"

MAX_REDIRECTS = 20
"""Redirects in a row that a transclusion may take, as in browsers; Heritrix follows them for ever,
which a server that invents a longer URL each time makes use of."""


@lru_cache(maxsize=16_384)
def is_transcluded(path: str, max_hops: int, max_speculative: int) -> bool:
    """Return whether a URI is near its page: an embed, or a resource of an embed.

    Looks at the hops since the last L, S or M: at least one, at most `max_speculative` X, and at
    most `max_hops` that are not redirects; of redirects there may be `MAX_REDIRECTS`.
    """
    hops = speculative = redirects = 0
    for letter in reversed(split_path(path)[1]):
        if letter in _NAVIGATION:
            break
        if letter == "R":
            redirects += 1
            continue
        hops += 1
        if letter == "X":
            speculative += 1
    if hops > max_hops or speculative > max_speculative:
        return False
    return hops + redirects > 0 and redirects <= MAX_REDIRECTS


def link_hops(path: str) -> int:
    """Number of navigational hops (L, and M and S, which lead to pages too)."""
    overflow, letters = split_path(path)
    return overflow + sum(letters.count(letter) for letter in _NAVIGATION)


def is_embed(path: str) -> bool:
    """The last hop that is not a redirect is an embed or a prerequisite."""
    letters = split_path(path)[1].rstrip("R")
    return letters.endswith((Hop.EMBED, Hop.PREREQUISITE))
