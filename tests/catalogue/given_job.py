"""Jobs with indexes of captures that were never made."""

from pathlib import Path

from nacre.archive.index import format_line, sort_index
from nacre.archive.index_facts import PostQuery

RUN = "20261120T100000Z"
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
