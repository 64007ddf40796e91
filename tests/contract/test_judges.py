"""What independent programs say of Nacre's files, each known disagreement pinned.

They run as commands from `.venv-judges` (`make judges`), apart from the crawler's environment.
"""

import subprocess
from pathlib import Path

import pytest

from nacre.archive.certificates import store_chain
from nacre.archive.page_records import RecordedPage, page_records
from nacre.archive.record import CaptureFacts, WarcRecord, capture_records
from nacre.core.processor import PageUnit
from tests.archive.captures import BEGAN, counting_ids, make_capture
from tests.archive.files import MemoryFiles, make_writer, write_crawl
from tests.engine.page_making import page_id, rendered

JUDGES = Path(__file__).parents[2] / ".venv-judges" / "bin"

pytestmark = pytest.mark.skipif(not JUDGES.is_dir(), reason="no judges here: run `make judges`")


def judge(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(JUDGES / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize("compress", [True, False])
def test_warcio_check_complains_of_the_chunked_payload_alone(tmp_path, compress):
    warc, _ = write_crawl(tmp_path, compress=compress)
    result = judge(tmp_path, "warcio", "check", "-v", warc.name)
    assert result.stdout.count("payload digest failed") == 1
    assert result.stdout.count("failed") == 1
    assert result.stdout.count("digest pass") > 10
    assert result.returncode == 1


def test_warcio_check_is_content_without_chunks(tmp_path):
    warc, _ = write_crawl(tmp_path, only=1)
    assert judge(tmp_path, "warcio", "check", warc.name).returncode == 0


@pytest.mark.parametrize("compress", [True, False])
def test_fastwarc_checks_every_block(tmp_path, compress):
    warc, _ = write_crawl(tmp_path, compress=compress)
    result = judge(tmp_path, "fastwarc", "check", warc.name)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("compress", [True, False])
def test_cdxj_indexer_makes_the_same_lines(tmp_path, compress):
    warc, index = write_crawl(tmp_path, compress=compress)
    result = judge(tmp_path, "cdxj-indexer", "--sort", "--post-append", warc.name)
    assert result.stdout == index.read_text()
    assert result.stdout.count("\n") == 6


def test_without_a_post_the_lines_are_those_of_a_plain_run(tmp_path):
    warc, index = write_crawl(tmp_path, only=5)
    assert judge(tmp_path, "cdxj-indexer", "--sort", warc.name).stdout == index.read_text()


@pytest.mark.parametrize("compress", [True, False])
def test_the_judges_read_a_certificate_chain(tmp_path, compress):
    chain = store_chain((b"leaf" * 300, b"issuer" * 200))
    warc, index = write_crawl(tmp_path, only=5, chain=chain, compress=compress)
    lines = judge(tmp_path, "cdxj-indexer", "--sort", warc.name).stdout
    assert lines == index.read_text()
    assert lines.count("application/pem-certificate-chain") == 1
    assert judge(tmp_path, "fastwarc", "check", warc.name).returncode == 0


def test_the_judges_read_the_records_of_a_page_in_a_browser(tmp_path):
    unit = PageUnit(page_id(), "mount", rendered("http://example.test/"))
    urls = ("http://example.test/", "https://example.test/A/?b=%41&a=中文")
    files = MemoryFiles()
    writer = make_writer(files)
    for url in urls:
        page = RecordedPage(url, BEGAN, 200, "text/html", unit, (1440, 900), "Text", has_dom=True)
        writer.write(page_records(page, counting_ids()))
    writer.rotate()
    (warc,) = files.save(tmp_path)
    lines = judge(tmp_path, "cdxj-indexer", "--sort", "--post-append", warc.name).stdout
    assert lines == files.data[1].decode()
    assert lines.count("urn:") == 2 * 2 * 5
    assert judge(tmp_path, "fastwarc", "check", warc.name).returncode == 0
    assert judge(tmp_path, "warcio", "check", warc.name).returncode == 0


ODD_HEADS = [
    b"HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n",
    b"HTTP/1.0 404 Not Found\nContent-type:text/plain ; charset=x\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/\xe4\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-type: a/b\r\nContent-Type: c/d\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type:\r\n\ttext/css\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nContent-Type: body/body\r\n",
    b"HTTP/1.1 301 Moved\r\nContent-Type:\r\n\r\n",
    b"ICY 200 OK\r\nContent-Type: a/b\r\n\r\n",
    b"HTTP/1.1\r\nContent-Type: a/b\r\n\r\n",
    b"HTTP/1.1  200 OK\r\n\r\n",
    b"HTTP/1.1\t200 OK\r\n\r\n",
    b"220 banner\r\nno colon\r\nContent-Type: a/b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX\x00: y\r\nContent-Type : a/b\r\n\r\n",
    b" word 200 OK\r\nContent-Type: a/b\r\n\r\n",
    b"\t\r\nContent-Type: a/b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000 + b"Content-Type: a/b\r\n\r\n",
]


def test_cdxj_indexer_reads_odd_heads_alike(tmp_path):
    files = MemoryFiles()
    writer = make_writer(files)
    for number, head in enumerate(ODD_HEADS):
        writer.write(records_of(head, f"http://e.test/\u00e4 {number}"))
    writer.rotate()
    (warc,) = files.save(tmp_path)
    result = judge(tmp_path, "cdxj-indexer", "--sort", warc.name)
    assert result.stdout == files.data[1].decode()


def records_of(head: bytes, url: str) -> list[WarcRecord]:
    return capture_records(make_capture(head, url=url), CaptureFacts(), counting_ids())
