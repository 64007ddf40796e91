"""A crawl whose chains are not the stock ones."""

import asyncio
import re
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from nacre.config.effective import Effective
from nacre.core.processor import Candidate, Result, Visit
from nacre.engine.chain.entry import PROCESSORS, ChainName, Entry, Kit
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.report.statistics import read_step_counts
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.surt import surt_authority
from tests.cli.site import site
from tests.crawl.jobs import Crawled

pytestmark = pytest.mark.crawl

PAGES = {
    "/": '<a href="a.html">a</a><a href="b.html">b</a><a href="no.html">n</a><img src="i.png">',
    "/a.html": '<a href="deep.html">d</a>',
    "/b.html": "<p>b</p>",
    "/deep.html": "<p>d</p>",
    "/no.html": "<p>no</p>",
    "/i.png": "PNG",
    "/robots.txt": "",
}


class Recorder:
    """Writes down what it meets; fails where it is told to."""

    def __init__(self, settings: Effective[Any], kit: Kit) -> None:
        self._settings = settings
        self._kit = kit

    def accepts(self, visit: Visit | Candidate) -> bool:
        return True

    def _note(self, url: str, overlay: int) -> Result:
        settings = self._settings[overlay]
        if settings.fails_at and url.endswith(settings.fails_at):
            raise RuntimeError("a bug")
        self._kit.line(f"{self._kit.label}.log", f"{url}\n".encode())
        return (
            Result.FINISH
            if settings.stops_at and url.endswith(settings.stops_at)
            else Result.PROCEED
        )


class FetchRecorder(Recorder):
    async def process(self, visit: Visit) -> Result:
        return self._note(visit.uri.url, visit.overlay)


class FinalRecorder(Recorder):
    def process(self, visit: Visit) -> Result:
        return self._note(visit.uri.url, visit.overlay)


class LinkRecorder(Recorder):
    def process(self, candidate: Candidate) -> Result:
        return self._note(candidate.link.url, candidate.overlay)


class Record(Entry):
    """Notes what it meets."""

    chains: ClassVar[frozenset[ChainName]] = frozenset(ChainName)
    processor: Literal["test-record"] = "test-record"
    fails_at: str = ""
    stops_at: str = ""

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Any:
        kinds = {
            ChainName.FETCH: FetchRecorder,
            ChainName.CANDIDATE: LinkRecorder,
            ChainName.DISPOSITION: FinalRecorder,
        }
        return kinds[kit.chain](settings, kit)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROCESSORS, "_parts", dict(PROCESSORS._parts))
    PROCESSORS.add(Record)


def crawled(root: Path, url: str, chains: dict[str, Any], **more: Any) -> Crawled:
    said = {
        "seeds": [url],
        "chains": chains,
        "politeness": {"delay": 0},
        "extract": {"infer_favicon": False},
        "network": {"allow": ["127.0.0.0/8"]},
        **more,
    }
    root.mkdir()
    job = Job(root, JobSettings.model_validate(said))
    return Crawled(root, str(asyncio.run(job.run())))


def noted(crawl: Crawled, name: str) -> list[str]:
    file = crawl.run / "logs" / f"{name}.log"
    lines = file.read_text().splitlines() if file.exists() else []
    return sorted(line.rpartition("/")[2] for line in lines)


def statuses(crawl: Crawled) -> dict[str, int]:
    return {url.rpartition("/")[2]: status for url, status in crawl.statuses.items()}


def stored(crawl: Crawled) -> list[str]:
    return sorted(url.rpartition("/")[2] for url in crawl.captures())


ALL = ["", "a.html", "b.html", "deep.html", "i.png", "no.html", "robots.txt"]


def record(name: str, **more: Any) -> dict[str, Any]:
    return {"processor": "test-record", "name": name, **more}


