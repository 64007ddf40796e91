"""A job for the tests of packages: pages in UTF-8 and GBK, revisits, a form, a difference."""

import gzip
from pathlib import Path

from nacre.archive.record import CaptureFacts, WarcRecord, capture_records
from nacre.core.capture import BytesBody
from nacre.core.history import Original, RevisitProfile
from tests.archive.captures import BEGAN, counting_ids, make_capture, make_chunked, sha1
from tests.archive.files import MemoryFiles, make_writer

RUN = "20261120T100000Z"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
ENGLISH = b"<html><head><title>First  page</title></head><body><p>Words of it</p></body></html>"
CHINESE = (
    "<html><head><meta charset=gbk><title>国家图书馆 首页</title></head>"
    "<body><p>" + "中文网页的内容。" * 20 + "</p></body></html>"
).encode("gbk")
FORM = (
    b"POST /search HTTP/1.1\r\nHost: example.test\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nq=%E4%B8%AD%E6%96%87&n=1"
)


def page(url: str, body: bytes, moment: int = 0, **facts):
    """A capture of a page."""
    head = HTML % len(body)
    return make_capture(
        head, body, url=url, began=BEGAN + moment * 1_000_000,
        block_digest=sha1(head + body), payload_digest=sha1(body), **facts,
    )  # fmt: skip


def crawl_records(start: int = 1) -> list[list[WarcRecord]]:
    """The records of a crawl, a list for each capture."""
    ids = counting_ids(start)
    seed = page("http://example.test/", ENGLISH)
    first = capture_records(seed, CaptureFacts(is_seed=True), ids)
    original = Original(seed.url, seed.began, first[0].id)
    profile = RevisitProfile("identical-payload-digest", original, sha1(ENGLISH))
    again = capture_records(
        page("http://example.test/copy", ENGLISH, 60), CaptureFacts(revisit=profile), ids
    )
    unchanged = capture_records(
        make_capture(
            b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", status=304, url=seed.url,
            began=BEGAN + 120_000_000,
        ),
        CaptureFacts(revisit=RevisitProfile("server-not-modified", original, sha1(ENGLISH))),
        ids,
    )  # fmt: skip
    answer = page("http://example.test/search", b"<title>Found</title>", 5, request=FORM)
    moved = make_capture(
        b"HTTP/1.1 302 Found\r\nLocation: /zh/\r\n\r\n", b"", status=302,
        url="http://example.test/start", payload_length=0, payload_digest="",
    )  # fmt: skip
    image = make_capture(
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", b"\x89PNG" + bytes(5000),
        url="http://example.test/a.png", began=BEGAN + 3_000_000,
    )  # fmt: skip
    return [
        first,
        capture_records(page("http://example.test/zh/", CHINESE, 2), CaptureFacts(), ids),
        capture_records(make_chunked(began=BEGAN + 4_000_000), CaptureFacts(), ids),
        capture_records(answer, CaptureFacts(), ids),
        capture_records(moved, CaptureFacts(), ids),
        capture_records(image, CaptureFacts(), ids),
        again,
        unchanged,
    ]


def make_job(
    root: Path, crawl: list[list[WarcRecord]] | None = None, *, is_open: bool = False, **settings
) -> Path:
    """Write a job with one run; its WARC is closed unless `is_open`."""
    folder = root / "runs" / RUN / "archive"
    folder.mkdir(parents=True)
    seeds = "http://example.test/start\nhttp://example.test/\n"
    (root / "crawl.yaml").write_text("seeds: seeds.txt\n")
    (root / "seeds.txt").write_text(seeds)
    files = MemoryFiles()
    writer = make_writer(files, **settings)
    for records in crawl_records() if crawl is None else crawl:
        writer.write(records)
    if not is_open:
        writer.rotate()
    files.save(folder)
    return root


def gzip_members(*records: bytes) -> bytes:
    """Records as gzip members."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)


def body_of(data: bytes) -> BytesBody:
    """A body in memory."""
    return BytesBody(data)
