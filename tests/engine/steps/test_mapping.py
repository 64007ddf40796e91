"""Which crawler a site belongs to."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pydantic import ValidationError

from nacre.assembly.rule_checks import chain_problems
from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Candidate, Result, Visit
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.chain.entry import PROCESSORS, ChainName
from nacre.engine.steps.mapping import (
    CrawlMapper,
    Diversions,
    LinkMapper,
    UriMapper,
    read_ranges,
)
from nacre.scope.state import ScopeState
from nacre.settings.settings import JobSettings
from nacre.uri.surt import surt_authority
from tests.engine.chain.test_plan import kit
from tests.engine.visiting import ManualClock
from tests.job.opened import opened


def names(urls: list[str], given: Any = None, **said: Any) -> list[str]:
    entry = PROCESSORS.read({"local_name": "0", **said})
    assert isinstance(entry, CrawlMapper)
    name = entry.name_of(given or kit())
    return [name(CrawlURI(url, b"", surt_authority(url))) for url in urls]


SITES = [f"http://site{number}.test/" for number in range(400)]


def test_sites_are_shared_by_domain():
    said = {"processor": "HashCrawlMapper", "crawler_count": 4}
    found = names(SITES, **said)
    assert {"0", "1", "2", "3"} == set(found)
    assert all(60 < found.count(name) < 140 for name in set(found))
    assert names([url.replace("//", "//www.") for url in SITES], **said) == found
    keys = names([url.replace("//", "//www.") for url in SITES], **said, reduce_by_domain=False)
    assert keys != found
    regex = {"reduce_by_domain": False, "reduce_prefix_regex": r"\w+,\w+,"}
    bare = names(SITES, **said, reduce_by_domain=False)
    assert names([url.replace("//", "//www.") for url in SITES], **said, **regex) == bare


def test_one_crawler_more_moves_few_sites():
    four, five = (
        names(SITES, processor="hash-crawl-mapper", crawler_count=count) for count in (4, 5)
    )
    moved = [after for before, after in zip(four, five, strict=True) if before != after]
    assert set(moved) == {"4"}
    assert len(moved) < 120


@pytest.mark.parametrize("name", ["4", "-1", "x", "01", "."])
def test_a_crawler_is_one_of_them(name: str):
    with pytest.raises(ValidationError):
        PROCESSORS.read({"processor": "hash-crawl-mapper", "crawler_count": 4, "local_name": name})


def test_ranges_of_queue_keys(tmp_path: Path):
    (tmp_path / "map.txt").write_text("# up to\norg,zz one\ncom,m two\n\nnet, three\n")
    state = ScopeState(read_lines=RuleFiles(tmp_path).read_lines)
    said = {"processor": "LexicalCrawlMapper", "map_file": "map.txt", "local_name": "one"}
    urls = ["http://a.com/", "http://z.com/", "http://a.net/", "http://a.org/", "http://a.zw/"]
    given = kit()._replace(state=state)
    assert names(urls, given, **said) == ["two", "three", "one", "one", "two"]


@pytest.mark.parametrize("lines", [[], ["# x"], ["a b c"], ["a"], ["a ../b"]])
def test_a_map_that_is_none(lines: list[str]):
    with pytest.raises(ValueError, match="KEY NAME"):
        read_ranges(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "No such file"), ("x", "KEY NAME"), ("a b\n", "gives nothing"), ("a one\n", "")],
)
def test_the_check_reads_the_map(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / "map.txt").write_text(text)
    entry = {"processor": "lexical-crawl-mapper", "map_file": "map.txt", "local_name": "one"}
    settings = JobSettings.model_validate({"chains": {"fetch": {"insert": [entry]}}})
    found = list(chain_problems(settings, RuleFiles(tmp_path)))
    assert [problem.path for problem in found] == ["chains.fetch.lexical-crawl-mapper"] * bool(
        message
    )
    assert all(message in problem.message for problem in found)


# ---- the files of what is another crawler's


def entry_of(**said: Any) -> CrawlMapper:
    entry = PROCESSORS.read({"processor": "hash-crawl-mapper", "local_name": "0", **said})
    assert isinstance(entry, CrawlMapper)
    return entry


def diverted(root: Path, act: Any, sessions: int = 1, **said: Any) -> dict[str, list[str]]:
    """What the files hold that a job leaves, by their names below runs/x/."""

    async def run() -> None:
        for number in range(sessions):
            clock = ManualClock()
            async with opened(root, clock=clock) as session:
                given = kit()._replace(root=root, clock=clock, commit=session.storing.commit)
                act(Diversions(entry_of(crawler_count=3, **said), given), clock, number)

    asyncio.run(run())
    found = sorted((root / "runs" / "x").rglob("*-to-*"))
    return {path.name: path.read_text().splitlines() for path in found}


def uri_of(place: str, via: str = "", path: str = "") -> CrawlURI:
    return CrawlURI(f"http://a.test/{place}", b"", "test,a,", via=via, path=path)


def test_each_crawler_has_its_file_and_it_is_closed_at_the_end(tmp_path: Path):
    def act(diversions: Diversions, *_: object) -> None:
        diversions.write(uri_of("1"), "1")
        diversions.write(uri_of("2", via="http://a.test/", path="L"), "2")
        diversions.write(uri_of("3", via="http://a.test/"), "1")
        diversions.finish()
        diversions.finish()

    assert diverted(tmp_path, act) == {
        "2026112010-0-to-1.divert": ["F+ http://a.test/1", "F+ http://a.test/3 - http://a.test/"],
        "2026112010-0-to-2.divert": ["F+ http://a.test/2 L http://a.test/"],
    }


@pytest.mark.parametrize(
    ("digits", "names_of_files"),
    [
        (10, ["2026112010-0-to-1.divert", "2026112011-0-to-1.divert"]),
        (8, ["20261120-0-to-1.divert"]),
    ],
)
def test_a_file_is_closed_when_its_time_is_over(
    tmp_path: Path, digits: int, names_of_files: list[str]
):
    def act(diversions: Diversions, clock: ManualClock, _: int) -> None:
        diversions.write(uri_of("1"), "1")
        clock.passed += 3600.0
        diversions.write(uri_of("2"), "1")
        diversions.finish()

    found = diverted(tmp_path, act, rotation_digits=digits)
    assert list(found) == names_of_files
    lines = [line for lines in found.values() for line in lines]
    assert lines == ["F+ http://a.test/1", "F+ http://a.test/2"]


def test_a_file_is_closed_when_its_time_is_over_and_nothing_more_is_written(tmp_path: Path):
    def act(diversions: Diversions, clock: ManualClock, _: int) -> None:
        diversions.write(uri_of("1"), "1")
        diversions.time_passed()
        diversions.write(uri_of("2"), "1")
        clock.passed += 3600.0
        diversions.time_passed()
        diversions.time_passed()

    lines = ["F+ http://a.test/1", "F+ http://a.test/2"]
    assert diverted(tmp_path, act) == {"2026112010-0-to-1.divert": lines}


def test_a_file_that_was_left_open_is_gone_on_with(tmp_path: Path):
    def act(diversions: Diversions, _: ManualClock, number: int) -> None:
        diversions.write(uri_of(str(number)), "1")
        if number:
            diversions.finish()

    lines = ["F+ http://a.test/0", "F+ http://a.test/1"]
    assert diverted(tmp_path, act, 2) == {"2026112010-0-to-1.divert": lines}


def test_a_file_of_an_earlier_time_that_was_left_open_is_closed(tmp_path: Path):
    def act(diversions: Diversions, clock: ManualClock, number: int) -> None:
        clock.passed += 3600.0 * number
        diversions.write(uri_of(str(number)), "1")

    found = diverted(tmp_path, act, 2)
    assert found == {
        "2026112010-0-to-1.divert": ["F+ http://a.test/0"],
        "2026112011-0-to-1.open": ["F+ http://a.test/1"],
    }


def test_no_file_takes_the_name_of_another(tmp_path: Path):
    def act(diversions: Diversions, _: ManualClock, number: int) -> None:
        diversions.write(uri_of(str(number)), "1")
        diversions.finish()

    assert diverted(tmp_path, act, 3) == {
        "2026112010-0-to-1-2.divert": ["F+ http://a.test/1"],
        "2026112010-0-to-1-3.divert": ["F+ http://a.test/2"],
        "2026112010-0-to-1.divert": ["F+ http://a.test/0"],
    }


class Written:
    """Takes the place of the files of diverted URIs."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def write(self, uri: CrawlURI, target: str) -> None:
        self.found.append((uri.url, target))

    def time_passed(self) -> None:
        """Nothing is open."""

    def finish(self) -> None:
        """Nothing is open."""


