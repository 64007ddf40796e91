"""WACZ files: their parts, their description, and the comparison with their digests.

A WACZ is a ZIP file of WARCs, an index and `datapackage.json`. Parts that are stored are read where
they are, by their offsets. The file may be hostile: its list of parts, sizes and ratios are
limited, and no name in it becomes a path.

Source: the WACZ specification 1.1.1; APPNOTE.TXT 6.3.10 of ZIP.
"""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import SEEK_END, BufferedReader
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from nacre.errors import JobError
from nacre.machine.local_files import open_ordinary
from nacre.messages import Message, message

Progress = Callable[[int, int], None]
"""Receives the bytes that were read, and all bytes."""

PACKAGE, PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"
ARCHIVE, INDEXES = "archive/", "indexes/"
PAGES = "pages/pages.jsonl"
WARC_SUFFIXES: Final = (".warc", ".warc.gz")

_CHUNK: Final = 1 << 20
_TAIL: Final = 65_557 + 20
_END: Final = struct.Struct("<4s4H2LH")
_END_MARK, _LOCATOR_MARK, _LARGE_MARK, _LOCAL_MARK = (
    b"PK\5\6", b"PK\6\7", b"PK\6\6", b"PK\3\4",
)  # fmt: skip
_LOCATOR: Final = struct.Struct("<4sLQL")
_LARGE: Final = struct.Struct("<4sQ2H2L4Q")
_LOCAL: Final = 30
_LONGEST_LIST: Final = 64 << 20
_MOST_PARTS: Final = 200_000
_LONGEST_PACKAGE: Final = 64 << 20
_RATIO: Final = 200
_FREE_RATIO: Final = 64 << 20
"""Bytes that a part may have whatever its ratio."""
_FIRST_LINES: Final = 20
_MULTI: Final = "multi-wacz-package"
_ALGORITHMS: Final = frozenset(("sha256", "sha512", "sha1", "md5"))
_FIELDS: Final = {
    "title": "title", "description": "description", "creator": "creator", "created": "date",
    "modified": "modified", "software": "source",
}  # fmt: skip


class ZipPart(NamedTuple):
    """A file in a ZIP file.

    Attributes:
        name: Its name.
        start: Where its bytes begin, bytes.
        packed: Its bytes there.
        size: Its bytes when unpacked.
        is_stored: It is not compressed.
    """

    name: str
    start: int
    packed: int
    size: int
    is_stored: bool


class WaczContents(NamedTuple):
    """A WACZ file.

    Attributes:
        parts: Its parts by name.
        title: Its title; "" for none.
        fields: Dublin Core fields from its description.
        main_page: URL of the page to begin with: that of its description, or the first of its
            pages; "" for none.
        warnings: What is unusual.
    """

    parts: Mapping[str, ZipPart]
    title: str = ""
    fields: Mapping[str, str] = {}
    main_page: str = ""
    warnings: tuple[Message, ...] = ()


def read_wacz(path: Path, tell: Progress) -> WaczContents:
    """Read the parts and the description of a WACZ, and compare all parts with their digests.

    Args:
        path: The file.
        tell: Receives the progress of the comparison.

    Raises:
        JobError: It is damaged, encrypted, hostile, or no WACZ; the message has the remedy.
        OSError: It cannot be read.
    """
    with open_ordinary(path) as file:
        parts = _read_parts(file, path)
        part = parts.get(PACKAGE)
        package = {} if part is None else _read_object(file, path, part)
        if _is_multi(package, parts):
            raise multi_error(path)
        if not any(name.startswith(ARCHIVE) and is_warc(name) for name in parts):
            raise JobError(
                message(
                    "catalogue.no-warcs", "{path} is no WACZ: it has no WARC in archive/. Name the "
                    "WARC files that it may have once it is unpacked", path=path,
                )
            )  # fmt: skip
        warnings = []
        if part is not None:
            _compare(file, path, parts, package, tell)
        else:
            warnings.append(
                message(
                    "catalogue.no-package",
                    "{path} has no datapackage.json: whether it is whole cannot be checked",
                    path=path,
                )
            )
        main = _text(package, "mainPageUrl") or _text(package, "mainPageURL")
        main = main or _first_page(file, path, parts.get(PAGES))
    fields = {name: _text(package, key) for key, name in _FIELDS.items() if _text(package, key)}
    return WaczContents(parts, fields.get("title", ""), fields, main, tuple(warnings))


