"""A difference: a reply stored as a patch of an earlier reply of the same URL (pure).

Such a record is of type `metadata`, with its own media type and its own target URI
(`urn:x-nacre-delta:URL`): a reader without support for it finds nothing under the page's URL that
it could take for the page. `WARC-Refers-To` is the id of the base, a `response` in an earlier WARC.
The difference itself is a zstd frame with the base as its dictionary, as `zstd --patch-from` makes
it; one call holds both blocks in memory. Source: WARC 1.1 clauses 5.8, 6.6; RFC 8878.
"""

import re

import msgspec
import zstandard
from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressionParameters

from nacre.archive.fields import date_text, digest_of, field, micros, uri_field

LONGEST = 64 << 20
"""Longest block that is rebuilt, bytes, whatever a record declares."""

_LEVEL = 9
_LONG = 1 << 17
_LEAST_WINDOW = 10


class PatchError(ValueError):
    """A difference that cannot be applied."""


def make_patch(base: bytes, block: bytes) -> bytes:
    """Make the patch that turns `base` into `block`: one frame with its length and a checksum.

    Args:
        base: The earlier block; b"" is allowed.
        block: The later one, at most `LONGEST` bytes.
    """
    size = len(base) + len(block)
    params = ZstdCompressionParameters.from_level(
        _LEVEL,
        source_size=len(block),
        dict_size=len(base),
        write_content_size=1,
        write_checksum=1,
        window_log=max(_LEAST_WINDOW, size.bit_length()),
        enable_ldm=size > _LONG,
    )
    compressor = zstandard.ZstdCompressor(dict_data=_dictionary(base), compression_params=params)
    return compressor.compress(block)


def apply_patch(base: bytes, patch: bytes, length: int) -> bytes:
    """Rebuild the block of a difference. Memory is bounded by `length`.

    Args:
        base: The earlier block.
        patch: The difference.
        length: Bytes that the block must have.

    Raises:
        PatchError: It is no such difference, gives another length, or is damaged.
    """
    if not 0 <= length <= LONGEST:
        raise PatchError(f"a block of {length} bytes; at most {LONGEST} are rebuilt")
    try:
        declared = zstandard.get_frame_parameters(patch).content_size
        if declared != length:  # the library would allocate the declared size
            raise PatchError(f"the difference gives {declared} bytes, not {length}")
        decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary(base))
        block = decompressor.decompress(patch, max_output_size=length, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError) as error:
        raise PatchError(f"the difference cannot be applied: {error}") from error
    if len(block) != length:
        raise PatchError(f"the difference gives {len(block)} bytes, not {length}")
    return block


def _dictionary(base: bytes) -> ZstdCompressionDict | None:
    return ZstdCompressionDict(base, dict_type=DICT_TYPE_RAWCONTENT) if base else None


MEDIA = "application/x-nacre-delta"
"""Content-Type of the record: lines of `name: value`, a blank line, and a zstd frame."""

TARGET = "urn:x-nacre-delta:"
"""Prefix of the URL in its WARC-Target-URI."""

FORMAT = "zstd"
_FIELDS_MOST = 1 << 21
_FIELD_MOST = 2000
"""A longer field of the reply is left out: the reply itself has it, and fields must stay short."""
_NUMBER = re.compile(r"\d{1,18}\Z", re.ASCII)