def test_processors_in_all_chains(tmp_path: Path):
    chains = {
        "candidate": {"insert": [
            record("links", before="scope", stops_at="no.html"), record("kept", after="prepare")]},
        "fetch": {"insert": [record("first", before="preselect"), record("last")]},
        "disposition": {"insert": [
            record("unstored", before="archive"), record("stored", after="archive"),
            record("followed", after="candidates"), record("end", after="disposition")]},
    }  # fmt: skip
    with site(PAGES) as url:
        crawl = crawled(tmp_path / "job", url, chains)
    there = [name for name in ALL if name != "no.html"]
    assert sorted(statuses(crawl)) == there
    assert noted(crawl, "links") == sorted({*there, "no.html"} - {"", "robots.txt"})
    assert noted(crawl, "kept") == sorted({*there} - {"", "robots.txt"})
    assert noted(crawl, "last") == there
    # The seed comes twice: the first time it waits for robots.txt.
    assert noted(crawl, "first") == ["", *there]
    for name in ("unstored", "stored", "followed", "end"):
        assert noted(crawl, name) == there
    with Store.open(str(Layout(tmp_path / "job").store), read_only=True) as store:
        counted = {(step.chain, step.name): step.handled for step in read_step_counts(store)}
    assert counted["Candidate", "links"] == 5
    assert counted["Candidate", "scope"] == counted["Candidate", "prepare"] == 4
    assert counted["Fetch", "last"] == counted["Disposition", "end"] == 6
    report = (crawl.run / "reports" / "processors-report.txt").read_text()
    assert "(links)" in report
    assert "Notes what it meets." in report


@pytest.mark.parametrize(
    ("chain", "place", "status"),
    [
        ("fetch", {"before": "preselect"}, -5),
        ("fetch", {}, -5),
        ("disposition", {"before": "archive"}, -5),
        ("disposition", {"after": "archive"}, -5),
        ("disposition", {"after": "disposition"}, 200),
    ],
)
def test_a_bug_costs_one_uri(tmp_path: Path, chain: str, place: dict[str, str], status: int):
    with site(PAGES) as url:
        bad = record("bad", fails_at="a.html", **place)
        crawl = crawled(tmp_path / "job", url, {chain: {"insert": [bad]}})
    found = statuses(crawl)
    assert found.pop("a.html") == status
    assert set(found.values()) == {200}
    errors = (crawl.run / "logs" / "runtime-errors.log").read_text()
    assert "RuntimeError: a bug" in errors
    assert crawl.ending == "FINISHED"


def test_a_bug_in_the_candidate_chain_costs_one_link(tmp_path: Path):
    with site(PAGES) as url:
        bad = record("bad", fails_at="a.html")
        crawl = crawled(tmp_path / "job", url, {"candidate": {"insert": [bad]}})
    assert sorted(statuses(crawl)) == [n for n in ALL if n not in ("a.html", "deep.html")]
    assert "a.html" in (crawl.run / "logs" / "runtime-errors.log").read_text()


def test_gates_leave_out(tmp_path: Path):
    def closed(regex: str) -> dict[str, str]:
        return {"rule": "matches-regex", "regex": regex, "decision": "REJECT"}

    chains = {
        "fetch": {"preselect": {"block_by_regex": ".*/b\\.html"}},
        "disposition": {
            "archive": {"gate": {"rule": "content-type-matches-regex", "regex": "image/.*",
                                 "decision": "REJECT"}},
            "candidates": {"gate": closed(".*/a\\.html")},
        },
    }  # fmt: skip
    with site(PAGES) as url:
        crawl = crawled(tmp_path / "job", url, chains)
    assert statuses(crawl) == {
        "": 200, "a.html": 200, "b.html": -5001, "i.png": 200, "no.html": 200, "robots.txt": 200,
    }  # fmt: skip
    assert stored(crawl) == ["", "a.html", "no.html", "robots.txt"]


