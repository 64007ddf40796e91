"""Independent programs, and our own check, judge the archive of rounds.

It has several units, parts, segments, and pages that did not change since the last round.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from tests.cli.site import nacre
from tests.crawl.replay import JUDGES, judge, replaying
from tests.rounds.spark.web import HOSTS, write_host
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

PAGES = 5
DIRECTIVES = ("", "gzip on; gzip_min_length 0;", "ssi on; ssi_types *;", "etag off;")
"""Of the hosts in turn: as it is, compressed, chunked without validators, by Last-Modified."""
LATER = "2060-01-01T00:00:00Z"


@dataclass(frozen=True)
class RoundsArchive:
    """The archive of three rounds, and the site."""

    folder: Path
    port: int
    root: Path

    @property
    def warcs(self) -> list[Path]:
        return sorted(self.folder.glob("*.warc.gz"))

    def index(self, warc: Path) -> Path:
        return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")

    def replies(self) -> Iterator[tuple[str, str, str, str]]:
        """Type, URL, date and HTTP heading of each capture; "" for one that is not modified."""
        for warc in self.warcs:
            with warc.open("rb") as file:
                for entry in WarcReader(file):
                    fields = dict(entry.fields)
                    if fields["WARC-Type"] in {"response", "revisit"}:
                        block = b"".join(iter(entry.read, b""))
                        heading = block.partition(b"\r\n\r\n")[0].decode("latin-1").lower()
                        url = fields["WARC-Target-URI"]
                        yield fields["WARC-Type"], url, fields["WARC-Date"], heading


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoundsArchive]:
    if not JUDGES.is_dir():
        pytest.fail("the judges are missing: run `make judges`")
    folder = tmp_path_factory.mktemp("rounds")
    (folder / "web").mkdir()
    port = free_port(HOSTS)
    for number, host in enumerate(HOSTS):
        write_host(folder / "web" / host, number, port, PAGES)
    servers = [
        Server(host, port, folder / "web" / host, directives=DIRECTIVES[number % 4])
        for number, host in enumerate(HOSTS)
    ]
    seeds = [part for host in HOSTS for part in ("-s", f"http://{host}:{port}/")]
    words = ["--rounds", "2", "--units", "3", "--delay", "0", "--allow-net", "127.0.0.0/8"]
    with serving(servers, folder / "nginx"):
        small = ("--set", "archive.max_file_size=20000")
        done = nacre("cycle", folder / "c", *seeds, *words, *small)
        assert done.code == 0, done.err
        done = nacre("cycle", folder / "c", "--rounds", "1", "--units", "3", "--at", LATER)
        assert done.code == 0, done.err
        yield RoundsArchive(folder / "c" / "cycle" / "archive", port, folder / "web")


def test_rounds_made_what_is_judged(archive: RoundsArchive):
    kinds = Counter(kind for kind, url, *_ in archive.replies() if url.endswith(".html"))
    assert kinds == {"response": 8 * PAGES, "revisit": 8 * PAGES}
    units = {re.search(r"-(\d{4})-\d-", warc.name) for warc in archive.warcs}
    assert None not in units
    assert len({found[1] for found in units if found}) == 3
    assert len(archive.warcs) > 3 * 3, "units have several parts"
    known = [heading for kind, *_, heading in archive.replies() if kind == "revisit"]
    assert known.count("") >= 4 * PAGES, "pages that the server says are not modified"
    assert len(known) - known.count("") >= 2 * PAGES, "pages that came again as they were"


def test_our_own_check_finds_nothing(archive: RoundsArchive):
    checker = Checker()
    for warc in archive.warcs:
        checker.file(warc, archive.index(warc))
    assert [finding for finding in checker.finish() if finding.severity != "note"] == []
    assert checker.summary.records["revisit"] >= 8 * PAGES


def test_warcio_complains_of_chunked_payloads_alone(archive: RoundsArchive):
    """It digests the payload with its chunks; the standard says without (documented)."""
    chunked = [
        url
        for kind, url, _, heading in archive.replies()
        if kind == "response" and "transfer-encoding: chunked" in heading
    ]
    result = judge("warcio", "check", "-v", *map(str, archive.warcs))
    failed = re.findall(r"\w+ digest failed", result.stdout)
    assert set(failed) == {"payload digest failed"}
    assert len(failed) == len(chunked)


def test_fastwarc_checks_every_block(archive: RoundsArchive):
    for warc in archive.warcs:
        result = judge("fastwarc", "check", str(warc))
        assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_cdxj_indexer_makes_the_same_lines(archive: RoundsArchive):
    for warc in archive.warcs:
        result = judge("cdxj-indexer", "--sort", "--post-append", str(warc))
        assert result.stdout == archive.index(warc).read_text()
        assert result.stdout


def test_pywb_replays_the_pages_of_both_times(archive: RoundsArchive, tmp_path: Path):
    shown = Counter[str]()
    with replaying(archive.warcs, tmp_path) as replay:
        for kind, url, date, _ in archive.replies():
            name = url.removeprefix("http://").replace(f":{archive.port}", "")
            if name.endswith(".html"):
                found = replay.get(url, date)
                assert (found.status, found.body) == (200, (archive.root / name).read_bytes()), url
                shown[kind] += 1
    assert shown == {"response": 8 * PAGES, "revisit": 8 * PAGES}
