"""One job over all the odd servers at once, beside a good site: it ends, whole and small."""

import asyncio
import gc
import hashlib
import os
import re
from base64 import b32encode
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.settings import EngineSettings
from nacre.fetch.settings import FetchSettings
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.job.job import Job
from nacre.settings.settings import JobSettings
from nacre.store.schema import FAMILIES
from tests.crawl.replay import judge
from tests.fault.facts import Facts, check_counters, check_originals
from tests.fault.jobs import facts_of, settings
from tests.fault.odd import CASES, ROBOTS_FAILED, UNFETCHABLE, odd_site
from tests.fault.site import Site

pytestmark = pytest.mark.crawl
COPIES = 4
PARALLEL = 40


def open_files() -> tuple[int, int]:
    """Return the number of open files of this process outside of a store, and of those in it."""
    names = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            names.append(str(link.readlink()))
    of_store = sum("/store/" in f"{name}/" for name in names)
    return len(names) - of_store, of_store


@dataclass
class Load:
    """Open files and memory of this process, looked at from time to time."""

    files: list[int] = field(default_factory=list)
    store_files: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(0.1)

    def look(self) -> None:
        files, of_store = open_files()
        self.files.append(files)
        self.store_files.append(of_store)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.memory.append(pages * os.sysconf("SC_PAGE_SIZE"))


@dataclass(frozen=True)
class Result:
    facts: Facts
    warcs: list[Path]
    lines: dict[str, tuple[int, str]]
    load: Load
    before: int
    after: int
    good: Site


def odd_settings(*seeds: str) -> JobSettings:
    """Only cases that never end have short time-outs: a busy machine is slow with the others."""
    slow = "|".join(name for name, case in CASES.items() if case.never_ends)
    return settings(
        "",
        seeds=seeds,
        politeness=PolitenessSettings(delay=0.0, in_flight=PARALLEL),
        engine=EngineSettings(parallel=PARALLEL),
        frontier=FrontierSettings(
            max_retries=1, throttled_retries=0, truncated_retries=0, last_tries=1
        ),
        fetch=FetchSettings(
            timeout=120, silence_timeout=100, connect_timeout=100, max_length=2_000_000
        ),
        sheets={"impatient": {"fetch": {"timeout": 6, "silence_timeout": 4}}},
        sheet_associations=(
            {
                "sheets": ["impatient"],
                "rule": {"rule": "matches-regex", "regex": f"http://[^/]*/({slow})/.*"},
            },
        ),
    )


async def crawl(root: Path) -> Result:
    load, good = Load(), Site()
    async with good.serving(), odd_site(COPIES) as odd:
        job = Job(root, odd_settings(good.url(), odd.url()))
        before = sum(open_files())
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(load.watch())
            assert await job.run() is ExitStatus.FINISHED
            watching.cancel()
        await asyncio.sleep(0.05)
        gc.collect()
        after = sum(open_files())
    warcs = sorted((root / "latest" / "archive").glob("*.warc.gz"))
    return Result(facts_of(root), warcs, log_lines(root), load, before, after, good)


def log_lines(root: Path) -> dict[str, tuple[int, str]]:
    """Status and annotations of each URL; every URL has one line."""
    lines = {}
    for line in (root / "latest" / "logs" / "crawl.log").read_text().splitlines():
        words = line.split()
        assert words[3] not in lines, "two lines"
        lines[words[3]] = int(words[1]), words[11]
    return lines


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return asyncio.run(crawl(tmp_path_factory.mktemp("odd") / "job"))


@pytest.mark.parametrize("name", CASES)
def test_each_case_has_a_defined_end(result: Result, name: str):
    case = CASES[name]
    found = [end for url, end in result.lines.items() if f"/{name}/" in url]
    assert len(found) >= COPIES
    for status, notes in found:
        assert status in case.statuses, notes
        assert case.note in notes


def test_every_line_has_a_known_status(result: Result):
    known = {int(status) for status in FetchStatus}
    assert all(status > 0 or status in known for status, _ in result.lines.values())
    assert -5 not in {status for status, _ in result.lines.values()}, "an error in the crawler"
    assert result.lines.keys() == result.facts.outcomes.keys()
    assert len(result.lines) > len(CASES) * COPIES


def test_the_good_site_is_complete_beside_them(result: Result):
    good = result.good
    for path, body in good.pages.items():
        digest = "sha1:" + b32encode(hashlib.sha1(body).digest()).decode()
        assert result.lines[good.url(path)][0] == 200
        if body:
            assert result.facts.payloads[good.url(path)] == digest


def test_the_archive_is_valid_and_the_counters_agree(result: Result):
    assert result.facts.damage == []
    check_originals(result.facts)
    check_counters(result.facts)
    assert not result.facts.waiting


def test_the_judges_agree(result: Result, tmp_path: Path):
    """warcio digests the chunked coding with the payload, and looks for a head in what has none."""
    files = [str(path) for path in result.warcs]
    assert len(files) > 10, "rotated"
    together = tmp_path / "all.warc.gz"
    together.write_bytes(b"".join(path.read_bytes() for path in result.warcs))
    fastwarc = judge("fastwarc", "check", str(together))
    assert fastwarc.returncode == 0, fastwarc.stdout + fastwarc.stderr
    failures = re.findall(r"(\w+) digest failed", judge("warcio", "check", "-v", *files).stdout)
    assert set(failures) == {"payload"}
    ours = [path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj") for path in result.warcs]
    lines = judge("cdxj-indexer", "--sort", "--post-append", *files).stdout.splitlines()
    assert lines == sorted(line for index in ours for line in index.read_text().splitlines())


def test_no_private_address_was_asked(result: Result):
    """robots.txt is refused by the guard; so is what would come after it."""
    ends = {
        url.rpartition("/")[2] or "/": status
        for url, (status, _) in result.lines.items()
        if "169.254." in url or "//10." in url
    }
    assert ends == {"robots.txt": UNFETCHABLE, "/": ROBOTS_FAILED}


def test_open_files_and_memory_stay_flat(result: Result):
    assert result.after <= result.before + 2
    assert max(result.load.files) < result.before + 4 * PARALLEL
    # A handle of the directory for each family, the log, the lock, and one or two others.
    assert max(result.load.store_files) < len(FAMILIES) + 8
    half = result.load.memory[len(result.load.memory) // 2 :]
    assert max(half) < result.load.memory[0] + 400_000_000