def test_sheets_and_a_chain_without_storing(tmp_path: Path):
    with site(PAGES) as url:
        crawl = crawled(
            tmp_path / "job", url, {"disposition": {"remove": ["archive"]}},
            sheets={"blocked": {"chains.fetch.preselect.block_all": True}},
            sheet_associations=[
                {"rule": {"rule": "matches-regex", "regex": ".*/[ab].html"}, "sheets": ["blocked"]}
            ],
        )  # fmt: skip
    assert not crawl.warcs
    found = statuses(crawl)
    assert found["a.html"] == found["b.html"] == -5001
    assert found["no.html"] == 200


def test_nothing_fetches_it(tmp_path: Path):
    gate = {"rule": "matches-regex", "regex": ".*/b\\.html", "decision": "REJECT"}
    with site(PAGES) as url:
        crawl = crawled(tmp_path / "job", url, {"fetch": {"fetch-http": {"gate": gate}}})
    assert statuses(crawl)["b.html"] == -7
    assert crawl.ending == "FINISHED"


def test_what_belongs_to_another_crawler_is_written_down(tmp_path: Path):
    mapper = {"processor": "lexical-crawl-mapper", "map_file": "map.txt", "local_name": "me"}
    pages = PAGES | {"/": PAGES["/"] + '<a href="http://other.test/x">o</a>'}
    job = tmp_path / "job"
    job.mkdir()
    (job / "map.txt").write_text("127.0.0.1 me\nzz you\n")
    with site(pages) as url:
        settings = {
            "seeds": [url, "http://zoo.test/"],
            "scope": [{"rule": "accept"}],
            "chains": {"fetch": {"insert": [mapper]}, "candidate": {"insert": [mapper]}},
            "politeness": {"delay": 0},
            "network": {"allow": ["127.0.0.0/8"]},
        }
        # A loopback queue is named by its address and port.
        (job / "map.txt").write_text(f"{surt_authority(url)} me\nzz you\n")
        ending = asyncio.run(Job(job, JobSettings.model_validate(settings)).run())
    crawl = Crawled(job, str(ending))
    assert crawl.statuses["http://zoo.test/"] == -5002
    assert "to:you" in (crawl.run / "logs" / "crawl.log").read_text()
    (file,) = (crawl.run / "diversions").iterdir()
    assert re.fullmatch(r"\d{10}-me-to-you\.divert", file.name)
    assert sorted(file.read_text().splitlines()) == [
        f"F+ http://other.test/x L {url}",
        "F+ http://zoo.test/",
    ]
    assert crawl.statuses[url + "a.html"] == 200
    assert "http://other.test/x" not in crawl.statuses


def test_pages_that_differ_in_a_counter_are_duplicates(tmp_path: Path):
    pages = PAGES | {"/a.html": "<p>seen 12 times", "/b.html": "<p>seen 345 times"}
    strip = {"processor": "HTTPContentDigest", "strip_regex": "[0-9]+"}
    with site(pages) as url:
        crawl = crawled(tmp_path / "job", url, {"fetch": {"insert": [strip]}})
    captures = crawl.captures()
    revisits = [name for name in ("a.html", "b.html") if captures[url + name].revisit]
    assert len(revisits) == 1
    assert captures[url + "a.html"].body == captures[url + "b.html"].body


def test_uris_are_fetched_again(tmp_path: Path):
    again = {"processor": "reschedule", "delay": 1, "gate": {
        "rule": "matches-regex", "regex": ".*/b.html", "decision": "ACCEPT"}}  # fmt: skip
    gate = [{"rule": "reject"}, again.pop("gate")]
    with site(PAGES) as url:
        crawl = crawled(
            tmp_path / "job", url, {"disposition": {"insert": [{**again, "gate": gate}]}},
            limits={"documents": 8},
        )  # fmt: skip
    seen = [line.url.rpartition("/")[2] for line in crawl.log]
    assert seen.count("b.html") >= 2
    assert seen.count("a.html") == 1
