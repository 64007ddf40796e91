"""A unit: what it fetches, what its parts hold, and how it goes on."""

import gzip
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.crawldb.facts import HOSTS
from nacre.crawldb.row import SCHEMA
from nacre.rounds.segments.parts import UnitPlace, check_files
from nacre.rounds.units.unit import UnitResult
from tests.cli.site import many_pages, site
from tests.rounds.lists import SEGMENT, Unit, UnitProgram, facts_of, row, segment, spec

PAGES = {
    "/": '<a href="/a.html">a</a> <a href="/b.html">b</a> <a href="/b.html">again</a>'
    '<a href="http://no.test/">x</a>',
    "/a.html": '<a href="/">home</a><a href="/c.html">c</a>',
    "/b.html": "<p>b</p>",
    "/robots.txt": "User-agent: *\nDisallow: /private/\n",
}


def test_a_unit_fetches_its_list_and_makes_a_part_of_it(tmp_path: Path):
    with site(PAGES) as home:
        urls = [home, f"{home}a.html", f"{home}private/x", f"{home}none"]
        cycle = segment(tmp_path, [urls])
        result = Unit(spec(tmp_path)).result()
    assert (result.attempt, result.parts, result.done) == (1, ["1-001"], True)
    visits = {row["key"]: row for row in facts_of(cycle, result)}
    assert {url: row["status"] for url, row in visits.items()} == {
        home: 200, f"{home}a.html": 200, f"{home}private/x": -9998, f"{home}none": 404,
    }  # fmt: skip
    page = visits[home]
    assert (page["links"], page["outlinks"], page["stored"]) == (2, 3, "novel")
    assert page["record_id"].startswith("urn:uuid:")
    assert page["warc_file"].startswith("NACRE-")
    assert "-20261122T101500123-0000-1-" in page["warc_file"]
    adds = {row["key"]: row for row in facts_of(cycle, result, "adds")}
    assert adds[f"{home}b.html"]["inlinks"] == 1
    assert adds[f"{home}b.html"]["depth"] == 2
    # Cash is neither made nor lost: what is handed out is what links and the virtual page get.
    place = UnitPlace(cycle.storage, SEGMENT, "u0000")
    (part,) = place.manifests().values()
    assert sum(int(row["cash"]) for row in adds.values()) + part.virtual == 0
    assert [row["host"] for row in facts_of(cycle, result, "hosts")] == ["127.0.0.1"]
    assert len(facts_of(cycle, result, "links")) == 4
    assert not (tmp_path / "units" / SEGMENT / "u0000" / "job").exists()


def test_a_page_with_a_million_links_is_bounded(tmp_path: Path):
    """As many count as in any crawl; the others are counted, and take no room in tables."""
    pages = {"/": "".join(f"<a href=/{number}>" for number in range(10**6)), "/next": "x"}
    with site(pages) as home:
        cycle = segment(tmp_path, [[home, f"{home}next"]], extract={"max_outlinks": 1000})
        result = Unit(spec(tmp_path)).result()
    visits = {row["key"]: row for row in facts_of(cycle, result)}
    assert visits[home]["outlinks"] > 100_000
    assert visits[home]["links"] == 1000
    assert visits[f"{home}next"]["status"] == 200
    assert sum(row["src"] == home for row in facts_of(cycle, result, "links")) == 1000
    assert len(facts_of(cycle, result, "adds")) < 1010


def test_what_is_left_when_the_time_is_over_is_told(tmp_path: Path):
    with site(PAGES) as home:
        urls = [home, f"{home}a.html", f"{home}中文.html"]
        cycle = segment(tmp_path, [urls])
        result = Unit(spec(tmp_path, deadline=1.0)).result()
    assert result.done
    rows = facts_of(cycle, result)
    assert sorted(row["key"] for row in rows) == sorted(urls)
    left = [row for row in rows if row["reason"]]
    assert {(row["reason"], row["status"]) for row in left} == {("deadline", 0)}
    (part,) = UnitPlace(cycle.storage, SEGMENT, "u0000").manifests().values()
    assert part.not_attempted == {"deadline": len(left)}


