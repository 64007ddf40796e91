"""`archive check` calls nothing damaged that Nacre wrote (docs/howto.md).

On the code before, the checker had a reading of framing of its own: `Transfer-Encoding: chunked`
beside `xchunked` made it compare the digest of another payload (exit 7).
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.findings import Severity
from nacre.archive.record import CaptureFacts, capture_records
from nacre.core.capture import Capture
from nacre.engine.readback import reread
from tests.archive.captures import counting_ids, fetched
from tests.archive.checking import check_file
from tests.archive.files import MemoryFiles, make_writer

OK = b"HTTP/1.1 200 OK\r\n"
GOOD = b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n"


def written(folder: Path, capture: Capture) -> Path:
    """A WARC with the records of one capture."""
    files = MemoryFiles()
    writer = make_writer(files)
    writer.write(capture_records(capture, CaptureFacts(), counting_ids()))
    writer.rotate()
    (warc,) = files.save(folder)
    return warc


def differences(folder: Path, raw: bytes, method: str = "GET", step: int = 0) -> list[object]:
    """What check and rereading find in the archive that the fetcher did not make of a reply."""
    capture = fetched(raw, method, step)
    if capture is None:
        return []
    warc = written(folder, capture)
    findings, summary = check_file(warc)
    different: list[object] = [str(f) for f in findings if f.severity is Severity.ERROR]
    if summary.wire:
        different.append("it is not compared by the reading that it was made by")
    if capture.truncated:
        return different
    (again,) = reread(warc, lambda _: None, lambda _: b"")
    payload = capture.payload(1 << 20)
    is_chunked = capture.framing == "chunked"
    expected = (capture.head, payload, len(payload), capture.headers, is_chunked)
    pairs = zip(facts(again.capture), expected, strict=True)
    return different + [(reread_fact, fact) for reread_fact, fact in pairs if reread_fact != fact]


def facts(capture: Capture) -> tuple[object, ...]:
    """The facts of a capture that rereading restores."""
    payload = capture.payload(1 << 20)
    is_chunked = capture.framing == "chunked"
    return capture.head, payload, capture.payload_length, capture.headers, is_chunked


CODINGS = [
    b"chunked", b"xchunked", b"Chunked", b"CHUNKED ", b"identity", b"gzip, chunked",
    b"chunked, gzip", b"chunked, chunked", b"chunked,", b",chunked", b"chunked;q=1",
    b'"chunked"', b"", b" \t", b"chunked\x0b", b"chunked\x00", b"gzip", b"identity, chunked",
    b"chunked\r\n , xchunked", b"x\r\n chunked",
]  # fmt: skip
NAMES = [
    b"Transfer-Encoding", b"transfer-encoding", b"Transfer-Encoding ", b"Transfer_Encoding",
    b" Transfer-Encoding", b"\tTransfer-Encoding", b"X-Transfer-Encoding",
]  # fmt: skip
LENGTHS = [b"5", b"0", b"31", b"+5", b"5, 5", b"5, 6", b"-1", b"9" * 40, b"0x5", b"", b"1e1"]
BODIES = [
    GOOD, b"", b"hello", b"0\r\n\r\n", b"zz\r\nhello\r\n", b"5\r\nhello\r\nzz\r\n",
    b"5\nhello\n0\n\n", b"5\r\nhelloXX6\r\n world", b"5\r\nhel", b"5\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"0\r\nA", b"5", b"00000000000000005\r\nhello\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\nx",
    b"<p>\n\n<p>", GOOD + b"more", GOOD + OK + b"\r\n",
]  # fmt: skip
STARTS = [
    OK, b"HTTP/1.0 200 OK\r\n", b"HTTP/1.1 204 No\r\n", b"HTTP/1.1 304 No\r\n",
    b"HTTP/1.1 404 No\n", b"\r\n" + OK, b"\n\n\n" + OK, b"HTTP/1.1 100 Go\r\n\r\n" + OK,
    b"ICY 200 OK\r\n", b"http/1.1 200\r\n", b"HTTP/1.1 101 Up\r\n", b"", b"\r\n", b"<p>old\r\n",
    b"HTTP/2 200\r\n", b"HTTP/1.1 204OK\r\n",
]  # fmt: skip
ENDS = [b"\r\n", b"\n"]


@pytest.mark.parametrize("second", CODINGS)
@pytest.mark.parametrize("first", CODINGS)
def test_two_transfer_codings(first, second, tmp_path):
    head = b"Transfer-Encoding: %s\r\nTransfer-Encoding: %s\r\n\r\n" % (first, second)
    for number, body in enumerate((GOOD, b"hello")):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert differences(folder, OK + head + body) == []


field = st.tuples(st.sampled_from([*NAMES[:2] * 3, *NAMES]), st.sampled_from(CODINGS)) | st.tuples(
    st.sampled_from([b"Content-Length", b"content-length "]), st.sampled_from(LENGTHS)
)


@given(
    start=st.sampled_from(STARTS),
    fields=st.lists(field, max_size=4),
    end=st.sampled_from(ENDS),
    body=st.sampled_from(BODIES) | st.lists(st.sampled_from(BODIES), max_size=3).map(b"".join),
    method=st.sampled_from(["GET", "GET", "POST", "HEAD"]),
    step=st.sampled_from([0, 1, 3, 7]),
)
def test_odd_framings(start, fields, end, body, method, step):
    head = b"".join(b"%s: %s%s" % (name, value, end) for name, value in fields)
    with TemporaryDirectory() as folder:
        assert differences(Path(folder), start + head + end + body, method, step) == []


@given(raw=st.binary(max_size=200), step=st.sampled_from([0, 1]))
def test_any_bytes(raw, step):
    with TemporaryDirectory() as folder:
        assert differences(Path(folder), raw, step=step) == []
