"""The hit rate of speculative links, learned per site; it decides which are worth a fetch.

Links of hop X are guesses: on one site every second one is a page, on another all of them are
404s. Guesses are counted per site and kind (`speculative_kind`): how many were fetched, and how
many of those were hits. A kind is given up when its hit rate is, with 95 % confidence, below 2 %;
one guess in fifty is fetched all the same, so that a site that changes is noticed.
The same URL always gets the same answer for the same counts.
"""

import math
import zlib

import msgspec

from nacre.extract.likely import known_extension

MIN_TRIES = 20
"""Guesses that are always fetched before a kind can be given up."""

HOPELESS_RATE = 0.02
"""Hit rate below which a kind is given up."""

EXPLORED = 50
"""One guess in so many is fetched although its kind was given up."""

MAX_TRIES = 10_000
"""At this number both counts are halved, so that old results count less."""

MAX_KINDS = 512
"""Kinds that are counted per site; others share the kind `*`."""

_Z = 1.6449
"""One-sided 95 % of the normal distribution."""

OTHER = "*"


def worth_trying(tried: int, hit: int, url: str = "") -> bool:
    """Return whether a guess should be fetched.

    Args:
        tried: Guesses of its kind that were fetched on this site.
        hit: How many of them were hits (a success that is not an error page, judged by the caller).
        url: The guess; it decides whether it is explored. "" is never explored.
    """
    return not is_hopeless(tried, hit) or is_explored(url)


def is_hopeless(tried: int, hit: int) -> bool:
    """Return whether the upper end of the Wilson score interval of the hit rate is below 2 %.

    Without any hit that takes 133 tries.
    """
    return tried >= MIN_TRIES and wilson_upper(tried, hit) < HOPELESS_RATE


def wilson_upper(tried: int, hit: int) -> float:
    """Upper end of the one-sided 95 % Wilson score interval of `hit / tried`; 1.0 for no tries.

    Source: E. B. Wilson, Probable Inference, JASA 22 (1927).
    """
    if tried <= 0:
        return 1.0
    rate = min(max(hit / tried, 0.0), 1.0)
    square = _Z * _Z
    spread = _Z * math.sqrt(rate * (1 - rate) / tried + square / (4 * tried * tried))
    return min(1.0, (rate + square / (2 * tried) + spread) / (1 + square / tried))


def is_explored(url: str) -> bool:
    """Return True for one URL in fifty, always the same URLs."""
    return bool(url) and zlib.crc32(url.encode("utf-8", "replace")) % EXPLORED == 0


def speculative_kind(url: str, context: str) -> str:
    """Return the kind of a guess: where it was found, its extension, whether it has a query.

    For example `=JS_MISC js`, `=JS_MISC - ?`, `=JSON_MISC *`: `-` stands for no extension, `*`
    for an unknown one, so that the number of kinds is bounded.
    """
    path, question, _ = url.partition("?")
    name = path.partition("://")[2].partition("/")[2].rpartition("/")[2]
    _, dot, extension = name.rpartition(".")
    shape = (known_extension(extension) or OTHER) if dot else "-"
    return f"{context} {shape} ?" if question else f"{context} {shape}"


class HitRates:
    """The counts of one site: record the outcome of each guess with `note`."""

    __slots__ = ("_counts",)

    def __init__(self, counts: dict[str, tuple[int, int]] | None = None) -> None:
        self._counts = counts or {}

    def worth_trying(self, url: str, context: str) -> bool:
        """Return whether this guess should be fetched."""
        tried, hit = self.counts(speculative_kind(url, context))
        return worth_trying(tried, hit, url)

    def counts(self, kind: str) -> tuple[int, int]:
        """(tried, hit) of a kind; (0, 0) when nothing is known."""
        return self._counts.get(kind) or self._counts.get(OTHER, (0, 0))

    def note(self, url: str, context: str, *, hit: bool) -> None:
        """Count a guess that was fetched."""
        kind = speculative_kind(url, context)
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = OTHER
        tried, hits = self._counts.get(kind, (0, 0))
        tried, hits = tried + 1, hits + hit
        if tried >= MAX_TRIES:
            tried, hits = tried // 2, hits // 2
        self._counts[kind] = (tried, hits)

    def encode(self) -> bytes:
        """Return the counts as a row for the store (MessagePack: kind -> [tried, hit])."""
        return _ENCODER.encode(self._counts)

    @classmethod
    def decode(cls, row: bytes) -> "HitRates":
        """Counts from a row; from a damaged one nothing, as it is only advice."""
        try:
            return cls(_DECODER.decode(row))
        except (msgspec.MsgspecError, ValueError):
            return cls()


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(dict[str, tuple[int, int]])
