"""The server's log of requests and replies, the ground truth of scores."""

from collections.abc import Iterable
from pathlib import Path

import msgspec


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One reply, or a request that got none.

    Attributes:
        time: Time of the world, seconds.
        url: Without its port.
        kind: See `Resource.kind`.
        status: As sent; 0 for no reply.
        version: Number of the real version; -1 if that means nothing.
        nonce: Number of the request of this URL, from 0.
        conditional: It came with a validator.
        length: Bytes of the body sent.
        digest: Of the body that the URL has at that moment (a 304 too): `sha1:BASE32`, or another
            text that is equal for equal bodies.
        at: Time of the clock that politeness runs on, seconds.
    """

    time: float
    url: str
    kind: str
    status: int
    version: int
    nonce: int
    conditional: bool
    length: int
    digest: str
    at: float


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Row)


def write_log(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines."""
    path.write_bytes(_ENCODER.encode_lines(rows))


def read_log(path: Path) -> list[Row]:
    """Return the rows of a log.

    Raises:
        ValueError: A line is none; it is named.
    """
    rows = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                rows.append(_DECODER.decode(line))
            except msgspec.DecodeError as error:
                raise ValueError(f"{path.name}, line {number}: no row of a server's log") from error
    return rows
