"""Small archives of hand-made records, as any crawler may have written them."""

import gzip
import hashlib
from base64 import b32encode
from itertools import count
from pathlib import Path

from nacre.archive.index import rebuild_index
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.replay.reply import ArchivedExchange, read_exchange
from nacre.uri.surt import index_key

URL = "http://h.test/"
DATE = "2026-11-20T10:00:00Z"
HTTP = "application/http; msgtype=response"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_NUMBERS = count(1)


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def record(
    block: bytes,
    kind: str = "response",
    url: str = URL,
    date: str = DATE,
    media: str = HTTP,
    version: str = "1.1",
    **fields: str,
) -> bytes:
    """A record; names of further fields with underscores for hyphens."""
    names = {"WARC-Record-ID": f"<urn:uuid:{next(_NUMBERS)}>"}
    names |= {"WARC-" + name.replace("_", "-"): value for name, value in fields.items()}
    lines = [
        f"WARC/{version}",
        f"WARC-Type: {kind}",
        f"WARC-Date: {date}",
        f"WARC-Target-URI: {url}",
        *(f"{name}: {value}" for name, value in names.items()),
        *([f"Content-Type: {media}"] if media else []),
        f"Content-Length: {len(block)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


class Archive:
    """A job whose archive is hand-made; each `add` makes a WARC."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "runs" / "20261120T100000Z" / "archive"
        self.folder.mkdir(parents=True)
        (root / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
        self._names = count()

    def add(self, *records: bytes, compress: bool = True, index: bytes | None = None) -> Path:
        """Write a WARC with its index."""
        path = self.folder / f"w{next(self._names)}.warc{'.gz' if compress else ''}"
        data = [gzip.compress(each, mtime=0) if compress else each for each in records]
        path.write_bytes(b"".join(data))
        lines = rebuild_index(path) if index is None else index
        (self.folder / f"{path.name.partition('.')[0]}.cdxj").write_bytes(lines)
        return path

    def open(self, *others: "Archive") -> tuple[Holding, CaptureIndex]:
        holding = open_holding([self.root, *(other.root for other in others)])
        return holding, open_index(holding)

    def captures(self, url: str = URL, *others: "Archive") -> list[IndexedCapture]:
        return self.open(*others)[1].exact(index_key(url))

    def read(
        self, url: str = URL, number: int = -1, *others: "Archive", decode: bool = False
    ) -> ArchivedExchange:
        """Read a capture of a URL, by default the last."""
        holding, index = self.open(*others)
        return read_exchange(holding, index, index.exact(index_key(url))[number], decode=decode)
