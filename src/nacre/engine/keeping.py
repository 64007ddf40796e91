"""Decides which records an incremental run writes of a reply after deduplication.

A version that resembles an earlier one may be stored as a difference from it, always from one that
is stored in full, in a WARC that is finished; the store has its place. A visit that only confirms
the stored version is written at intervals (`KeepSettings`); the fetch log has all visits. See
docs/recrawl-storage.md.
"""

from pathlib import Path
from typing import NamedTuple

from isal import isal_zlib

from nacre import annotations
from nacre.annotations import DUPLICATE_DELTA, DUPLICATE_NOTED, UNRECORDED
from nacre.archive.delta import Delta, DeltaError, apply_patch, make_patch
from nacre.archive.fields import digest_of
from nacre.archive.index_facts import index_facts
from nacre.archive.restoring import response_at
from nacre.archive.warc_writer import GZIP
from nacre.config.component import Bytes, Component, Seconds, setting
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.history import Base, HistoryRecord, Original, kept_validator
from nacre.core.processor import Keep, Visit
from nacre.engine.readback import base_of
from nacre.history.dedup import Digests, is_version
from nacre.store.file_table import get_row
from nacre.store.files import FileState
from nacre.store.store import Store
from nacre.uri.parse import host

_DAY = 86_400.0


class KeepSettings(Component):
    """Settings of the WARC records of incremental runs; the fetch log has every visit."""

    confirmations: Seconds = setting(
        _DAY,
        "A reply that confirms a page (304, or the same bytes) is written the first time after "
        "a change, then once in each such period of UTC; 0: each time.",
        unit="s",
    )
    failures: Seconds = setting(
        _DAY,
        "Of replies without information on a page (5xx, 429, refusals) one is written for each "
        "host in each such period of UTC; 0: all of them.",
        unit="s",
    )
    full_every: Seconds = setting(
        30 * _DAY,
        "`lean`, `delta`: a page that is kept as notes or differences, and its outlinks, are "
        "stored in full at least once in this time; 0: each time.",
        unit="s",
    )
    versions: int = setting(
        16, "`delta`: one of this many versions is stored in full; 1: all.", ge=1, le=1000
    )
    saving: float = setting(
        0.5,
        "`delta`: share of the compressed reply that a difference must save; else it is stored in "
        "full.",
        ge=0,
        le=1,
    )
    largest: Bytes = setting(
        2_000_000, "`delta`: longer replies are stored in full.", unit="bytes", le=67_108_864
    )


class Bases:
    """Finds captures and reads their blocks.

    Args:
        root: Directory of the job.
        store: Its store.
        digests: Place of each payload.
    """

    def __init__(self, root: Path, store: Store, digests: Digests) -> None:
        self._root = root
        self._store = store
        self._digests = digests

    def original(self, record_id: str, digest: str, framing: str) -> Original | None:
        """A capture stored in full; None when another one, or a difference, has that payload."""
        stored = self._digests.get(digest, framing)
        whole = stored is not None and stored.record_id == record_id and not stored.base
        return stored if whole else None

    def path(self, original: Original, *, closed: bool = False) -> Path | None:
        """Return the WARC that holds a capture; None when it is lost, or not yet as it has to be.

        Args:
            original: The capture.
            closed: The WARC has to be finished.
        """
        row = get_row(self._store, original.file) if original.file else None
        if row is None or row.state is FileState.LOST:
            return None
        if row.state is FileState.OPEN:
            return None if closed else self._root / row.path
        return self._root / row.final

    def block(self, delta: Delta) -> bytes:
        """Return the base of a difference; see `archive.restoring.FindBase`."""
        original = self.original(delta.base_id, delta.base_payload, delta.base_framing)
        path = None if original is None else self.path(original)
        if original is None or path is None:
            raise DeltaError("delta-unresolved", f"the store does not know <{delta.base_id}>")
        return response_at(path, original.offset, delta.base_id)


_SAMPLES = b"sample:"
_MICROS = 1e6


class Kept(NamedTuple):
    """The parts of a visit that are written.

    Attributes:
        delta: The difference to store in the place of the reply; None for none.
        confirms: Record id of the difference or note that the reply confirms, so that a note is
            enough.
        omitted: Nothing is written.
    """

    delta: Delta | None = None
    confirms: str = ""
    omitted: bool = False


