"""The values of Nutch in files of Hadoop: CrawlDatum, Inlinks, HostDatum, Content, ParseData.

All versions that Nutch itself reads. Metadata are maps of `Writable` to `Writable`; an unknown
class has no length, so the rest of its map is stored as bytes under its name. Source: Nutch, the
classes of these names; Hadoop, `MapWritable` (reference N 1.3).
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from nacre.rounds.moving.hadoop import MOST, ByteCursor, WritableError

TEXT = "org.apache.hadoop.io.Text"
CRAWL_DATUM = "org.apache.nutch.crawl.CrawlDatum"
INLINKS = "org.apache.nutch.crawl.Inlinks"
HOST_DATUM = "org.apache.nutch.hostdb.HostDatum"
CONTENT = "org.apache.nutch.protocol.Content"
PARSE_DATA = "org.apache.nutch.parse.ParseData"
PARSE_TEXT = "org.apache.nutch.parse.ParseText"

_HADOOP = "org.apache.hadoop.io."
_HEAD = struct.Struct(">bqbif")
_OLD_HEAD = struct.Struct(">bqbff")
_MODIFIED = struct.Struct(">qb")
_OLD_STATUSES = {0: 0x41, 1: 1, 2: 2, 3: 3, 4: 0x43, 5: 0x21, 6: 0x22, 7: 0x25}
"""The current status for each status of a CrawlDatum before version 5."""


Reader = Callable[[ByteCursor], Any]
"""Reads a value of a class."""


class UnknownWritable(NamedTuple):
    """A value of an unknown class.

    Attributes:
        name: Its Java class.
        data: Its bytes, and the rest of its record.
    """

    name: str
    data: bytes


class ProtocolStatus(NamedTuple):
    """The outcome of a request: its code (reference N 1.3), Last-Modified in ms, words."""

    code: int
    last_modified: int
    args: tuple[str, ...]


class CrawlDatum(NamedTuple):
    """The state of a URL in Nutch.

    Attributes:
        status: Its code (reference N 1.3).
        fetch_time: Next fetch, in a segment the last one, ms since the epoch.
        retries: Failures in a row, -128 to 127.
        interval: Time between fetches, s.
        score: Its score.
        modified: Last modification, ms since the epoch; 0 if unknown.
        signature: Signature of its content; b"" for none.
        md: Metadata by name, each a `str`, `int`, `float`, `bool`, `bytes`, `ProtocolStatus`,
            `UnknownWritable` or a map.
    """

    status: int
    fetch_time: int
    retries: int
    interval: int
    score: float
    modified: int = 0
    signature: bytes = b""
    md: Mapping[str, Any] = {}


class NutchInlink(NamedTuple):
    """A link to a page: its source, its text, and metadata."""

    src: str
    anchor: str
    md: Mapping[str, Any]


class HostDatum(NamedTuple):
    """The row of a host in Nutch.

    Attributes:
        score: Its score.
        last_check: When its name was looked up, ms since the epoch.
        homepage: URL of its page `/`; "" for none.
        counts: DNS failures, connection failures, then URLs unfetched, fetched, not modified,
            redirected temporarily, redirected permanently, gone.
        md: Metadata.
    """

    score: float
    last_check: int
    homepage: str
    counts: tuple[int, ...]
    md: Mapping[str, Any]


class NutchContent(NamedTuple):
    """A body that was fetched.

    Attributes:
        url: Its URL.
        base: Base of its links.
        data: The body.
        media_type: Its media type, as Nutch detected it.
        md: Values by name: headers of the reply, and notes of plugins.
    """

    url: str
    base: str
    data: bytes
    media_type: str
    md: Mapping[str, tuple[str, ...]]


class NutchParse(NamedTuple):
    """The parse of a page.

    Attributes:
        code: 1 for success, 2 for failure, 0 for no attempt.
        title: Its title.
        outlinks: The target and the text of each link.
        content_md: Metadata of its content.
        parse_md: Metadata of the parser.
    """

    code: int
    title: str
    outlinks: tuple[tuple[str, str], ...]
    content_md: Mapping[str, tuple[str, ...]]
    parse_md: Mapping[str, tuple[str, ...]]


# ---- maps of Writable


def _null(_: ByteCursor) -> None:
    return None


def _bytes(cursor: ByteCursor) -> bytes:
    return cursor.take(cursor.integer())


def _md5(cursor: ByteCursor) -> bytes:
    return cursor.take(16)


def _boolean(cursor: ByteCursor) -> bool:
    return cursor.byte() != 0


def _strings(cursor: ByteCursor) -> tuple[str, ...]:
    """`WritableUtils.readStringArray`: the length of each string in four bytes, -1 for none."""
    number = cursor.integer()
    if number <= 0:
        return ()
    if number * 4 > len(cursor.data) - cursor.at:
        raise WritableError(f"{number} strings are said to follow at {cursor.at}")
    sizes = (cursor.integer() for _ in range(number))
    return tuple("" if size < 0 else cursor.take(size).decode("utf-8", "replace") for size in sizes)


def _packed_strings(cursor: ByteCursor) -> tuple[str, ...]:
    """`WritableUtils.readCompressedStringArray`."""
    number = cursor.integer()
    if number < 0:
        return ()
    if number * 4 > len(cursor.data) - cursor.at:
        raise WritableError(f"{number} strings are said to follow at {cursor.at}")
    return tuple(_packed_string(cursor) for _ in range(number))


def _packed_string(cursor: ByteCursor) -> str:
    size = cursor.integer()
    return "" if size < 0 else _gunzip(cursor.take(size), 31).decode("utf-8", "replace")


def _gunzip(data: bytes, bits: int) -> bytes:
    try:
        plain = zlib.decompressobj(bits).decompress(data, MOST + 1)
    except zlib.error as error:
        raise WritableError(f"packed bytes are damaged: {error}") from None
    if len(plain) > MOST:
        raise WritableError(f"it has more than {MOST >> 20} MiB when it is unpacked")
    return plain


def _protocol_status(cursor: ByteCursor) -> ProtocolStatus:
    version = cursor.byte()
    if version not in {1, 2}:
        raise WritableError(f"ProtocolStatus of version {version}; 1 and 2 are known")
    code, modified = cursor.byte(), cursor.long()
    return ProtocolStatus(code, modified, (_packed_strings if version == 1 else _strings)(cursor))


def _map(cursor: ByteCursor) -> dict[str, Any]:
    """A `MapWritable`: its own classes, then pairs of values, each after the id of its class."""
    own = cursor.unsigned()
    readers = _with_own(_read_classes(cursor, own)) if own else _BY_NUMBER
    values: dict[str, Any] = {}
    for _ in range(cursor.count(2)):
        key = _value(cursor, readers)
        if key.__class__ is UnknownWritable:
            values[key.name] = key
            return values
        name = key if key.__class__ is str else _format_key(key)
        value = values[name] = _value(cursor, readers)
        if value.__class__ is UnknownWritable:
            return values
    return values


def _read_classes(cursor: ByteCursor, number: int) -> bytes:
    """Return the bytes of the classes that a map declares: ids and names."""
    start = cursor.at
    for _ in range(number):
        cursor.unsigned()
        cursor.take(int.from_bytes(cursor.take(2), "big"))
    return cursor.data[start : cursor.at]


@lru_cache(maxsize=256)
def _with_own(declared: bytes) -> Mapping[int, Reader]:
    """The readers of the values of a map; most maps of a CrawlDb declare the same classes."""
    cursor, readers = ByteCursor(declared), dict(_BY_NUMBER)
    while cursor.at < len(declared):
        number = cursor.unsigned()
        readers[number] = _reader(cursor.java_text())
    return readers


def _value(cursor: ByteCursor, readers: Mapping[int, Reader]) -> Any:  # noqa: ANN401 - of any class
    number = cursor.unsigned()
    read = readers.get(number)
    if read is None:
        signed = number - 256 if number > 127 else number
        raise WritableError(f"a value of class {signed} at {cursor.at}, which has no name")
    return read(cursor)


@lru_cache(maxsize=1_000)
def _reader(name: str) -> Reader:
    """Return the reader of a class; for an unknown class it takes all remaining bytes."""
    return _READERS.get(name) or (lambda cursor: UnknownWritable(name, cursor.take_rest()))


def _format_key(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


_NAMES = (
    "ArrayWritable", "BooleanWritable", "BytesWritable", "FloatWritable", "IntWritable",
    "LongWritable", "MapWritable", "MD5Hash", "NullWritable", "ObjectWritable",
    "SortedMapWritable", "Text", "TwoDArrayWritable", "UTF8", "VIntWritable", "VLongWritable",
)  # fmt: skip
_CLASSES = {number: _HADOOP + name for number, name in enumerate(_NAMES, -127)}
"""Classes that every map knows, by their ids (Hadoop, `AbstractMapWritable`)."""

_READERS: dict[str, Reader] = {
    _HADOOP + name: read
    for name, read in {
        "BooleanWritable": _boolean,
        "ByteWritable": ByteCursor.byte,
        "BytesWritable": _bytes,
        "DoubleWritable": ByteCursor.double,
        "FloatWritable": ByteCursor.single,
        "IntWritable": ByteCursor.integer,
        "LongWritable": ByteCursor.long,
        "MapWritable": _map,
        "MD5Hash": _md5,
        "NullWritable": _null,
        "ShortWritable": ByteCursor.short,
        "SortedMapWritable": _map,
        "Text": ByteCursor.text,
        "UTF8": ByteCursor.java_text,
        "VIntWritable": ByteCursor.varying,
        "VLongWritable": ByteCursor.varying,
    }.items()
}
_READERS["org.apache.nutch.protocol.ProtocolStatus"] = _protocol_status
_BY_NUMBER = {number & 0xFF: _reader(name) for number, name in _CLASSES.items()}
"""Readers by the ids of their classes, as bytes without a sign."""


# ---- values of Nutch's tables


def text(data: bytes) -> str:
    """Read a `Text`, the class of keys.

    Raises:
        WritableError: It is no `Text`; so do all functions below.
    """
    return ByteCursor(data).text()


def crawl_datum(data: bytes) -> CrawlDatum:
    """A CrawlDatum of version 1 to 7."""
    if not data or not 1 <= data[0] <= 7:
        version = data[0] if data else "?"
        raise WritableError(f"CrawlDatum of version {version}; 1 to 7 are known")
    version = data[0]
    try:
        head = (_HEAD if version > 5 else _OLD_HEAD).unpack_from(data, 1)
        status, fetch_time, retries, interval, score = head
        at, modified, signature = 19, 0, b""
        if version > 2:
            modified, size = _MODIFIED.unpack_from(data, at)
            at += 9
            if size > 0:
                signature = data[at : at + size]
                at += size
    except struct.error:
        raise WritableError(f"CrawlDatum of {len(data)} bytes ends too early") from None
    except (OverflowError, ValueError) as error:
        raise WritableError(str(error)) from None
    md: Mapping[str, Any] = {}
    if version > 3:
        cursor = ByteCursor(data, at)
        if cursor.byte():
            md = _map(cursor)
    if version < 5:
        status = _OLD_STATUSES.get(status, 1)
    if version < 6:
        interval = _round(interval)
    return CrawlDatum(status, fetch_time, retries, interval, score, modified, signature, md)


def _round(value: float) -> int:
    """Round a float to an int as Java does: NaN becomes 0."""
    if value != value:  # noqa: PLR0124 - not a number
        return 0
    return round(max(-(2.0**31), min(2.0**31 - 1, value)))


def inlinks(data: bytes) -> list[NutchInlink]:
    """Read the links to a page in the LinkDb; before Nutch 1.21 they had no metadata."""
    try:
        return _inlinks(ByteCursor(data), has_metadata=True)
    except WritableError:
        return _inlinks(ByteCursor(data), has_metadata=False)


def _inlinks(cursor: ByteCursor, *, has_metadata: bool) -> list[NutchInlink]:
    links = []
    for _ in range(cursor.count(2)):
        src, anchor = cursor.text(), cursor.text()
        links.append(NutchInlink(src, anchor, _metadata(cursor) if has_metadata else {}))
    if cursor.at < len(cursor.data):
        raise WritableError(f"{len(cursor.data) - cursor.at} bytes are left behind its links")
    return links


def _metadata(cursor: ByteCursor) -> dict[str, Any]:
    flag = cursor.byte()
    if flag not in {0, 1}:
        raise WritableError(f"{flag} is neither yes nor no, at {cursor.at - 1}")
    return _map(cursor) if flag else {}


def host_datum(data: bytes) -> HostDatum:
    """A row of the HostDb."""
    cursor = ByteCursor(data)
    score, last_check, homepage = cursor.single(), cursor.long(), cursor.text()
    counts = tuple(cursor.long() for _ in range(8))
    return HostDatum(score, last_check, homepage, counts, _map(cursor))


def content(data: bytes) -> NutchContent:
    """Read a body, of the current version, or compressed in an older version."""
    cursor = ByteCursor(data)
    version = cursor.integer()
    if version >= 0:
        cursor = ByteCursor(_gunzip(cursor.take(version), 15))
        version = cursor.byte()
        if not 0 <= version <= 2:
            raise WritableError(f"Content of version {version}; 0 to 2 are known")
    elif version != -1:
        raise WritableError(f"Content of version {version}; -1 is known")
    url, base = cursor.text(), cursor.text()
    body = cursor.take(cursor.integer())
    return NutchContent(url, base, body, cursor.text(), _texts(cursor))


def _texts(cursor: ByteCursor) -> dict[str, tuple[str, ...]]:
    """A `Metadata`: values by name, in the order of the file."""
    texts: dict[str, tuple[str, ...]] = {}
    for _ in range(cursor.count(5)):
        name = cursor.text()
        values = tuple(cursor.text() for _ in range(cursor.count()))
        texts[name] = texts.get(name, ()) + values
    return texts


def parse_data(data: bytes) -> NutchParse:
    """Read the parse of a page; the links of old versions have no metadata."""
    try:
        return _parse_data(ByteCursor(data), has_metadata=True)
    except WritableError:
        return _parse_data(ByteCursor(data), has_metadata=False)


def _parse_data(cursor: ByteCursor, *, has_metadata: bool) -> NutchParse:
    version = cursor.byte()
    if version != 5:
        raise WritableError(f"ParseData of version {version}; 5 is known")
    status = cursor.byte()
    if status not in {1, 2}:
        raise WritableError(f"ParseStatus of version {status}; 1 and 2 are known")
    code = cursor.byte()
    cursor.take(2)
    (_packed_strings if status == 1 else _strings)(cursor)
    title = cursor.text()
    links = []
    for _ in range(cursor.count(2)):
        links.append((cursor.text(), cursor.text()))
        if has_metadata:
            _metadata(cursor)
    return NutchParse(code, title, tuple(links), _texts(cursor), _texts(cursor))


def parse_text(data: bytes) -> str:
    """The text of a page."""
    cursor = ByteCursor(data)
    version = cursor.byte()
    if version not in {1, 2}:
        raise WritableError(f"ParseText of version {version}; 1 and 2 are known")
    return _packed_string(cursor) if version == 1 else cursor.text()
