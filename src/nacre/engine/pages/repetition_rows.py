"""The knowledge about the requests of sites, in the store of a job for its later runs."""

from hashlib import blake2b
from typing import Final

import msgspec

from nacre.core.clock import Clock
from nacre.extract.repetition import RepetitionMemory
from nacre.store.store import Store

HeaderLines = tuple[tuple[bytes, bytes], ...]
"""Header lines of a request."""

_FAMILY: Final = "hosts"
_PREFIX: Final = b"pl"
_HOLDS: Final = 30 * 86_400.0
"""Time after which a row that no run verified is forgotten, seconds."""
_LONGEST: Final = 500_000
"""Bytes of a row; a longer one is not written."""


class RepetitionRow(msgspec.Struct, frozen=True, array_like=True):
    """The knowledge about a site.

    Attributes:
        site: Its origin.
        verified: Time of the last page that was run and compared, seconds since the epoch.
        memory: The templates.
        lines: Header lines of the browser, by kind of request.
    """

    site: str
    verified: float
    memory: RepetitionMemory
    lines: dict[str, HeaderLines]


class RepetitionRows:
    """The rows of a job.

    Args:
        store: Stores them.
        clock: The time.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._changed: dict[bytes, bytes] = {}

    def read(self, site: str) -> RepetitionRow | None:
        """Return the row of a site; None if there is none, or it is too old."""
        key = _key(site)
        value = self._changed.get(key) or self._store.get(_FAMILY, key)
        row = _decode(value) if value else None
        is_new = row is not None and 0 <= self._clock.now() - row.verified < _HOLDS
        return row if is_new else None

    def change(self, site: str, memory: RepetitionMemory, lines: dict[str, HeaderLines]) -> None:
        """Have the verified templates written with the next group."""
        value = _encode(RepetitionRow(site, self._clock.now(), memory, lines))
        if len(value) <= _LONGEST:
            self._changed[_key(site)] = value

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        for key, value in self._changed.items():
            self._store.put(_FAMILY, key, value)
        self._changed.clear()


def _key(site: str) -> bytes:
    return _PREFIX + blake2b(site.encode("utf-8", "replace"), digest_size=8).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(RepetitionRow).decode
