"""The store's files in memory, and WARCs made with them."""

from itertools import count
from pathlib import Path

from nacre.archive.certificates import StoredChain
from nacre.archive.index import sort_index
from nacre.archive.record import CaptureFacts, WarcRecord, capture_records
from nacre.archive.settings import WarcSettings
from nacre.archive.warc_writer import WarcOrigin, WarcWriter
from nacre.core.capture import Body
from nacre.store.files import FileKind
from tests.archive.captures import counting_ids, make_capture, make_chunked, revisit_of

ORIGIN = WarcOrigin("Nacre/0.1", "host.test", ip="127.0.0.1", is_part_of="demo", robots="obey")


class MemoryFiles:
    """What `GroupCommit` does, without a disk."""

    def __init__(self) -> None:
        self.data: list[bytearray] = []
        self.paths: list[str] = []
        self.kinds: list[FileKind] = []
        self.closed: dict[int, str] = {}

    def create_file(self, kind: FileKind, path: str) -> int:
        self.data.append(bytearray())
        self.paths.append(path)
        self.kinds.append(kind)
        return len(self.data) - 1

    def append(self, number: int, data: bytes | Body) -> int:
        assert number not in self.closed
        offset = len(self.data[number])
        self.data[number] += data if isinstance(data, bytes) else data.read(0, data.length)
        return offset

    def line(self, number: int, text: bytes) -> None:
        self.append(number, text)

    def size(self, number: int) -> int:
        return len(self.data[number])

    def close_file(self, number: int, final: str) -> None:
        self.closed[number] = final
        if self.kinds[number] == FileKind.INDEX:
            self.data[number] = bytearray(sort_index(bytes(self.data[number])))

    def save(self, folder: Path) -> list[Path]:
        """Write all files under the names that they have now; the WARCs' paths."""
        warcs = []
        for number, data in enumerate(self.data):
            path = folder / Path(self.closed.get(number, self.paths[number])).name
            path.write_bytes(data)
            if self.kinds[number] == FileKind.WARC:
                warcs.append(path)
        return warcs


class TestClock:
    """Stands still, until a test lets time pass.

    Attributes:
        passed: Seconds since the start.
    """

    __test__ = False

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> float:
        return 1_795_168_800.123

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


class CountingNumbers:
    """Serial numbers from 0, ids from a number that captures do not reach."""

    def __init__(self) -> None:
        self._serials = count()
        self.record_id = counting_ids(1 << 64)

    def serial(self) -> int:
        return next(self._serials)


def make_writer(
    files: MemoryFiles,
    origin: WarcOrigin = ORIGIN,
    clock: TestClock | None = None,
    **settings,
) -> WarcWriter:
    clock = clock or TestClock()
    return WarcWriter(WarcSettings(**settings), origin, files, clock, CountingNumbers())


def small_crawl() -> list[list[WarcRecord]]:
    """Records of a page, the same again, a chunked page, its 304, a look-up, a POST."""
    ids = counting_ids()
    page = capture_records(make_capture(), CaptureFacts(is_seed=True), ids)
    chunked = capture_records(make_chunked(), CaptureFacts(via="http://example.test/"), ids)
    original = page[0].id
    again = make_capture(url="http://example.test/copy?b=1&a=2")
    same = revisit_of("identical-payload-digest", original, original_date=page[0].date)
    reply = make_capture(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", status=304)
    unchanged = revisit_of("server-not-modified", original, original_date=page[0].date)
    answer = make_capture(
        b"", b"example.test.\t60\tIN\tA\t127.0.0.1\n", url="dns:example.test", protocol="dns"
    )
    form = b"POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1&b=%20x"
    posted = make_capture(request=form)
    return [
        page,
        chunked,
        capture_records(again, same, ids),
        capture_records(reply, unchanged, ids),
        capture_records(answer, CaptureFacts(), ids),
        capture_records(posted, CaptureFacts(), ids),
    ]


def write_crawl(
    folder: Path, *, only: int = 6, chain: StoredChain | None = None, **settings
) -> tuple[Path, Path]:
    """A closed WARC of the first captures of `small_crawl`, and its index."""
    files = MemoryFiles()
    writer = make_writer(files, **settings)
    for records in small_crawl()[:only]:
        writer.write(records, chain=chain)
    writer.rotate()
    (warc,) = files.save(folder)
    return warc, folder / (warc.name.partition(".warc")[0] + ".cdxj")
