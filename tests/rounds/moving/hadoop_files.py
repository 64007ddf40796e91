"""A writer of SequenceFiles and of Nutch's values, for tests."""

import bz2
import gzip
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from nacre.rounds.moving.nutch import CRAWL_DATUM, TEXT

SYNC = bytes(range(200, 216))
CODECS: dict[str, Callable[[bytes], bytes]] = {
    "DefaultCodec": zlib.compress,
    "GzipCodec": gzip.compress,
    "BZip2Codec": bz2.compress,
    "ZStandardCodec": zstandard.ZstdCompressor().compress,
}


def vint(value: int) -> bytes:
    """A number as `WritableUtils.writeVLong` writes it."""
    if -112 <= value <= 127:
        return bytes([value & 0xFF])
    first, size = (-120, ~value) if value < 0 else (-112, value)
    data = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([(first - len(data)) & 0xFF]) + data


def text(value: str) -> bytes:
    data = value.encode()
    return vint(len(data)) + data


class Container(NamedTuple):
    """How records are packed: a codec or "", many together, a sync mark after so many records."""

    codec: str = ""
    blocks: bool = False
    each: int = 10
    value_class: str = CRAWL_DATUM
    key_class: str = TEXT


PLAIN = Container()


def sequence_file(records: Iterable[tuple[str, bytes]], how: Container = PLAIN) -> bytes:
    """The bytes of a SequenceFile 6."""
    packed = CODECS[how.codec] if how.codec else bytes
    name = f"org.apache.hadoop.io.compress.{how.codec}"
    head = b"SEQ\x06" + text(how.key_class) + text(how.value_class)
    head += bytes([bool(how.codec), how.blocks]) + (text(name) if how.codec else b"")
    head += struct.pack(">i", 1) + text("made") + text("here") + SYNC
    mark = b"\xff\xff\xff\xff" + SYNC
    listed = [(text(key), value) for key, value in records]
    found = [head]
    for at in range(0, len(listed), how.each):
        part = listed[at : at + how.each]
        if how.blocks:
            sides = [[key for key, _ in part], [value for _, value in part]]
            found.append(mark + vint(len(part)))
            for side in sides:
                for data in (b"".join(vint(len(one)) for one in side), b"".join(side)):
                    found.append(vint(len(packed(data))) + packed(data))
            continue
        if at:
            found.append(mark)
        for key, value in part:
            data = packed(value)
            found.append(struct.pack(">ii", len(key) + len(data), len(key)) + key + data)
    return b"".join(found)


def map_file(folder: Path, records: Iterable[tuple[str, bytes]], how: Container = PLAIN,
             part: int = 0) -> Path:  # fmt: skip
    """Write a part of a table, `current/part-r-…/data`; the file."""
    path = folder / "current" / f"part-r-{part:05d}" / "data"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sequence_file(records, how))
    return path


def strings(*values: str) -> bytes:
    """`WritableUtils.writeStringArray`."""
    data = [one.encode() for one in values]
    return struct.pack(">i", len(data)) + b"".join(struct.pack(">i", len(x)) + x for x in data)


def protocol_status(code: int, *words: str) -> bytes:
    return struct.pack(">bbq", 2, code, 0) + strings(*words)


_IDS = {str: -116, float: -124, int: -123, bool: -126, bytes: -125}
OWN = {"org.apache.nutch.protocol.ProtocolStatus": 1, "org.example.Strange": 2}


def map_writable(values: Mapping[str, Any]) -> bytes:
    """A MapWritable; a value (CLASS, BYTES) is one of that class."""
    own = {one[0] for one in values.values() if isinstance(one, tuple)}
    head = bytes([len(own)])
    for name in sorted(own):
        head += struct.pack(">bh", OWN[name], len(name)) + name.encode()
    body = struct.pack(">i", len(values))
    for key, value in values.items():
        body += struct.pack(">b", -116) + text(key)
        body += _value(value)
    return head + body


def _value(value: Any) -> bytes:
    if isinstance(value, tuple):
        return struct.pack(">b", OWN[value[0]]) + bytes(value[1])
    made: dict[type, Callable[[], bytes]] = {
        str: lambda: text(value),
        float: lambda: struct.pack(">f", value),
        int: lambda: struct.pack(">i", value),
        bool: lambda: bytes([value]),
        bytes: lambda: struct.pack(">i", len(value)) + bytes(value),
    }
    return struct.pack(">b", _IDS[type(value)]) + made[type(value)]()


def datum(
    status: int, fetch_time: int = 1000, *, retries: int = 0, interval: float = 60,
    score: float = 0.0, modified: int = 0, signature: bytes = b"",
    md: Mapping[str, Any] | None = None, version: int = 7,
) -> bytes:  # fmt: skip
    """A CrawlDatum of a version."""
    data = struct.pack(">bbqb", version, status, fetch_time, retries)
    data += struct.pack(">i" if version > 5 else ">f", interval) + struct.pack(">f", score)
    if version > 2:
        data += struct.pack(">qb", modified, len(signature)) + signature
    if version > 3:
        data += b"\1" + map_writable(md) if md else b"\0"
    return data


def inlinks(*links: tuple[str, str], has_metadata: bool = True) -> bytes:
    data = struct.pack(">i", len(links))
    for number, (src, anchor) in enumerate(links):
        data += text(src) + text(anchor)
        if has_metadata:
            data += b"\1" + map_writable({"n": "1"}) if number else b"\0"
    return data


def host_datum(last_check: int, homepage: str, *counts: int) -> bytes:
    head = struct.pack(">fq", 1.5, last_check) + text(homepage)
    return head + struct.pack(">8q", *counts) + map_writable({"x": "y"})


def metadata(values: Mapping[str, str]) -> bytes:
    """A `Metadata` of Nutch."""
    data = struct.pack(">i", len(values))
    for name, value in values.items():
        data += text(name) + struct.pack(">i", 1) + text(value)
    return data


def content(url: str, body: bytes, md: Mapping[str, str]) -> bytes:
    head = struct.pack(">i", -1) + text(url) + text(url) + struct.pack(">i", len(body))
    return head + body + text("text/html") + metadata(md)


def parse_data(title: str, *links: tuple[str, str]) -> bytes:
    data = struct.pack(">bbbhi", 5, 2, 1, 0, -1) + text(title) + struct.pack(">i", len(links))
    for target, words in links:
        data += text(target) + text(words) + b"\0"
    return data + metadata({}) + metadata({})


def segment(folder: Path, kinds: Mapping[str, Iterable[tuple[str, bytes]]], part: int = 0) -> Path:
    """Write a part of a segment of Nutch; the segment."""
    classes = {"content": "protocol.Content", "parse_data": "parse.ParseData"}
    for name, records in kinds.items():
        path = folder / name / f"part-r-{part:05d}" / "data"
        path.parent.mkdir(parents=True, exist_ok=True)
        value_class = "org.apache.nutch." + classes.get(name, "crawl.CrawlDatum")
        path.write_bytes(sequence_file(records, Container("DefaultCodec", value_class=value_class)))
    return folder
