"""A small site is visited week by week; the reports must tell what is known to have happened."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import utime
from pathlib import Path
from typing import Any

import pytest

from nacre.inspect.analysis.budget import budget_plans
from nacre.inspect.analysis.decisions import AllDecisions, PageDecision, decisions
from nacre.inspect.analysis.deletions import deletion_register
from nacre.inspect.analysis.difference import page_difference
from nacre.inspect.analysis.frequency import change_frequency
from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
from nacre.inspect.analysis.savings import savings
from nacre.inspect.analysis.templates import template_list
from nacre.inspect.analysis.timeline import page_timeline
from nacre.planner.recall import RecallEstimate
from nacre.store.store import Store
from tests.cli.site import nacre
from tests.crawl.again import Later, again, first, settings
from tests.report.pages import harmless, look
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.47"
PAGES = 60
BUSY = range(0, 60, 10)
WEEKS = (7.0, 14.0, 21.0, 28.0)
PLAN: dict[str, Any] = {"recrawl": {"recall": 0.6, "lots": 0.3, "least": 0.02}}


@dataclass
class World:
    """The site: what was done to it in each week."""

    root: Path
    changed: dict[float, set[str]] = field(default_factory=dict)

    def write(self, number: int, version: float, views: int) -> None:
        # Each page has versions of its own: the same text on several pages is an event of the site.
        text = (
            "<html><head><meta charset=utf-8><title>公告</title></head><body>"
            f"<h1>第{number}号公告</h1>"
            f"<p>第{number}号公告的内容是第{number * 100 + version:.0f}版,请各单位遵照执行。</p>"
            f"<p>浏览 {views} 次</p></body></html>"
        )
        path = self.root / f"p{number}.html"
        path.write_text(text, "utf-8")
        # Its ETag is made of its time in seconds and its length.
        utime(path, (version + 1e9, version + 1e9 + views))

    def begin(self) -> None:
        self.root.mkdir()
        for number in range(PAGES):
            self.write(number, 0, 1)
        links = "".join(f'<li><a href="p{n}.html">公告 {n}</a></li>' for n in range(PAGES))
        (self.root / "index.html").write_text(f"<html><body><ul>{links}</ul></body></html>")

    def pass_week(self, day: float) -> None:
        for number in BUSY:
            self.write(number, day, int(day))
        self.write(3, 0, int(day))
        if day == WEEKS[0]:
            (self.root / "p5.html").unlink()
        self.changed[day] = {f"p{number}.html" for number in BUSY}


@dataclass
class Watched:
    job: Path
    origin: str
    world: World
    known: StoredRecrawlData

    def url(self, name: str) -> str:
        return f"{self.origin}/{name}"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("reports")
    world, job = World(folder / "site"), folder / "job"
    world.begin()
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, world.root, directives="open_file_cache off; charset utf-8;")
    origin = f"http://{ADDRESS}:{port}"
    seed = f"{origin}/index.html"
    with serving([server], folder / "nginx"):
        assert first(job, seed) == "FINISHED"
        for day in WEEKS:
            world.pass_week(day)
            assert again(job, seed, day, **PLAN) == "FINISHED"
    (job / "crawl.yaml").write_text(f"seeds: ['{seed}']\n")
    with Store.open(str(job / "state" / "store"), read_only=True) as store:
        known = StoredRecrawlData(job, store, settings(seed, **PLAN), Later(29).now())
        yield Watched(job, origin, world, known)


def test_the_runs_are_told_apart(watched: Watched):
    runs = watched.known.runs()
    assert [run.mode for run in runs] == ["full", *["incremental"] * len(WEEKS)]
    assert [run.parent for run in runs[1:]] == [run.name for run in runs[:-1]]


def test_savings_are_those_of_the_log(watched: Watched):
    found = savings(watched.known)
    assert len(found.runs) == len(WEEKS)
    last = found.runs[-1]
    assert last.cost.requests < last.full.requests == pytest.approx(PAGES, abs=2)
    assert found.first.requests == pytest.approx(PAGES + 1, abs=2)
    assert last.full.seconds > last.cost.seconds


def test_the_recall_by_lots_holds_the_truth(watched: Watched):
    found = savings(watched.known)
    assert found.audited
    for run, day in zip(found.runs[2:], WEEKS[2:], strict=True):
        truth = run.changed / len(watched.world.changed[day])
        assert run.lots + run.left > 0
        # Nearly sure, so that the test fails for a reason only.
        audit = RecallEstimate(run.lots, run.lots_changed, run.left, run.changed + run.deleted)
        low, _, high = audit.recall(0.9999)
        assert low <= truth <= high


def test_a_busy_page_changes_each_week(watched: Watched):
    found = page_timeline(watched.known, watched.url("p10.html"))
    changed = [look for look in found.visits if look.kind in {"minor", "major"}]
    assert changed
    assert all(0 < look.since < look.time for look in changed)


def test_a_counter_is_noise(watched: Watched):
    found = page_difference(watched.known, watched.url("p10.html"))
    assert found.kind in {"minor", "major"}
    assert {piece.noise for piece in found.pieces} == {"", "masked"}
    text = next(piece for piece in found.pieces if not piece.noise)
    assert text.now is not None
    assert "请各单位遵照执行" in text.now


def test_the_deleted_page_has_its_evidence(watched: Watched):
    found = deletion_register(watched.known).deletions
    (gone,) = found
    assert gone.url == watched.url("p5.html")
    assert gone.life == "gone"
    proof = gone.evidence[0]
    assert proof.status == 404
    file, _, offset = proof.record.rpartition(":")
    assert (watched.job / file).is_file()
    assert int(offset) > 0
    assert proof.digest.startswith("sha1:")


def test_busy_pages_are_told_from_calm_ones(watched: Watched):
    busy = decisions(watched.known, watched.url("p20.html"))
    calm = decisions(watched.known, watched.url("p21.html"))
    assert isinstance(busy, PageDecision)
    assert isinstance(calm, PageDecision)
    assert busy.every < calm.every
    assert busy.decisions


def test_the_whole_job(watched: Watched):
    frequency = change_frequency(watched.known)
    assert len(frequency.days) == len(WEEKS)
    # The first incremental run looks at a sample of each class: here, at all.
    assert frequency.days[0].changed == len(BUSY)
    assert (frequency.days[0].deleted, frequency.days[0].new) == (1, 0)
    assert budget_plans(watched.known).pages >= PAGES - 1
    (template,) = [
        one
        for one in template_list(watched.known).templates
        if one.template.endswith("p{int}.html")
    ]
    assert template.urls == PAGES
    everything = decisions(watched.known)
    assert isinstance(everything, AllDecisions)
    assert {"start", "sample", "lot"} <= set(everything.reasons)


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("change-frequency", ""),
        ("timeline", "p10.html"),
        ("diff", "p10.html"),
        ("savings", ""),
        ("budget", ""),
        ("deletions", ""),
        ("hints", ""),
        ("templates", ""),
        ("coverage", ""),
        ("decisions", ""),
        ("decisions", "p10.html"),
    ],
)
def test_the_command_in_its_three_forms(watched: Watched, tmp_path: Path, name: str, page: str):
    url = [watched.url(page)] if page else []
    text = nacre("report", watched.job, name, *url)
    assert text.code == 0, text.err
    assert text.out.splitlines()[1].startswith("===")
    file = tmp_path / "report.html"
    both = nacre("report", watched.job, name, *url, "--json", "--html", file)
    assert json.loads(both.out)
    harmless(file.read_text("utf-8"))
    assert text.out.splitlines()[0] in look(file.read_text("utf-8")).text


def test_mistakes_are_explained(watched: Watched, tmp_path: Path):
    missing = nacre("report", watched.job, "timeline")
    assert (missing.code, "timeline is of one page" in missing.err) == (2, True)
    unknown = nacre("report", watched.job, "nothing")
    assert "there is no report 'nothing'" in unknown.err
    assert "change-frequency" in unknown.err
    plain = nacre("report", watched.job, "hosts", "http://a.test/")
    assert (plain.code, "takes no URL" in plain.err) == (2, True)
    nowhere = nacre("report", watched.job, "savings", "--html", tmp_path / "none" / "a.html")
    assert (nowhere.code, "cannot be written" in nowhere.err) == (2, True)
    listed = nacre("report", watched.job, "list").out
    assert re.search(r"^  crawl-summary +the whole run in numbers$", listed, re.MULTILINE)
    assert "what incremental runs saved" in listed
