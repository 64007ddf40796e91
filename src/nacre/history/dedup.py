"""Deduplication: revisits by payload digest and by 304.

A revisit refers only to an original with the same transfer framing: an identity revisit of a
chunked original would replay with the framing in its body. Truncated and empty payloads are
neither revisits nor originals. Error pages may be both, as in Heritrix, for a revisit keeps its own
status; the first failure of a URL is stored in full. A capture stored as a difference cannot be an
original: a reader without support for differences could not resolve the revisit.

`History` has the facts of the last visit of each URL; its rows survive runs.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from nacre.config.component import Component, setting
from nacre.core.base32 import decode_sha1
from nacre.core.capture import Capture
from nacre.core.history import HistoryRecord, Original, RevisitProfile
from nacre.store.store import Store
from nacre.uri.surt import history_key

_DIGESTS = "digests"
IDENTICAL = "identical-payload-digest"
NOT_MODIFIED = "server-not-modified"


class DedupMode(StrEnum):
    """The condition under which two captures count as the same."""

    ALL = "all"
    SAME_URL = "same-url"
    OFF = "off"


_OFF, _SAME_URL = DedupMode.OFF, DedupMode.SAME_URL  # the way to a member of an enumeration is long


class DedupSettings(Component):
    """Deduplication to revisit records."""

    mode: DedupMode = setting(
        DedupMode.ALL,
        "When a payload that was stored before becomes a revisit record. `all`: for any URL; "
        "`same-url`: only for the same URL; `off`: never.",
    )
    conditional: bool = setting(
        default=True,
        doc="Send the validators (ETag, Last-Modified) of the last reply 200, so that an "
        "unchanged page costs a 304; false: every visit fetches the whole body.",
    )
    min_length: int = setting(1, "Shorter payloads are always stored.", unit="bytes", ge=1)


class Digests:
    """The first capture of each payload, by digest and framing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._novelty = store.novelty(_DIGESTS)
        self._decoder = msgspec.msgpack.Decoder(Original)
        self._encoder = msgspec.msgpack.Encoder()

    def get(self, digest: str, framing: str) -> Original | None:
        """Return the original of a payload; None when it was never stored."""
        key = digest_key(digest, framing)
        row = None if self._novelty.is_new(key) else self._store.get(_DIGESTS, key)
        return None if row is None else self._decoder.decode(row)

    def put(self, digest: str, framing: str, original: Original) -> None:
        """Make an original known; only in the step that appends its record."""
        key = digest_key(digest, framing)
        self._novelty.add(key)
        self._store.put(_DIGESTS, key, self._encoder.encode(original))

    def drop(self, digest: str, framing: str) -> None:
        """Forget an original whose record was lost."""
        self._store.delete(_DIGESTS, digest_key(digest, framing))


def digest_key(digest: str, framing: str) -> bytes:
    """Key of a payload: 20 bytes of SHA-1 and one of framing; other algorithms by name."""
    mark = b"c" if framing == "chunked" else b"-"
    name, _, value = digest.partition(":")
    if name == "sha1" and len(value) == 32:
        return decode_sha1(value) + mark
    return digest.encode() + mark


def is_version(capture: Capture) -> bool:
    """A version of its page: whole, successful and not empty."""
    return capture.status == 200 and _is_whole(capture)


def can_be_original(capture: Capture) -> bool:
    """A payload that revisits may refer to, or be of: a version, or the page of an error."""
    return (capture.status == 200 or capture.status >= 400) and _is_whole(capture)


def _is_whole(capture: Capture) -> bool:
    return not capture.truncated and capture.payload_length > 0 and capture.payload_digest != ""


def revisit_of(
    capture: Capture,
    settings: DedupSettings,
    history: HistoryRecord | None,
    digests: Digests,
    digest: str = "",
) -> RevisitProfile | None:
    """Return the reason why a capture need not be stored in full; None when it must be.

    Args:
        capture: The exchange.
        settings: What counts as the same.
        history: The URL's history; None on its first visit.
        digests: Payloads stored before.
        digest: What the content is compared by; "" for the payload digest.
    """
    if capture.status == 304:
        return _not_modified(history)
    if (
        settings.mode is _OFF
        or not can_be_original(capture)
        or capture.payload_length < settings.min_length
        or (capture.status != 200 and (history is None or history.status != capture.status))
    ):
        return None
    if digest:
        framing = "chunked" if capture.framing == "chunked" else ""
        return _alike(capture, settings, digests.get(digest, framing))
    return _identical(capture, settings, history, digests)


def _identical(
    capture: Capture, settings: DedupSettings, last: HistoryRecord | None, digests: Digests
) -> RevisitProfile | None:
    framing = "chunked" if capture.framing == "chunked" else ""
    if (
        last
        and last.base is None
        and last.digest == capture.payload_digest
        and last.framing == framing
        and last.date
    ):
        return RevisitProfile(IDENTICAL, _original(last), capture.payload_digest)
    original = digests.get(capture.payload_digest, framing)
    if (
        original is None
        or original.base
        or (settings.mode is _SAME_URL and original.url != capture.url)
    ):
        return None
    return RevisitProfile(IDENTICAL, original, capture.payload_digest)


def _alike(
    capture: Capture, settings: DedupSettings, original: Original | None
) -> RevisitProfile | None:
    """Return a revisit of an equivalent capture, whose payload may differ."""
    same = original is not None and original.url == capture.url
    if original is None or original.base or (settings.mode is _SAME_URL and not same):
        return None
    return RevisitProfile(IDENTICAL, original, original.digest)


def _not_modified(history: HistoryRecord | None) -> RevisitProfile | None:
    if history is None or not history.revisitable:
        return None
    return RevisitProfile(NOT_MODIFIED, _original(history), history.digest)


def _original(history: HistoryRecord) -> Original:
    return Original(history.original or history.url, history.date, history.record_id)


_HISTORY = "history"


class History:
    """Rows by case-preserving SURT, never by the seen key: two pages never share a history."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoder = msgspec.msgpack.Decoder(HistoryRecord)
        self._encoder = msgspec.msgpack.Encoder()
        # A first crawl requests each URL once and has no history: it need not look up.
        self._any = any(True for _ in store.scan(_HISTORY, b"", limit=1))

    def get(self, url: str) -> HistoryRecord | None:
        """Return the row of a URL from an earlier run; None on its first visit."""
        return self.latest(url) if self._any else None

    def latest(self, url: str) -> HistoryRecord | None:
        """Return the row of a URL, of this run too; None if it was never visited."""
        row = self._store.get(_HISTORY, history_key(url).encode())
        return None if row is None else self._decoder.decode(row)

    def put(self, record: HistoryRecord) -> None:
        """Keep a row; joins the open commit group."""
        self._store.put(_HISTORY, history_key(record.url).encode(), self._encoder.encode(record))

    def carry(self, records: Sequence[HistoryRecord]) -> None:
        """Keep rows of earlier rounds, of which this store knew nothing so far."""
        for record in records:
            self.put(record)
        self._any = self._any or bool(records)

    def stored(self, url: str) -> bytes | None:
        """Return the row of a URL with the data of this run, in msgpack; None: there is none."""
        return self._store.get(_HISTORY, history_key(url).encode())