def test_a_unit_without_space_ends_and_says_where_how_much_is_missing(tmp_path: Path):
    segment(tmp_path, [["http://a.test/"]], disk={"reserve": 2**60})
    *_, last = Unit(spec(tmp_path)).told()
    assert last.failure is not None
    assert last.failure.kind == "StorageError"
    assert f"no space for unit u0000: {tmp_path}/units" in last.failure.message
    assert "MB free" in last.failure.message
    assert "MB needed" in last.failure.message


def test_the_rest_of_a_host_that_refuses_is_told(tmp_path: Path):
    with site(many_pages(40), slow=0.02, password="user:secret") as home:
        urls = [f"{home}p{number}.html" for number in range(40)]
        cycle = segment(tmp_path, [urls], politeness={"delay": 0.0, "in_flight": 1})
        result = Unit(spec(tmp_path, max_failures=3)).result()
    rows = facts_of(cycle, result)
    assert sorted(row["key"] for row in rows) == sorted(urls)
    assert {(row["reason"], row["status"]) for row in rows} == {(None, 401), ("blocked", 0)}
    assert 3 <= sum(row["status"] == 401 for row in rows) < 40


def test_parts_are_made_when_a_warc_is_rotated(tmp_path: Path):
    pages = {f"/p{n}.html": f"{n}" + "x" * 40_000 for n in range(20)}
    with site(pages, slow=0.1) as home:
        urls = [home + path[1:] for path in pages]
        cycle = segment(tmp_path, [urls], archive={"max_file_size": 60_000, "compress": False})
        result = Unit(spec(tmp_path)).result()
    assert len(result.parts) > 1
    assert result.parts == [f"1-{number:03d}" for number in range(1, len(result.parts) + 1)]
    rows = facts_of(cycle, result)
    assert sorted(row["key"] for row in rows) == sorted(urls)
    place = UnitPlace(cycle.storage, SEGMENT, "u0000")
    for part in place.manifests().values():
        check_files(cycle.storage, part)
        warcs = {Path(file.name).name for file in part.files}
        file = f"{place.parts}/{part.name}/visits.parquet"
        visits = pq.read_table(cycle.storage.local_path(file)).to_pylist()
        assert {row["warc_file"] for row in visits} <= warcs


def interrupted(tmp_path: Path, urls: list[str], **changes: Any) -> UnitResult:
    """Run a unit, and end it by a signal when it has fetched something."""
    unit = Unit(spec(tmp_path, **changes))
    for told in unit.told():
        if told.progress and told.progress.visits:
            unit.stop()
            break
    return unit.result()


def test_an_interrupted_unit_goes_on_in_its_scratch_directory(tmp_path: Path):
    with counted(many_pages(60), slow=0.05) as (home, asked):
        urls = [f"{home}p{number}.html" for number in range(60)]
        cycle = segment(tmp_path, [urls])
        first = interrupted(tmp_path, urls)
        assert (first.done, first.parts) == (False, ["1-001"])
        assert (tmp_path / "units" / SEGMENT / "u0000" / "job" / "state").exists()
        second = Unit(spec(tmp_path)).result()
    assert (second.done, second.parts) == (True, ["1-001", "2-001"])
    assert sorted(row["key"] for row in facts_of(cycle, second)) == sorted(urls)
    assert max(asked.values()) == 1


KILLED_BEFORE_FILES_GO = """
import os, signal
from nacre.rounds.segments.part_maker import PartMaker

async def clean(self):
    if self._gone:
        await self._commit.flush()
        os.kill(os.getpid(), signal.SIGKILL)

PartMaker._clean = clean
"""


@pytest.mark.slow
def test_a_kill_between_a_part_and_the_removal_of_its_files(tmp_path: Path):
    with counted(many_pages(60), slow=0.05) as (home, asked):
        urls = [f"{home}p{number}.html" for number in range(60)]
        cycle = segment(tmp_path, [urls])
        killed = UnitProgram(spec(tmp_path, slice=0.5), before=KILLED_BEFORE_FILES_GO)
        killed.lines()
        assert killed.process.returncode == -signal.SIGKILL
        assert list((tmp_path / "units").rglob("*.warc.gz"))
        result = Unit(spec(tmp_path)).result()
    assert result.done
    assert result.parts[0] == "1-001"
    assert sorted(row["key"] for row in facts_of(cycle, result)) == sorted(urls)
    assert list((tmp_path / "units").rglob("*.warc.gz")) == []
    # Those in process at the kill.
    assert sum(asked.values()) <= 60 + 40


