"""Damaged buckets: they alone are given up, and they are made again of lists and facts."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.crawldb.seeds import SEEDS
from nacre.rounds.tables.tables import CRAWLDB
from nacre.rounds.tables.versions import Cycle, TableFile, version_name
from tests.cli.site import Pages, everywhere, nacre

HOSTS = [f"127.0.0.{number}" for number in range(71, 75)]
STATE = "key, status, last_status, fetch_time, retries, signature, digest, record_id, via, depth"
LINKS = ("/a", "/b/", "/书", "/gone")


class Site(Pages):
    """Pages of two levels on each host, of which one is missing."""

    def page(self) -> str | None:
        if self.path in {"/robots.txt", "/gone"}:
            return None
        links = LINKS if self.path == "/" else ("c", "d") if self.path == "/b/" else ()
        return f"<p>{self.headers['Host']}{self.path}</p>" + "".join(
            f'<a href="{link}">{link}</a>' for link in links
        )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two rounds of four hosts."""
    root = tmp_path_factory.mktemp("rounds") / "c"
    with everywhere(Site) as port:
        seeds = root.with_name("seeds.txt")
        seeds.write_text("".join(f"http://{host}:{port}/\n" for host in HOSTS))
        words = ("--delay", "0", "--allow-net", "127.0.0.0/8", "--units", "1", "--rounds", "2")
        sets = ("--set", "cycle.buckets=4", "--set", "cycle.keep_versions=50")
        done = nacre("cycle", root, "-s", seeds, *words, *sets)
        assert done.code == 0, done.err
        yield root


@pytest.fixture
def root(crawled: Path, tmp_path: Path) -> Path:
    """A copy, which a test may damage."""
    return Path(shutil.copytree(crawled, tmp_path / "c"))


def rows(root: Path, columns: str = STATE) -> dict[str, dict[str, Any]]:
    query = f"select {columns}, leased from crawldb"
    return {row["key"]: row for row in json.loads(nacre("cycle", root, "sql", query, "--json").out)}


def files(root: Path, table: str = CRAWLDB) -> list[TableFile]:
    cycle = Cycle.open(root)
    return cycle.files(cycle.newest(), table)


def spoil(root: Path, *spoilt: TableFile) -> None:
    for file in spoilt:
        path = root / "cycle" / file.path
        path.unlink()
        path.write_bytes(b"spoilt")


def repaired(root: Path, *more: str) -> dict[str, Any]:
    done = nacre("cycle", root, "storage", "check", "--repair", "--json", *more)
    found: dict[str, Any] = json.loads(done.out)
    assert done.code == (7 if more else 0)
    assert nacre("cycle", root, "storage", "check").code == (7 if more else 0)
    return found


def test_what_an_update_wrote_is_made_again_of_its_facts(root: Path):
    before, number = rows(root), Cycle.open(root).newest().number
    updates = {
        version: Cycle.open(root).version(version)
        for version in Cycle.open(root).numbers()
        if Cycle.open(root).version(version).step == "update"
    }
    lost = [file for file in files(root) if file.seq == max(updates)]
    assert {file.kind for file in lost} == {"set", "add"}
    spoil(root, *lost)
    assert repaired(root, "--dry-run")["now"] == number
    found = repaired(root)
    assert (found["restored"], found["now"], found["left"]) == (0, number + 1, [])
    assert {one["bucket"] for one in found["buckets"]} == {file.bucket for file in lost}
    assert [one["again"] for one in found["buckets"]] == [[] for _ in found["buckets"]]
    assert rows(root) == before