class Keeping:
    """Decides for the visits of a run that have a `Keep`.

    Args:
        store: Remembers which hosts had their sample.
        settings: How often, how alike.
        bases: Earlier captures.
        level: Compression of a reply that is stored in full, of `member.pack`.
    """

    def __init__(
        self, store: Store, settings: Effective[KeepSettings], bases: Bases, level: int
    ) -> None:
        self._store = store
        self._settings = settings
        self._bases = bases
        self._level = max(0, level)

    def decide(self, visit: Visit, capture: Capture, keep: Keep) -> Kept:
        """Decide which records of a visit are written after deduplication; note it in `keep`."""
        if self._is_omitted(visit, capture, keep):
            keep.omit()
            visit.annotate(UNRECORDED)
            return Kept(omitted=True)
        history = visit.history
        if visit.noted and (history is None or not history.date):
            # What it was compared with is lost, or was cut short: the reply is the only copy.
            visit.write_reply()
        if visit.revisit is not None or visit.noted:
            return Kept()
        if history is not None and self._is_confirmation(visit, capture, keep, history):
            visit.annotate(DUPLICATE_NOTED if history.noted else DUPLICATE_DELTA)
            return Kept(confirms=served_record_id(history))
        delta = self._difference(visit, capture) if keep.patchable else None
        if delta is not None:
            keep.as_difference(base_of(delta), len(delta.patch))
            visit.annotate(annotations.delta(delta.number))
        return Kept(delta)

    def _is_omitted(self, visit: Visit, capture: Capture, keep: Keep) -> bool:
        """Enough was written of its kind."""
        settings, history = self._settings[visit.overlay], visit.history
        if keep.silent and capture.status != 200:
            return not self._is_sample(visit, capture, settings.failures)
        if history is None or not history.confirmed or not confirms(capture, history):
            return False
        return _same_period(history.confirmed, capture.began, settings.confirmations)

    def _is_confirmation(
        self, visit: Visit, capture: Capture, keep: Keep, history: HistoryRecord
    ) -> bool:
        """The same is a difference or a note, to which no revisit may refer."""
        if history.revisitable or not confirms(capture, history):
            return False
        if capture.status == 304:
            return True
        if history.noted is not None or history.base is None:
            return keep.notable and history.noted is not None
        longest = self._settings[visit.overlay].full_every * _MICROS
        return keep.patchable and capture.began - history.base.date < longest

    def _is_sample(self, visit: Visit, capture: Capture, period: float) -> bool:
        """The first of its host in its period; it is noted with the group of its record."""
        key = _SAMPLES + host(visit.uri.url).encode("utf-8", "replace")
        last = self._store.get("meta", key)
        if last is not None and _same_period(int.from_bytes(last, "big"), capture.began, period):
            return False
        self._store.put("meta", key, capture.began.to_bytes(8, "big"))
        return True

    def _difference(self, visit: Visit, capture: Capture) -> Delta | None:
        """A reply as a difference from an earlier one; None when it is to be stored in full."""
        settings = self._settings[visit.overlay]
        base = _base(visit.history)
        length = len(capture.head) + capture.body.length
        if (
            base is None
            or not is_version(capture)
            or not capture.request.startswith(b"GET ")
            or base.number >= settings.versions
            or capture.began - base.date >= settings.full_every * _MICROS
            or length > settings.largest
        ):
            return None
        return self._make_delta(capture, base, settings)

    def _make_delta(self, capture: Capture, base: Base, settings: KeepSettings) -> Delta | None:
        original = self._bases.original(base.record_id, base.digest, base.framing)
        path = None if original is None else self._bases.path(original, closed=True)
        if original is None or path is None or original.url != capture.url:
            return None
        try:
            old = response_at(path, original.offset, base.record_id)
        except DeltaError:
            return None
        if len(old) > settings.largest:
            return None
        new = capture.head + capture.body.read(0, capture.body.length)
        patch = make_patch(old, new)
        full = len(isal_zlib.compress(new, self._level, GZIP))
        if len(patch) > (1.0 - settings.saving) * full or apply_patch(old, patch, len(new)) != new:
            return None
        return _delta(capture, base, (old, patch, new), (path.name, original.offset))


def _base(history: HistoryRecord | None) -> Base | None:
    """What the next version may be a difference from, with the number that one would have."""
    if history is None or not history.date or history.original or not history.record_id:
        return None
    if history.base is None:
        return Base(history.record_id, history.date, history.digest, history.framing, 1)
    base = history.base
    return Base(base.record_id, base.date, base.digest, base.framing, base.number + 1)


def _delta(
    capture: Capture, base: Base, blocks: tuple[bytes, bytes, bytes], place: tuple[str, int]
) -> Delta:
    old, patch, new = blocks
    file, offset = place
    return Delta(
        base_id=base.record_id,
        base_url=capture.url,
        base_date=base.date,
        base_digest=digest_of(old),
        base_length=len(old),
        base_payload=base.digest,
        base_framing=base.framing,
        base_file=file,
        base_offset=offset,
        number=base.number,
        digest=capture.block_digest or digest_of(new),
        length=len(new),
        payload=capture.payload_digest,
        body_length=capture.body.length,
        payload_length=capture.payload_length,
        framing="chunked" if capture.framing == "chunked" else "",
        status=capture.status,
        mime=index_facts(capture.head)[1] or "",
        etag=kept_validator(capture.header(b"etag")),
        last_modified=kept_validator(capture.header(b"last-modified")),
        patch=patch,
    )


def confirms(capture: Capture, history: HistoryRecord) -> bool:
    """Return whether a reply confirms that the known version is still served."""
    if not history.date:
        return False
    return capture.status == 304 or (
        capture.status == 200 and capture.payload_digest == history.served != ""
    )


def served_record_id(history: HistoryRecord) -> str:
    """Return the id of the record with the last served version, which may not be a response."""
    return history.record_id if history.noted is None else history.noted.record_id


def _same_period(first: int, second: int, seconds: float) -> bool:
    """Return whether two times (µs since the epoch) are in one period; False for periods of 0."""
    period = round(seconds * _MICROS)
    return period > 0 and first // period == second // period
