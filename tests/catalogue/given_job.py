"""Jobs with indexes of captures that were never made."""

import gzip
from pathlib import Path

from nacre.archive.index import format_line, rebuild_index, sort_index
from nacre.archive.index_facts import PostQuery

RUN = "20261120T100000Z"
_SIGNS = str.maketrans("", "", "-:T")
SHA1 = "sha1:" + "A" * 32


def line(
    url: str,
    timestamp: str = "20261120100000",
    offset: int = 0,
    *,
    warc: str = "a.warc.gz",
    mime: str = "text/html",
    status: int = 200,
    digest: str = SHA1,
    length: int = 500,
    post: PostQuery | None = None,
) -> bytes:
    """A line of an index."""
    values = (mime, str(status) if status else None, digest)
    return format_line(url, timestamp, values, (length, offset, warc), post)


def add_index(
    root: Path,
    lines: list[bytes],
    *,
    warc: str = "a.warc.gz",
    run: str = RUN,
    is_open: bool = False,
) -> Path:
    """Write the index of a WARC of a job, and an empty WARC; return the index."""
    folder = root / "runs" / run / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "state").mkdir(exist_ok=True)
    (root / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    index = folder / (warc.removesuffix(".warc.gz") + ".cdxj")
    for path in (folder / warc, index):
        path.with_name(f"{path.name}.open").unlink(missing_ok=True)
    end = ".open" if is_open else ""
    (folder / f"{warc}{end}").write_bytes(b"")
    index = index.with_name(index.name + end)
    index.write_bytes(b"".join(lines) if is_open else sort_index(b"".join(lines)))
    return index


def add_log(root: Path, lines: list[str], run: str = RUN) -> None:
    """Write the crawl.log of a run."""
    logs = root / "runs" / run / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "crawl.log").write_text("".join(f"{text}\n" for text in lines))


def log_line(url: str, timestamp: str, annotations: str = "-", status: int = 200) -> str:
    """A line of crawl.log."""
    fetched = f"{timestamp}123+45"
    return (
        f"2026-11-20T10:00:01.000Z {status:>5}        500 {url} L http://h.test/ text/html #000 "
        f"{fetched} {SHA1} - {annotations}"
    )


def record(url: str, body: bytes, date: str, **fields: str) -> bytes:
    """A response record, packed."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Evil: <b>\r\n\r\n" + body
    head = {
        "WARC-Type": "response", "WARC-Target-URI": url, "WARC-Date": date,
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{date[2:-1].translate(_SIGNS)}>",
        "Content-Type": "application/http;msgtype=response", "Content-Length": str(len(http)),
        **fields,
    }  # fmt: skip
    text = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return gzip.compress(f"WARC/1.1\r\n{text}\r\n".encode() + http + b"\r\n\r\n")


def real_job(root: Path) -> None:
    """A job with real records."""
    add_index(root, [])
    folder = root / "runs" / RUN / "archive"
    warc = folder / "a.warc.gz"
    warc.write_bytes(
        record("http://h.test/", b"<p>one", "2026-11-20T10:00:00Z")
        + record("http://h.test/", b"<p>two", "2026-11-21T10:00:00Z")
        + record("http://h.test/中".encode().decode("latin-1"), b"x", "2026-11-21T10:00:01Z")
    )
    (folder / "a.cdxj").write_bytes(rebuild_index(warc))
