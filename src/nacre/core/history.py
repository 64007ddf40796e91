"""History rows: of a URL by its visits, of a payload by its capture; and the fetch log."""

from typing import Final

import msgspec
from msgspec import structs

LONGEST_VALIDATOR = 2000
"""Bytes of the longest ETag or Last-Modified that is kept and sent back."""


class Base(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The capture, stored in full, that a later one of the same URL is a difference from.

    Attributes:
        record_id: Its WARC-Record-ID, without angle brackets.
        date: Its WARC-Date, µs since the epoch.
        digest: Its payload digest.
        framing: Its transfer framing: `chunked` or "".
        number: Differences from it so far.
    """

    record_id: str
    date: int
    digest: str
    framing: str = ""
    number: int = 1


class Noted(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A reply of which only a note is kept.

    Attributes:
        record_id: WARC-Record-ID of the note, without angle brackets.
        digest: Payload digest of the reply.
    """

    record_id: str
    digest: str


class StoredLinks(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The metadata record that has the outlinks of a URL.

    Attributes:
        record_id: Its WARC-Record-ID, without angle brackets.
        date: Its WARC-Date, µs since the epoch.
        digest: Digest of its outlink lines, `sha1:BASE32`.
        file: Number of its WARC in the store's file table.
        offset: Its offset there, in bytes.
    """

    record_id: str
    date: int
    digest: str
    file: int
    offset: int


class HistoryRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row per fetched URL, keyed by its case-preserving SURT; survives runs.

    Attributes:
        url: The URL.
        status: Status of the last visit.
        visited: Time of the last visit, µs since the epoch.
        date: WARC-Date of the last capture that was stored, µs; 0 when there is none.
        digest: Payload digest of that capture, `sha1:BASE32`.
        framing: Its transfer framing: `chunked` or "".
        record_id: Its WARC-Record-ID, without angle brackets.
        etag: ETag of that capture, or of `noted`, as received; b"" when absent, and when
            it is longer than `LONGEST_VALIDATOR`.
        last_modified: The same of Last-Modified.
        length: Its payload length in bytes.
        visits: Number of visits.
        original: URL of that capture where it is another's (same payload); "" for its own.
        base: Base of the difference; None if the capture is stored in full.
        confirmed: WARC-Date of the last record that confirms that it is still served, µs since the
            epoch; 0 for none.
        noted: A later reply with the same content in other bytes; None for none.
        links: The last record with all of its outlinks; None if no run may refer to one.
        rendered: Whether the last visit ran it in a browser: its payload alone does not show what
            it has.
    """

    url: str
    status: int = 0
    visited: int = 0
    date: int = 0
    digest: str = ""
    framing: str = ""
    record_id: str = ""
    etag: bytes = b""
    last_modified: bytes = b""
    length: int = 0
    visits: int = 0
    original: str = ""
    base: Base | None = None
    confirmed: int = 0
    noted: Noted | None = None
    links: StoredLinks | None = None
    rendered: bool = False

    @property
    def served(self) -> str:
        """Payload digest of the last reply with status 200."""
        return self.digest if self.noted is None else self.noted.digest

    @property
    def revisitable(self) -> bool:
        """Whether a 304 can refer to the capture: it is stored in full, and was served last."""
        return bool(self.date) and self.base is None and self.noted is None


class Original(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first capture of a payload, which a revisit record refers to.

    Attributes:
        url: WARC-Target-URI of the original.
        date: Its WARC-Date, µs since the epoch.
        record_id: Its WARC-Record-ID, without angle brackets.
        file: Number of its WARC in the store's file table.
        offset: Its offset there, in bytes.
        digest: Its payload digest, if another digest found it (`Visit.digest`); else "".
        base: Record id of the base of the difference; "" if it is stored in full. No revisit refers
            to a difference: other readers could not resolve it.
    """

    url: str
    date: int
    record_id: str
    file: int = 0
    offset: int = 0
    digest: str = ""
    base: str = ""


class RevisitProfile(msgspec.Struct, frozen=True):
    """The reason why a capture is not stored in full.

    Attributes:
        kind: `identical-payload-digest` or `server-not-modified`.
        original: What it refers to.
        digest: Payload digest of the original.
    """

    kind: str
    original: Original
    digest: str


def kept_validator(value: bytes | None) -> bytes:
    """Return an ETag or Last-Modified in stored form; b"" for none, and if it is too long."""
    return value if value is not None and len(value) <= LONGEST_VALIDATOR else b""


def without_capture(history: HistoryRecord) -> HistoryRecord:
    """Return a row that no revisit and no conditional request can come from."""
    return structs.replace(
        history,
        date=0,
        digest="",
        framing="",
        record_id="",
        etag=b"",
        last_modified=b"",
        length=0,
        original="",
        base=None,
        confirmed=0,
        noted=None,
        links=None,
    )


PAIR: Final = "pair"
"""Reason and verdict of a second fetch, which only serves to learn noise."""


class FetchRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One visit; rows are only ever added, but for verdicts that the end of a run corrects.

    Attributes:
        url: The URL.
        time: Seconds since the epoch; the begin of the capture if there is one.
        run: Number of the run.
        status: Fetch status.
        answer: Evidence on the page's existence (`change_detection.deletion.Answer`): `there`,
            `missing`, `gone`, `soft-404`, `moved`, `silent`.
        kind: How it differs from the last version: `none`, `markup`, `noise`, `template`, `minor`,
            `major`; `new` for the first visit.
        score: Share of the page that differs, 0 to 1.
        reason: Code of the deciding rule.
        wanted: Why the planner chose it (`planner.step.Choice`); `embed` for embedded resources; ""
            if the planner did not choose it, as in a full run.
        propensity: Probability with which it was chosen: 1 but for pages drawn at random.
        chance: The forecast that there was something to keep.
        bytes: Bytes of payload received.
        stored: What the archive got: `novel`, `duplicate`, `not-modified`, `noted` (metadata
            only), `delta` (a difference), "" for nothing.
        patch: Bytes of the difference, for `delta`.
        evidence: The first differences that decided, in words; "" for none.
        rendered: The page was run in a browser, and judged by its final document.
    """

    url: str
    time: float
    run: int
    status: int
    answer: str = ""
    kind: str = ""
    score: float = 0.0
    reason: str = ""
    wanted: str = ""
    propensity: float = 1.0
    chance: float = 0.0
    bytes: int = 0
    stored: str = ""
    patch: int = 0
    evidence: str = ""
    rendered: bool = False

    @property
    def verdict(self) -> str:
        """The verdict of the visit: how the page differs, or whether it exists.

        `pair`: a second fetch, which is no verdict on the page.
        """
        if self.answer == "silent" and self.reason == PAIR:
            return PAIR
        return self.kind or "none" if self.answer in {"there", ""} else self.answer