def test_another_machine_goes_on_with_the_parts(tmp_path: Path):
    with counted(many_pages(60), slow=0.05) as (home, asked):
        urls = [f"{home}p{number}.html" for number in range(60)]
        cycle = segment(tmp_path, [urls])
        first = interrupted(tmp_path, urls)
        second = Unit(spec(tmp_path, scratch=str(tmp_path / "elsewhere"))).result()
        third = Unit(spec(tmp_path)).result()
    assert (second.done, second.parts) == (True, [*first.parts, "2-001"])
    assert (third.done, third.parts, third.visits) == (True, second.parts, 0)
    assert sorted(row["key"] for row in facts_of(cycle, second)) == sorted(urls)
    # robots.txt is asked for on each machine.
    assert asked.pop("/robots.txt") == 2
    assert max(asked.values()) == 1


def test_a_later_attempt_ends_an_earlier_one(tmp_path: Path):
    with site(many_pages(200), slow=0.05) as home:
        urls = [f"{home}p{number}.html" for number in range(200)]
        cycle = segment(tmp_path, [urls])
        first = Unit(spec(tmp_path))
        next(first.told())
        place = UnitPlace(cycle.storage, SEGMENT, "u0000")
        assert place.claim() == 2
        fenced = first.result()
    assert (fenced.fenced, fenced.done, fenced.parts) == (True, False, [])
    assert not place.manifests()


def test_a_file_that_wants_the_end_ends_units(tmp_path: Path):
    with site(many_pages(200), slow=0.05) as home:
        urls = [f"{home}p{number}.html" for number in range(200)]
        cycle = segment(tmp_path, [urls])
        cycle.storage.put(UnitPlace(cycle.storage, SEGMENT, "u0000").stop, b"")
        result = Unit(spec(tmp_path)).result()
    assert not result.done
    assert not result.fenced


def test_a_unit_ends_with_its_parent(tmp_path: Path):
    segment(tmp_path, [["http://127.0.0.1:9/"]])
    unit = UnitProgram(spec(tmp_path), parent=1)
    unit.process.communicate(timeout=10)
    assert unit.process.returncode == -signal.SIGKILL


def test_history_and_robots_of_earlier_rounds_count(tmp_path: Path):
    with counted(PAGES) as (home, asked):
        urls = [f"{home}b.html"]
        cycle = segment(tmp_path / "1", [urls])
        first = Unit(spec(tmp_path / "1")).result()
        (visit,) = facts_of(cycle, first)
        (known,) = facts_of(cycle, first, "hosts")
        names = [name for name in visit if name in SCHEMA.names]
        listed = row(urls[0], **{name: visit[name] for name in names if visit[name] is not None})
        again = segment(tmp_path / "2", [[listed]])
        path = again.storage.local_path(f"segments/{SEGMENT}/hosts/u0000.parquet")
        assert path is not None
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([known], HOSTS), path)
        second = Unit(spec(tmp_path / "2")).result()
    (visit,) = facts_of(again, second)
    assert visit["stored"] == "duplicate"
    assert asked == {"/robots.txt": 1, "/b.html": 2}


@contextmanager
def counted(pages: dict[str, str], slow: float = 0.0) -> Iterator[tuple[str, Counter[str]]]:
    """A site, and how often each path was asked for."""
    asked: Counter[str] = Counter()

    class Counting(dict[str, str]):
        def get(self, path: str, default: Any = None) -> Any:
            asked[path] += 1
            return super().get(path, default)

    with site(Counting(pages), slow) as home:
        yield home, asked


def test_cookies_of_a_file_are_sent_by_each_unit(tmp_path: Path):
    """What sites set is of the unit alone: tables have many readers, cookies may be logins."""
    line = "127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tlogin\tyes\n"
    (tmp_path / "cookies.txt").write_text(line)
    with site(PAGES) as home:
        cycle = segment(tmp_path, [[home]], cookies={"load_file": "cookies.txt"})
        result = Unit(spec(tmp_path)).result()
    (part,) = UnitPlace(cycle.storage, SEGMENT, "u0000").manifests().values()
    (warc,) = (file.name for file in part.files if file.name.endswith(".warc.gz"))
    assert b"Cookie: login=yes" in gzip.decompress(cycle.storage.read(warc))
    assert not any("cookie" in name for name in facts_of(cycle, result, "hosts")[0])