class DeltaError(ValueError):
    """A difference that cannot be read, or does not lead to the reply that it promises.

    Attributes:
        code: Of `archive.finding`: `delta-invalid`, `delta-unresolved`, `delta-base`,
            `delta-digest`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """One reply as a difference. Digests are `sha1:BASE32`, lengths bytes, dates µs (UTC).

    Attributes:
        base_id: WARC-Record-ID of the base, without angle brackets.
        base_url: Its WARC-Target-URI.
        base_date: Its WARC-Date.
        base_digest: Its block digest.
        base_length: Length of its block.
        base_payload: Its payload digest.
        base_framing: Its transfer framing: `chunked` or "".
        base_file: Name of its WARC; a hint.
        base_offset: Its offset in that file, bytes; a hint.
        number: Which difference from this base it is, from 1.
        digest: Block digest of the reply.
        length: Length of its block: head and body exactly as received.
        payload: Its payload digest.
        body_length: Length of its body.
        payload_length: Length of its payload.
        framing: Its transfer framing: `chunked` or "".
        status: Its HTTP status.
        mime: Its media type; "" when it had none.
        etag: Its ETag; b"" when absent.
        last_modified: Its Last-Modified; b"" when absent.
        patch: The zstd frame.
    """

    base_id: str
    base_url: str
    base_date: int
    base_digest: str
    base_length: int
    base_payload: str
    base_framing: str = ""
    base_file: str = ""
    base_offset: int = 0
    number: int = 1
    digest: str
    length: int
    payload: str
    body_length: int
    payload_length: int
    framing: str = ""
    status: int = 200
    mime: str = ""
    etag: bytes = b""
    last_modified: bytes = b""
    patch: bytes


def delta_block(delta: Delta) -> bytes:
    """Return the block of its record."""
    lines = (
        ("difference", FORMAT),
        ("baseTargetURI", uri_field(delta.base_url)),
        ("baseDate", date_text(delta.base_date)),
        ("baseBlockDigest", delta.base_digest),
        ("baseLength", str(delta.base_length)),
        ("basePayloadDigest", delta.base_payload),
        ("baseFraming", delta.base_framing),
        ("baseFilename", delta.base_file),
        ("baseOffset", str(delta.base_offset)),
        ("number", str(delta.number)),
        ("blockDigest", delta.digest),
        ("length", str(delta.length)),
        ("payloadDigest", delta.payload),
        ("bodyLength", str(delta.body_length)),
        ("payloadLength", str(delta.payload_length)),
        ("framing", delta.framing),
        ("status", str(delta.status)),
        ("mime", _short(delta.mime)),
        ("etag", _short(delta.etag.decode("latin-1"))),
        ("lastModified", _short(delta.last_modified.decode("latin-1"))),
    )
    head = "".join(f"{name}: {field(value)}\r\n" for name, value in lines if value)
    return f"{head}\r\n".encode() + delta.patch


def read_delta(block: bytes, base_id: str) -> Delta:
    """Return the difference in a block.

    Args:
        block: The whole block of the record.
        base_id: WARC-Refers-To of the record, without angle brackets.

    Raises:
        DeltaError: It is none.
    """
    end = block.find(b"\r\n\r\n", 0, _FIELDS_MOST)
    if end < 0:
        raise DeltaError("delta-invalid", "no blank line ends the fields")
    fields = dict(_pairs(block[:end].decode("utf-8", "replace")))
    if fields.get("difference") != FORMAT:
        name = fields.get("difference", "")
        raise DeltaError("delta-invalid", f"differences of type {name[:40]!r} cannot be read")
    return Delta(
        base_id=base_id,
        base_url=fields.get("baseTargetURI", ""),
        base_date=_date(fields, "baseDate"),
        base_digest=_required(fields, "baseBlockDigest"),
        base_length=_number(fields, "baseLength"),
        base_payload=fields.get("basePayloadDigest", ""),
        base_framing=fields.get("baseFraming", ""),
        base_file=fields.get("baseFilename", ""),
        base_offset=_number(fields, "baseOffset", "0"),
        number=_number(fields, "number", "1"),
        digest=_required(fields, "blockDigest"),
        length=_number(fields, "length"),
        payload=fields.get("payloadDigest", ""),
        body_length=_number(fields, "bodyLength"),
        payload_length=_number(fields, "payloadLength"),
        framing=fields.get("framing", ""),
        status=_number(fields, "status"),
        mime=fields.get("mime", ""),
        etag=fields.get("etag", "").encode("latin-1", "replace"),
        last_modified=fields.get("lastModified", "").encode("latin-1", "replace"),
        patch=block[end + 4 :],
    )


def rebuild(delta: Delta, base: bytes) -> bytes:
    """Return the block of the reply, compared with its digest.

    Args:
        delta: The difference.
        base: The block of its base.

    Raises:
        DeltaError: The base is another one, or something is damaged.
    """
    if len(base) != delta.base_length or digest_of(base) != delta.base_digest:
        raise DeltaError("delta-base", f"<{delta.base_id}> is not the block it was made from")
    try:
        block = apply_patch(base, delta.patch, delta.length)
    except PatchError as error:
        raise DeltaError("delta-invalid", str(error)) from error
    if digest_of(block) != delta.digest:
        raise DeltaError("delta-digest", f"gives {digest_of(block)}, not {delta.digest}")
    return block


def page_url(target: str) -> str:
    """Return the URL of the reply, from the WARC-Target-URI of the record."""
    return target.removeprefix(TARGET)


def _short(text: str) -> str:
    return text if len(text) <= _FIELD_MOST else ""


def _pairs(text: str) -> list[tuple[str, str]]:
    return [
        (name, value) for name, _, value in (line.partition(": ") for line in text.split("\r\n"))
    ]


def _required(fields: dict[str, str], name: str) -> str:
    value = fields.get(name, "")
    if not value:
        raise DeltaError("delta-invalid", f"{name} is missing")
    return value


def _number(fields: dict[str, str], name: str, absent: str = "") -> int:
    value = fields.get(name, absent)
    if not _NUMBER.match(value):
        raise DeltaError("delta-invalid", f"{name} is not a number: {value[:40]!r}")
    number = int(value)
    if name in {"length", "baseLength"} and number > LONGEST:
        raise DeltaError("delta-invalid", f"{name} is {number}; at most {LONGEST} are rebuilt")
    return number


def _date(fields: dict[str, str], name: str) -> int:
    date = micros(_required(fields, name))
    if not date:
        raise DeltaError("delta-invalid", f"{name} is not a date")
    return date