def is_warc(name: str) -> bool:
    """Whether a file has the name of a WARC."""
    return name.lower().endswith(WARC_SUFFIXES)


def multi_error(path: Path) -> JobError:
    """Return the error for a list of WACZ files."""
    return JobError(
        message(
            "catalogue.multi-wacz", "{path} only lists other WACZ files. Get these, and name them "
            "together in place of it: FIRST.wacz SECOND.wacz", path=path,
        )
    )  # fmt: skip


# ---- the ZIP file


def _damaged(path: Path, reason: object) -> JobError:
    return JobError(
        message(
            "catalogue.damaged-zip", "{path} is damaged or was cut off ({reason}): get it again",
            path=path, reason=reason,
        )
    )  # fmt: skip


def _too_large(path: Path, reason: str) -> JobError:
    return JobError(
        message(
            "catalogue.zip-limits", "{path} is not opened, because it may be made to fill this "
            "machine: {reason}. If you trust it, unpack it, and name its WARC files", path=path,
            reason=reason,
        )
    )  # fmt: skip


def _read_parts(file: BufferedReader, path: Path) -> dict[str, ZipPart]:
    """Read the list of parts."""
    _check_list(file, path)
    try:
        with zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
    except (
        zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error, EOFError,
    ) as error:  # fmt: skip
        raise _damaged(path, error) from None
    size = file.seek(0, SEEK_END)
    return {info.filename: _read_part(file, path, info, size) for info in infos}


class PartList(NamedTuple):
    """The size of the list of parts of a ZIP file, as its end states it.

    Attributes:
        parts: Parts in it.
        length: Its bytes.
        disks: The highest number of a volume; 0 if there is only one volume.
    """

    parts: int
    length: int
    disks: int


def read_part_list(file: BufferedReader) -> PartList | None:
    """Return the size of the list of parts, which is not read; None if it is missing.

    Args:
        file: The ZIP file.

    Raises:
        OSError: The file cannot be read.
    """
    size = file.seek(0, SEEK_END)
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        return None
    _, disk, list_disk, _, parts, length, _, _ = _END.unpack_from(tail, at)
    disks = max(disk, list_disk) if disk != 0xFFFF else 0
    locator = tail[at - _LOCATOR.size : at] if at >= _LOCATOR.size else b""
    if not locator.startswith(_LOCATOR_MARK):
        return PartList(parts, length, disks)
    stated = _read_large(file, _LOCATOR.unpack(locator)[2])
    if stated is None:
        return None
    beside = _read_large(file, size - len(tail) + at - _LOCATOR.size - _LARGE.size)
    return stated if beside is None else PartList(*map(max, stated, beside))


def _read_large(file: BufferedReader, place: int) -> PartList | None:
    """Return the size in a ZIP64 record; None if there is none at that place.

    Programs look for it beside its locator (zipfile), or where the locator states.
    """
    file.seek(min(max(place, 0), file.seek(0, SEEK_END)))
    record = file.read(_LARGE.size)
    if len(record) < _LARGE.size or not record.startswith(_LARGE_MARK):
        return None
    _, _, _, _, disk, list_disk, _, parts, length, _ = _LARGE.unpack(record)
    return PartList(parts, length, max(disk, list_disk))


