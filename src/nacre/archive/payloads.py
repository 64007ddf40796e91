"""Payload digests of the captures in WARCs, in both readings of a chunked reply.

Nacre's `WARC-Payload-Digest` is that of the payload without transfer coding, as the WARC standard
says. Heritrix over HTTP/1.1 and warcio digest the bytes behind the head as they came, chunk sizes
and all; who must match such a list needs that reading.
"""

import re
from base64 import b32encode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nacre.archive.block import label_of, read_block
from nacre.archive.fieldrules import unbracketed
from nacre.archive.reader import WarcEntry, WarcReader

_CAPTURES = frozenset(("response", "resource", "revisit"))
_DIGITS = re.compile(r"\D")


class PayloadDigest(NamedTuple):
    """The payload digest of a capture.

    Attributes:
        digest: `sha1:BASE32`; "-" where the record has none. That of a revisit is as recorded
            where its original was not read, or was not chunked.
        date: `WARC-Date` as digits, `20261120151100`.
        url: `WARC-Target-URI`.
    """

    digest: str
    date: str
    url: str


class PayloadDigests:
    """Reads WARCs; a revisit has the digest of what it refers to, where that was read before.

    Args:
        raw: Digest the bytes behind the HTTP head as they came, with their transfer coding.
    """

    def __init__(self, *, raw: bool) -> None:
        self._raw = raw
        self._as_came: dict[str, str] = {}

    def of(self, warc: Path) -> Iterator[PayloadDigest]:
        """Those of a file, in its order.

        Raises:
            OSError: It cannot be read.
        """
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") in _CAPTURES:
                    yield self._of(entry)

    def _of(self, entry: WarcEntry) -> PayloadDigest:
        recorded = entry.get("WARC-Payload-Digest") or ""
        url = unbracketed(entry.get("WARC-Target-URI") or "-")
        date = _DIGITS.sub("", (entry.get("WARC-Date") or "")[:19]) or "-"
        digest = recorded if not self._raw else self._digest_as_came(entry, recorded)
        return PayloadDigest(digest or "-", date, url)

    def _digest_as_came(self, entry: WarcEntry, recorded: str) -> str:
        if entry.get("WARC-Type") == "revisit":
            return self._as_came.get(entry.get("WARC-Refers-To") or "", recorded)
        _, wire = read_block(entry).payload_digests()
        label = label_of(recorded) or "sha1"
        digest = f"{label}:{b32encode(wire).decode().rstrip('=')}"
        if recorded and digest != recorded:
            self._as_came[entry.get("WARC-Record-ID") or ""] = digest
        return digest
