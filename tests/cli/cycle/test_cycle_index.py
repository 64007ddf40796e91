"""The index of words of batch rounds: pages that are new, changed, gone or refuse it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nacre.ops.search import FACETS
from nacre.rounds.steps import index_tasks
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import Storage
from nacre.rounds.tables.tables import TaskWork
from nacre.rounds.tables.versions import Cycle, CycleChanges, CycleVersion
from tests.cli.site import HeadedPage, ServedPage, nacre, site

pytestmark = pytest.mark.crawl

GBK = (
    "<meta charset=gbk><title>国家图书馆</title><nav>首页 地图</nav>"
    "<article><p>国家图书馆是国家总书库，"
    "履行国内外图书文献收藏和保护的职责。</p></article>"
)


NOBODY = "cycle.index.writers=[{writer: dummy, when: 1 = 2}]"


def told(root: Path, *words: str) -> dict[str, Any]:
    done = nacre("cycle", root, "index", "--json", *words)
    assert done.code == 0, done.err
    numbers: dict[str, Any] = json.loads(done.out)
    return numbers


def searched(root: Path, *words: str) -> list[str]:
    done = nacre("search", root, *words, "--json")
    assert done.code in {0, 10}, done.err
    return sorted(hit["url"].rpartition("/")[2] for hit in json.loads(done.out)["hits"])


def test_pages_come_change_and_go(tmp_path):
    root = tmp_path / "书"
    links = "".join(f"<a href=/{one}>x</a>" for one in ("g", "c", "v", "m", "n"))
    pages: dict[str, ServedPage] = {
        "/": f"<p>the quick brown fox</p>{links}",
        "/g": GBK.encode("gbk"),
        "/c": "<p>an old text that changes</p>",
        "/v": "<p>this one vanishes</p>",
        "/m": "<p>this one moves</p>",
        "/n": "<meta name=robots content=noindex><p>nobody may find this</p>",
    }
    with site(pages) as home:
        said = ["--rounds", "2", "--delay", "0", "--set", "recrawl.schedule.nutch.interval=1s"]
        done = nacre("cycle", root, "-s", home, *said)
        assert done.code == 0, done.err
        dry = told(root, "--dry-run")
        assert dry["added"] == 6
        assert not (root / "index").exists()
        result = told(root)
        assert (result["added"], result["skipped"]) == (5, {"noindex": 1})
        assert searched(root, "国家图书馆") == ["g"]
        assert searched(root, '"brown fox"') == [""]
        assert searched(root, "vanishes") == ["v"]
        assert searched(root, "nobody") == []
        assert told(root)["version"] is None, "nothing is new"
        pages["/c"] = "<p>a text that is another now</p>"
        del pages["/v"]
        pages["/m"] = (301, "/g")
        later = ["--rounds", "1", "--at", "2030-01-01T00:00:00Z"]
        assert nacre("cycle", root, *later).code == 0
    result = told(root)
    assert (result["added"], result["updated"]) == (0, 1)
    assert result["deleted"] == {"gone": 1, "redirect": 1}
    assert searched(root, "another") == ["c"]
    assert searched(root, "old") == searched(root, "vanishes") == searched(root, "moves") == []
    rebuilt = told(root, "--rebuild")
    assert rebuilt["added"] + rebuilt["updated"] == 3
    assert searched(root, "another") == ["c"]


def test_rounds_end_with_the_index_and_say_how_to_search(tmp_path):
    root = tmp_path / "job"
    pages = {
        "/": "<p>the quick brown fox <a href=/b>Where books live</a> <a href=/b>see</a>",
        "/b": "<p>国家图书馆 <a href=/>回家</a>",
    }
    with site(pages) as home:
        said = ["--delay", "0", "--no-index", "--set", "cycle.links.ignore_internal=none"]
        done = nacre("cycle", root, "-s", home, *said)
        assert done.code == 0, done.err
        assert f"Search: nacre cycle {root} index && nacre search {root} WORDS" in done.out
        done = nacre("cycle", root, "--index")
        assert done.code == 0, done.err
        assert "2 pages added" in done.err + done.out
        assert f"Search: nacre search {root} WORDS" in done.out
    assert searched(root, "图书馆") == ["b"]
    checked = json.loads(nacre("cycle", root, "index", "--check", f"{home}b", "--json").out)
    assert checked["document"]["anchor"] == ["Where books live"]
    assert checked["writers"] == {"local": True}
    for url in (f"{home}x", "http://other.example/"):
        assert "unknown" in nacre("cycle", root, "index", "--check", url, "--json").out
    assert searched(root, "anchor:books") == ["b"]
    assert searched(root, "anchor:回家") == [""]
    assert searched(root, "anchor:fox") == []
    assert told(root)["version"] is None


def test_ranks_that_are_applied_reach_the_search_with_a_rebuilt_index(tmp_path):
    root = tmp_path / "job"
    pages = {
        "/": "<a href=/a>x</a><a href=/b>x</a><a href=/c>x</a><a href=/d>x</a>",
        "/a": "<p>the quick brown fox</p>",  # as many words, but no duplicate of the other
        "/b": "<p>the quick green fox</p>",
        "/c": "<a href=/b>x</a>",
        "/d": "<a href=/b>x</a>",
    }
    with site(pages) as home:
        kept = ["--set", "cycle.links.ignore_internal=none", "--set", "cycle.scoring=[rank]"]
        done = nacre("cycle", root, "-s", home, "--delay", "0", "--rounds", "2", *kept)
        assert done.code == 0, done.err

    def ordered() -> list[tuple[str, float]]:
        hits = json.loads(nacre("search", root, "fox", "--json").out)["hits"]
        return [(hit["url"].rpartition("/")[2], hit["score"]) for hit in hits]

    told(root)
    assert sorted(name for name, _ in ordered()) == ["a", "b"]
    assert len({score for _, score in ordered()}) == 1
    done = nacre("cycle", root, "rank", "--level", "page", "--apply")
    assert done.code == 0, done.err
    told(root)
    assert len({score for _, score in ordered()}) == 1, "nothing was fetched since"
    told(root, "--rebuild")
    (first, high), (second, low) = ordered()
    assert (first, second) == ("b", "a")
    assert high > low


def test_a_page_whose_head_begins_to_say_noindex_goes(tmp_path):
    root = tmp_path / "job"
    pages: dict[str, ServedPage] = {"/": "<a href=/b>b</a>", "/b": "<p>the quick brown fox"}
    later = ("--rounds", "1", "--at")
    with site(pages) as home:
        assert nacre("cycle", root, "-s", home, "--rounds", "2", "--delay", "0").code == 0
        told(root)
        assert searched(root, "fox") == ["b"]
        pages["/b"] = HeadedPage("<p>the quick brown fox", {"X-Robots-Tag": "noindex"})
        assert nacre("cycle", root, *later, "2030-01-01T00:00:00Z").code == 0
        assert told(root)["deleted"] == {"noindex": 1}
        assert searched(root, "fox") == []
        assert told(root)["version"] is None
        assert nacre("cycle", root, *later, "2031-01-01T00:00:00Z").code == 0
        assert told(root)["version"] is None
        assert told(root, "--rebuild")["skipped"] == {"noindex": 1}
        assert told(root, "--rebuild", "--set", "cycle.index.noindex=false")["skipped"] == {}
        assert searched(root, "fox") == ["b"]


@pytest.mark.parametrize("at_first", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_page_whose_head_says_noindex_no_more_comes_back(tmp_path, at_first):
    root = tmp_path / "job"
    text = "<p>the quick brown fox"
    refused = HeadedPage(text, {"X-Robots-Tag": "noindex"})
    pages: dict[str, ServedPage] = {
        "/": "<a href=/b>b</a><a href=/m>m</a>",
        "/b": refused if at_first else text,
        "/m": "<meta name=robots content=noindex><p>another fox",
    }
    later = ("--rounds", "1", "--at")
    with site(pages) as home:
        assert nacre("cycle", root, "-s", home, "--rounds", "2", "--delay", "0").code == 0
        assert told(root)["skipped"] == {"noindex": 1 + at_first}
        pages["/b"] = refused
        assert nacre("cycle", root, *later, "2030-01-01T00:00:00Z").code == 0
        assert told(root)["deleted"] == ({} if at_first else {"noindex": 1})
        assert searched(root, "fox") == []
        pages["/b"] = text
        assert nacre("cycle", root, *later, "2031-01-01T00:00:00Z").code == 0
        result = told(root)
        assert (result["added"], result["skipped"]) == (1, {})
        assert searched(root, "fox") == ["b"]
        assert told(root)["version"] is None
        assert told(root, "--rebuild")["skipped"] == {"noindex": 1}
        assert searched(root, "fox") == ["b"]
        pages["/b"] = refused
        assert nacre("cycle", root, *later, "2032-01-01T00:00:00Z").code == 0
        assert told(root)["deleted"] == {"noindex": 1}
        assert searched(root, "fox") == []


@pytest.mark.slow
def test_visits_are_read_where_there_is_something_to_give(tmp_path, monkeypatch):
    root = tmp_path / "job"
    looked: list[int] = []
    read: list[int] = []
    locate = index_tasks._locate

    def counted(storage: Storage, names: Sequence[str], work: TaskWork) -> list[str]:
        read.append(len(names))
        return local_facts(storage, names, work)

    def located(work: TaskWork, spec: index_tasks.ChangesSpec) -> None:
        looked.append(int(work.kernel.value("select count(*) from changes")))
        locate(work, spec)

    monkeypatch.setattr(index_tasks, "local_facts", counted)
    monkeypatch.setattr(index_tasks, "_locate", located)
    pages = {"/": "<a href=/b>b</a>", "/b": "<p>the quick brown fox<a href=/missing>c</a>"}
    with site(pages) as home:
        said = ("--delay", "0", "--set", "cycle.buckets=1", "--set", NOBODY)
        done = nacre("cycle", root, "-s", home, "--rounds", "2", *said)
        assert done.code == 0, done.err
        assert told(root)["skipped"] == {"when": 2}
        assert read
        read.clear()
        assert nacre("cycle", root, "--rounds", "1", *said[:2]).code == 0
    result = told(root)
    assert (result["version"], result["looked"] > 0) == (None, True), "one is not found"
    assert read == []
    looked.clear()
    done = nacre("cycle", root, "index", "--check", f"{home}b", "--json")
    assert json.loads(done.out)["document"]["id"] == f"{home}b"
    assert looked == [1], "the other pages of its bucket are left alone"


class KilledError(Exception):
    """Instead of the end of the process."""


def test_what_was_written_but_not_committed_is_done_again_with_the_same_result(
    tmp_path, monkeypatch
):
    root = tmp_path / "job"
    with site({"/": "<p>the quick brown fox", "/robots.txt": ""}) as home:
        assert nacre("cycle", root, "-s", home, "--delay", "0").code == 0
    commit = Cycle.commit

    def killed(cycle: Cycle, parent: CycleVersion, changes: CycleChanges) -> CycleVersion:
        if changes.step == "index":
            raise KilledError
        return commit(cycle, parent, changes)

    with monkeypatch.context() as patch:
        patch.setattr(Cycle, "commit", killed)
        with pytest.raises(KilledError):
            nacre("cycle", root, "index")
    assert searched(root, "fox") == [""], "the writer has it"
    assert told(root)["added"] == 1
    assert searched(root, "fox") == [""]
    assert told(root)["version"] is None


def test_a_directory_without_an_index_says_how_to_make_it(tmp_path):
    (tmp_path / "cycle").mkdir()
    done = nacre("search", tmp_path, "fox")
    assert done.code == 2
    assert "nacre cycle" in done.err
    refused = nacre("search", tmp_path, "fox", "--facet", "colour").err
    assert f"no such facet; one of: {', '.join(FACETS)}" in refused


@pytest.mark.slow
def test_a_second_index_looks_at_the_rows_that_were_set_since(tmp_path):
    root = tmp_path / "job"
    links = "".join(f"<a href=/{number}>x</a>" for number in range(80))
    pages: dict[str, ServedPage] = {"/": links, "/often": "<p>one"}
    pages |= {f"/{number}": f"<p>page {number} of eighty</p>" for number in range(80)}
    said = ["--delay", "0", "--set", "recrawl.schedule.nutch.interval=300d"]
    said += ["--set", "cycle.buckets=1"]
    with site(pages) as home:
        seeds = f"{home}\n{home}often\tnutch.fetchInterval.fixed=1\n"
        (tmp_path / "seeds.txt").write_text(seeds)
        done = nacre("cycle", root, "--seeds", tmp_path / "seeds.txt", "--rounds", "2", *said)
        assert done.code == 0, done.err
        assert nacre("cycle", root, "compact").code == 0
        first = told(root)
        assert first["added"] == 82
        assert first["looked"] >= 82
        assert told(root)["looked"] == 0
        pages |= {"/often": "<p>another<a href=/new>x</a>", "/new": "<p>a new one</p>"}
        done = nacre("cycle", root, "--rounds", "2", "--delay", "0")
        assert done.code == 0, done.err
    second = told(root)
    assert (second["added"], second["updated"]) == (1, 1)
    assert 2 <= second["looked"] < 10
    assert told(root, "--rebuild")["looked"] >= 83
    assert len(searched(root, "eighty", "--limit", "100")) == 80