def _check_list(file: BufferedReader, path: Path) -> None:
    """Raise JobError if the list of parts is absent, in another volume, or too long to read."""
    facts = read_part_list(file)
    if facts is None:
        raise _damaged(path, "the list of its parts is missing")
    if facts.disks:
        raise JobError(
            message(
                "catalogue.zip-volumes", "{path} is one of several volumes of a ZIP file. Join "
                "them: zip -s 0 {path} --out whole.wacz", path=path,
            )
        )  # fmt: skip
    if facts.length > _LONGEST_LIST or facts.parts > _MOST_PARTS:
        raise _too_large(path, f"its list has {facts.parts:,} parts and {facts.length:,} bytes")


def _read_part(file: BufferedReader, path: Path, info: zipfile.ZipInfo, size: int) -> ZipPart:
    """Return a part of the list; its place is in its own header."""
    name = info.filename
    if info.flag_bits & 0x41:
        raise JobError(
            message(
                "catalogue.encrypted", "{path} is encrypted ({name}). Unpack it by its password, "
                "for example by 7z, and name its WARC files", path=path, name=name,
            )
        )  # fmt: skip
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise JobError(
            message(
                "catalogue.zip-method", "{path}: {name} has compression {method}, which is not "
                "read. Unpack it, for example by 7z, and name its WARC files", path=path, name=name,
                method=info.compress_type,
            )
        )  # fmt: skip
    file.seek(max(info.header_offset, 0))
    header = file.read(_LOCAL)
    if info.header_offset < 0 or len(header) < _LOCAL or not header.startswith(_LOCAL_MARK):
        raise _damaged(path, f"{name} is not at its place")
    names = sum(struct.unpack_from("<2H", header, 26))
    start = info.header_offset + _LOCAL + names
    is_stored = info.compress_type == zipfile.ZIP_STORED
    if start + info.compress_size > size or (is_stored and info.file_size != info.compress_size):
        raise _damaged(path, f"{name} does not have its size")
    if info.file_size > max(info.compress_size * _RATIO, _FREE_RATIO):
        raise _too_large(path, f"{name} has {info.file_size:,} bytes when unpacked")
    return ZipPart(name, start, info.compress_size, info.file_size, is_stored)


def part_chunks(file: BufferedReader, path: Path, part: ZipPart) -> Iterator[bytes]:
    """Yield the bytes of a part, unpacked.

    Args:
        file: The ZIP file.
        path: Its path, for messages.
        part: The part.

    Raises:
        JobError: It is damaged, or has more bytes than the list says.
    """
    inflater = None if part.is_stored else zlib.decompressobj(-15)
    bytes_left, size = part.packed, 0
    file.seek(part.start)
    while bytes_left > 0:
        data = file.read(min(_CHUNK, bytes_left))
        if not data:
            raise _damaged(path, f"{part.name} does not have its size")
        bytes_left -= len(data)
        out = b""
        while data or len(out) == _CHUNK:
            out, data = _inflate(inflater, data, path, part.name)
            size += len(out)
            if size > part.size:
                raise _damaged(path, f"{part.name} has more bytes than its list says")
            yield out
    if size != part.size:
        raise _damaged(path, f"{part.name} has fewer bytes than its list says")


def _inflate(
    inflater: "zlib._Decompress | None", data: bytes, path: Path, name: str
) -> tuple[bytes, bytes]:
    """Return unpacked bytes, and the packed bytes that are left."""
    if inflater is None or inflater.eof:
        return (data if inflater is None else b""), b""
    try:
        out = inflater.decompress(data, _CHUNK)
    except zlib.error as error:
        raise _damaged(path, f"{name}: {error}") from None
    return out, inflater.unconsumed_tail


# ---- the description


def _read_object(file: BufferedReader, path: Path, part: ZipPart) -> dict[str, Any]:
    """Return the JSON object in a part."""
    if part.size > _LONGEST_PACKAGE:
        raise _too_large(path, f"{part.name} has {part.size:,} bytes")
    data = b"".join(part_chunks(file, path, part))
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"{part.name}: {error}") from None
    if not isinstance(value, dict):
        raise _damaged(path, f"{part.name} is no object")
    return value