URI = CrawlURI("http://a.test/", b"", "test,a,")


@pytest.mark.parametrize(("owner", "status"), [("0", 0), ("1", -5002)])
def test_a_uri_of_another_crawler_is_let_go(owner: str, status: int):
    files: Any = Written()
    mapper = UriMapper("0", lambda _: owner, files)
    visit = Visit(URI)
    assert mapper.accepts(visit)
    done = asyncio.run(mapper.process(visit))
    assert visit.status == status
    assert (done is Result.FINISH) is bool(status)
    assert files.found == ([("http://a.test/", "1")] if status else [])
    assert not mapper.accepts(Visit(structs.replace(URI, path="P")))


@pytest.mark.parametrize(
    ("owner", "rule"), [("0", ""), ("1", "to:1 (it belongs to another crawler)")]
)
def test_a_link_of_another_crawler_is_refused(owner: str, rule: str):
    files: Any = Written()
    mapper = LinkMapper("0", lambda _: owner, files)
    link = Candidate(Outlink("http://a.test/", Hop.LINK, "a/@href"), URI, "L", 0)
    assert not mapper.accepts(link)
    assert mapper.process(link) is Result.PROCEED
    link.uri = URI
    assert mapper.accepts(link)
    assert (mapper.process(link) is Result.FINISH) is bool(rule)
    assert link.rule == rule


@pytest.mark.parametrize(
    ("chain", "worker"), [(ChainName.FETCH, UriMapper), (ChainName.CANDIDATE, LinkMapper)]
)
def test_the_worker_is_that_of_its_chain(tmp_path: Path, chain: ChainName, worker: type):
    async def run() -> None:
        async with opened(tmp_path) as session:
            given = kit()._replace(chain=chain, root=tmp_path, commit=session.storing.commit)
            made = type(entry_of()).make(fixed(entry_of()), given)
            assert type(made) is worker

    asyncio.run(run())