def test_lost_seeds_are_named_by_the_versions_of_their_lists_and_come_back(root: Path):
    lines = root.with_name("more.txt")
    lines.write_text("http://more.example/dir/\nhttp://书.example/\n")
    assert nacre("cycle", root, "inject", lines).code == 0
    version = Cycle.open(root).newest().number
    before = files(root, SEEDS)
    lost = [file for file in before if file.seq == version]
    assert lost
    query = "select key, text, page, origin from seeds order by all"
    seeds = nacre("cycle", root, "sql", query, "--json").out
    spoil(root, *lost)
    told = nacre("cycle", root, "storage", "check", "--repair")
    assert told.code == 0, told.err
    remedy = f"`inject` the lists of version {version} again: until then the scope lacks their seed"
    assert told.out.count(remedy) == len({file.bucket for file in lost})
    assert "`rank`" not in told.out
    assert nacre("cycle", root, "inject", lines).code == 0
    assert nacre("cycle", root, "sql", query, "--json").out == seeds
    assert nacre("cycle", root, "storage", "check").code == 0


def test_lost_seeds_of_the_own_list_need_no_remedy(root: Path):
    before = files(root, SEEDS)
    spoil(root, *before)
    told = nacre("cycle", root, "storage", "check", "--repair")
    assert told.code == 0, told.err
    assert told.out.count("no list that was injected has lost seeds") == len(before)
    assert nacre("cycle", root, "generate").code == 0
    assert Cycle.open(root).newest().tables[SEEDS].rows == len(HOSTS)


def test_other_buckets_stay(root: Path):
    one = next(file for file in files(root) if file.kind == "set" and file.group == "state")
    others = [file for file in files(root) if file.bucket != one.bucket]
    spoil(root, one)
    found = repaired(root)
    assert [(made["table"], made["bucket"]) for made in found["buckets"]] == [(CRAWLDB, one.bucket)]
    assert [file for file in files(root) if file.bucket != one.bucket] == others


@pytest.mark.slow
def test_a_list_that_waits_keeps_its_leases(root: Path):
    done = nacre("cycle", root, "generate")
    assert done.code == 0, done.err
    before = rows(root)
    assert any(row["leased"] for row in before.values())
    number = Cycle.open(root).newest().number
    lost = [file for file in files(root) if file.seq == number]
    assert {(file.kind, file.group) for file in lost} == {("base", ""), ("set", "lease")}
    spoil(root, *lost)
    found = repaired(root)
    assert {one["since"] for one in found["buckets"]} == {number - 1}
    assert rows(root) == before


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.slow
def test_a_base_is_made_again_of_an_earlier_version_or_of_all_facts(root: Path, is_kept: bool):
    before = rows(root)
    done = nacre("cycle", root, "compact")
    assert done.code == 0, done.err
    if not is_kept:
        for number in Cycle.open(root).numbers()[:-1]:
            (root / "cycle" / version_name(number)).unlink()
    base = [file for file in files(root) if file.kind == "base"]
    spoil(root, *base)
    found = repaired(root)
    assert all(bool(one["since"]) is is_kept for one in found["buckets"])
    assert rows(root) == before
    assert bool(found["buckets"][0]["segments"]) is not is_kept


@pytest.mark.slow
def test_urls_that_nothing_has_are_fetched_again_and_named(root: Path):
    newest, before = Cycle.open(root).newest(), rows(root)
    lost = [file for file in files(root) if file.seq > 1]
    spoil(root, *lost)
    for state in newest.segments.values():
        for part in (part for of in state.parts.values() for part in of):
            (root / "cycle" / part / "visits.parquet").unlink()
    for warc in (root / "cycle/archive").glob("*.warc.gz"):
        warc.write_bytes(b"")
    done = nacre("cycle", root, "storage", "check", "--repair")
    assert done.code == 7, "facts and WARCs stay damaged"
    assert "URLs of it are fetched again:\n    http://127.0.0.7" in done.out
    assert "has the state of" not in done.out
    assert {key for key, row in before.items() if row["last_status"]} == set(rows(root))
    assert "db_unfetched" in {row["status"] for row in rows(root).values()}


def test_another_table_has_its_bucket_of_an_earlier_version(root: Path):
    before = rows(root)
    lost = files(root, "hosts")[0]
    spoil(root, lost)
    done = nacre("cycle", root, "storage", "check", "--repair")
    assert f"bucket {lost.bucket} of hosts is" in done.out
    assert "the next `generate` counts the URLs of its hosts again" in done.out
    assert rows(root) == before
    assert nacre("cycle", root, "storage", "check").code == 0