def _first_page(file: BufferedReader, path: Path, part: ZipPart | None) -> str:
    """Return the URL of the first page in the list of pages; "" if there is none."""
    if part is None:
        return ""
    start = next(part_chunks(file, path, part), b"")
    for line in start.split(b"\n", _FIRST_LINES)[:_FIRST_LINES]:
        try:
            page = msgspec.json.decode(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(page, dict) and _text(page, "url"):
            return _text(page, "url")
    return ""


def _resources(package: Mapping[str, Any]) -> list[dict[str, Any]]:
    resources = package.get("resources")
    return [resource for resource in resources if isinstance(resource, dict)] if isinstance(
        resources, list
    ) else []  # fmt: skip


def _text(values: Mapping[str, Any], name: str) -> str:
    """Return a text of an object on one line; "" for none."""
    value = values.get(name)
    return " ".join(value.split())[:10_000] if isinstance(value, str) else ""


def _is_multi(package: Mapping[str, Any], parts: Mapping[str, ZipPart]) -> bool:
    """Whether it lists other WACZ files in place of captures."""
    if package.get("profile") == _MULTI:
        return True
    names = [_text(resource, "path") or _text(resource, "url") for resource in _resources(package)]
    own = any(name.startswith(ARCHIVE) for name in parts)
    return not own and any(name.lower().endswith(".wacz") for name in names)


def _compare(
    file: BufferedReader,
    path: Path,
    parts: Mapping[str, ZipPart],
    package: Mapping[str, Any],
    tell: Progress,
) -> None:
    """Compare the parts with the digests of the description, and that with its own digest."""
    checks = dict.fromkeys(
        (_text(resource, "path"), _digest_of(resource), _size(resource))
        for resource in _resources(package)
    )
    if PACKAGE_DIGEST in parts:
        own = _read_object(file, path, parts[PACKAGE_DIGEST])
        checks[PACKAGE, _digest_of(own), None] = None
    total = sum(parts[name].size for name, _, _ in checks if name in parts)
    copied = 0
    for name, digest, size in checks:
        part = parts.get(name)
        if part is None:
            raise JobError(
                message(
                    "catalogue.part-missing", "{path} lacks {name}, which datapackage.json lists: "
                    "get it again", path=path, name=name or "a file without a name",
                )
            )  # fmt: skip
        if size not in (None, part.size) or not _has_digest(
            file, path, part, digest, partial(_tell_from, tell, copied, total)
        ):
            raise JobError(
                message(
                    "catalogue.wrong-digest", "{path}: {name} does not have the digest and size "
                    "in datapackage.json: it was damaged or changed. Get it again; to see it as "
                    "it is, unpack it, and name its WARC files", path=path, name=name,
                )
            )  # fmt: skip
        copied += part.size
        tell(copied, total)


def _tell_from(tell: Progress, before: int, total: int, count: int) -> None:
    """Report the bytes of a part as a share of all parts."""
    tell(before + count, total)


def _digest_of(resource: Mapping[str, Any]) -> str:
    """Return a digest in its only spelling, so that no part is read for each of many spellings."""
    return _text(resource, "hash").replace(" ", "").lower()


def _size(resource: Mapping[str, Any]) -> int | None:
    size = resource.get("bytes")
    return size if isinstance(size, int) else None


def _has_digest(
    file: BufferedReader, path: Path, part: ZipPart, digest: str, tell: Callable[[int], None]
) -> bool:
    """Whether a part has a digest such as `sha256:HEX`; True without one that is known.

    Args:
        file: The ZIP file.
        path: Its path, for messages.
        part: The part.
        digest: The digest.
        tell: Receives the bytes that were read.
    """
    algorithm, _, value = digest.partition(":")
    if algorithm not in _ALGORITHMS or not value:
        return True
    state, count = hashlib.new(algorithm, usedforsecurity=False), 0
    for data in part_chunks(file, path, part):
        state.update(data)
        count += len(data)
        tell(count)
    return state.hexdigest() == value
