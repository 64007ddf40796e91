"""WARC and WACZ files as other crawlers make them."""

import gzip
import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nacre.archive.index import rebuild_index

PAGES = ("http://h.test/", "http://h.test/a/", "http://www.h.test/b?y=2&x=1", "https://o.test/")


def response(url: str, body: bytes = b"hello", date: str = "2026-01-02T03:04:05Z") -> bytes:
    """A record, not compressed."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    name = hashlib.sha1(url.encode() + body).hexdigest()
    return (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{name}>\r\n"
        f"WARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode() + block + b"\r\n\r\n"  # fmt: skip


def packed_warc(urls: Iterable[str] = PAGES) -> bytes:
    """A WARC with a gzip member for each record."""
    return b"".join(gzip.compress(response(url), mtime=0) for url in urls)


def own_index(data: bytes, name: str, folder: Path) -> list[bytes]:
    """The lines of the index of a WARC, without ends."""
    path = folder / name
    path.write_bytes(data)
    lines = rebuild_index(path).splitlines()
    path.unlink()
    return lines


def zipnum(lines: list[bytes], name: str = "index.cdx.gz", each: int = 2) -> dict[str, bytes]:
    """An index of gzip blocks with its list, as in WACZ."""
    data, places = b"", []
    for number in range(0, len(lines), each):
        block = gzip.compress(b"".join(line + b"\n" for line in lines[number : number + each]))
        first = b" ".join(lines[number].split(b" ", 2)[:2]).decode()
        place = {"offset": len(data), "length": len(block), "filename": name}
        places.append(f"{first} {json.dumps(place)}\n")
        data += block
    meta = f'!meta 0 {{"format": "cdxj-gzip-1.0", "filename": "{name}"}}\n'
    return {"indexes/index.cdx.gz": data, "indexes/index.idx": (meta + "".join(places)).encode()}


def write_wacz(
    path: Path,
    parts: Mapping[str, bytes],
    *,
    package: Mapping[str, Any] | None = None,
    deflated: Iterable[str] = (),
    has_package: bool = True,
) -> Path:
    """A WACZ of parts, with its description; `package` changes that."""
    resources = [
        {
            "name": name.rpartition("/")[2], "path": name,
            "hash": f"sha256:{hashlib.sha256(data).hexdigest()}", "bytes": len(data),
        }
        for name, data in parts.items()
    ]  # fmt: skip
    about = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources}
    text = json.dumps(about | dict(package or {})).encode()
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
    files = dict(parts)
    if has_package:
        files |= {
            "datapackage.json": text, "datapackage-digest.json": json.dumps(digest).encode()
        }  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            kind = zipfile.ZIP_DEFLATED if name in set(deflated) else zipfile.ZIP_STORED
            archive.writestr(name, data, kind)
    return path


def wacz_with(path: Path, index: str = "zipnum", **options: Any) -> Path:
    """A WACZ of two WARCs with an index of a kind; "" for none."""
    first, second = packed_warc(PAGES[:2]), packed_warc(PAGES[2:])
    lines = sorted(
        own_index(first, "one.warc.gz", path.parent) + own_index(second, "two.warc.gz", path.parent)
    )
    plain = b"".join(line + b"\n" for line in lines)
    indexes = {
        "zipnum": zipnum(lines),
        "plain": {"indexes/index.cdxj": plain},
        "packed": {"indexes/index.cdx.gz": gzip.compress(plain)},
        "": {},
    }[index]
    parts = {"archive/one.warc.gz": first, "archive/two.warc.gz": second, **indexes}
    return write_wacz(path, parts | options.pop("parts", {}), **options)
