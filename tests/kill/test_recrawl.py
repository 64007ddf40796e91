"""An incremental run is killed again and again: each visit teaches exactly once."""

import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre.archive.check import Checker
from nacre.archive.delta import TARGET, page_url
from nacre.archive.reader import WarcReader
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.machine.layout import Layout
from nacre.packing.expand_warcs import expand
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.runs.runs import plan_run
from nacre.store.store import Store
from tests.crawl import again
from tests.kill.test_kill import Crawler, finish, undisturbed
from tests.kill.test_kill import Site as Served
from tools import debs
from tools.nginx import Server, free_port, serving

KILLS = 5
THROTTLE = """
    open_file_cache off;
    set $rate 30k;
    if (-f {fast}) {{ set $rate 0; }}
    limit_rate $rate;
    limit_rate_after 2k;
"""


def edit(site: again.Site) -> None:
    for name in site.pages("[A-F]*_README.html"):
        site.say_more(name, f"There is more to be said about {name}, and here it is.")
    site.add("appendix.html", linked_from="index.html")
    site.remove("postmap.1.html")
    for path in site.root.glob("*.html"):
        os.utime(path, (time.time() + 5, time.time() + 5))  # other validators, same bytes


def plan(job: Path, keep: str = "strict", days: float = 7) -> None:
    with Store.open(str(Layout(job).store)) as store:
        later = time.time() + days * again.DAY
        plan_run(store, Layout(job), later, mode="incremental", keep=keep)


def known(job: Path) -> tuple[dict[str, PageRow], list[FetchRow]]:
    with Store.open(str(job / "state/store"), read_only=True) as store:
        rows = {row.url: row for row in PageStore(store).scan()}
        return rows, [row for row in fetch_rows(store) if row.run == 2]


def kill_often(job: Path, served: Served, luck: random.Random, kills: int = KILLS) -> None:
    """Kill it at random moments, some of them while it still reads the archive."""
    for number in range(kills):
        crawler = Crawler(job, served)
        while crawler.process.poll() is None and not crawler.durable:
            crawler.news.wait(0.05)
            crawler.news.clear()
        time.sleep(luck.random())
        finished = crawler.finished
        crawler.kill()
        assert not finished, f"finished after {number} kills: throttle the site more"
        assert crawler.durable
        sys.stdout.write(f"kill {number}: {crawler.told[-1]}\n")


@pytest.mark.kill
@pytest.mark.timeout(400)
def test_each_visit_of_a_killed_run_is_learned_once(tmp_path: Path):
    site = again.Site(debs.ensure("postfix-doc") / "usr/share/doc/postfix/html", tmp_path / "site")
    port, fast = free_port(("127.0.0.1",), 8280), tmp_path / "fast"
    server = Server("127.0.0.1", port, site.root, directives=THROTTLE.format(fast=fast))
    served = Served(f"http://127.0.0.1:{port}/index.html", fast)
    job, other = tmp_path / "job", tmp_path / "calm"
    with serving([server], tmp_path / "nginx"):
        fast.touch()
        undisturbed(job, served)
        edit(site)
        plan(job)
        shutil.copytree(job, other, symlinks=True)
        calm, _ = undisturbed(other, served)
        fast.unlink()
        kill_often(job, served, random.Random(5))
        fast.touch()
        killed = finish(job, served)
    assert killed.damage == []
    assert killed.statuses == calm.statuses
    rows, visits = known(job)
    undisturbed_rows, undisturbed_visits = known(other)
    once = Counter(visit.url for visit in visits if visit.wanted != "pair")
    assert set(once.values()) == {1}
    assert once == Counter(v.url for v in undisturbed_visits if v.wanted != "pair")
    captured = again.kept(max((job / "runs").iterdir()))
    assert set(captured.dates) - set(once) <= {f"http://127.0.0.1:{port}/robots.txt"}
    assert {url: facts(row) for url, row in rows.items()} == {
        url: facts(row) for url, row in undisturbed_rows.items()
    }


def facts(row: PageRow) -> tuple[object, ...]:
    return (row.visits, row.changes, row.noise, row.errors, row.digest, row.life, row.kind)


class Differences(NamedTuple):
    """What a job stored as differences, and what comes of it.

    Attributes:
        counts: Records by the URL of the page.
        replies: Bodies in all response records, those made of differences too, by file name.
        damage: What the archive check found.
    """

    counts: Counter[str]
    replies: set[tuple[str, bytes]]
    damage: list[str]


def differences(job: Path) -> Differences:
    """Check, count and expand them."""
    warcs = sorted(job.glob("runs/*/archive/*.warc.gz"))
    checker, counts = Checker(), Counter[str]()
    for path in warcs:
        checker.file(path)
    damage = [str(finding) for finding in checker.finish()]
    made = list(expand(warcs, job / "expanded"))
    assert [defect for one in made for defect in one.defects] == []
    replies = set()
    for path in [*warcs, *(one.path for one in made)]:
        with path.open("rb") as file:
            for entry in WarcReader(file):
                url = entry.get("WARC-Target-URI") or ""
                counts[page_url(url)] += url.startswith(TARGET)
                if entry.get("WARC-Type") == "response":
                    body = b"".join(iter(entry.read, b"")).partition(b"\r\n\r\n")[2]
                    replies.add((url.rpartition("/")[2], body))
    return Differences(+counts, replies, damage)


@pytest.mark.kill
@pytest.mark.timeout(400)
def test_a_killed_run_leaves_whole_differences_once_each(tmp_path: Path):
    site = again.Site(debs.ensure("postfix-doc") / "usr/share/doc/postfix/html", tmp_path / "site")
    port, fast = free_port(("127.0.0.1",), 8380), tmp_path / "fast"
    server = Server("127.0.0.1", port, site.root, directives=THROTTLE.format(fast=fast))
    served = Served(f"http://127.0.0.1:{port}/index.html", fast)
    job, other = tmp_path / "job", tmp_path / "calm"
    with serving([server], tmp_path / "nginx"):
        fast.touch()
        undisturbed(job, served)
        edit(site)
        plan(job, keep="delta")
        shutil.copytree(job, other, symlinks=True)
        undisturbed(other, served)
        fast.unlink()
        kill_often(job, served, random.Random(7), kills=3)
        fast.touch()
        finish(job, served)
    killed, calm = differences(job), differences(other)
    assert killed.damage == []
    assert killed.counts == calm.counts
    assert set(killed.counts.values()) == {1}
    assert len(killed.counts) > 10
    assert killed.replies == calm.replies
    now = {(path.name, path.read_bytes()) for path in site.root.glob("*.html")}
    stored = {name for name, _ in killed.replies}
    assert {one for one in now if one[0] in stored} <= killed.replies


@pytest.mark.kill
@pytest.mark.timeout(400)
def test_no_killed_run_refers_to_links_that_are_not_there(tmp_path: Path):
    site = again.Site(debs.ensure("postfix-doc") / "usr/share/doc/postfix/html", tmp_path / "site")
    port, fast = free_port(("127.0.0.1",), 8480), tmp_path / "fast"
    server = Server("127.0.0.1", port, site.root, directives=THROTTLE.format(fast=fast))
    served = Served(f"http://127.0.0.1:{port}/index.html", fast)
    job = tmp_path / "job"
    with serving([server], tmp_path / "nginx"):
        fast.touch()
        undisturbed(job, served)
        for path in site.root.glob("*.html"):
            text = path.read_text("latin-1")
            path.write_text(f"{text}<p>Each page says more now, and says it here.</p>", "latin-1")
        plan(job, keep="delta")
        fast.unlink()
        kill_often(job, served, random.Random(3), kills=2)  # links are written in full
        fast.touch()
        finish(job, served)
        edit(site)
        plan(job, keep="lean", days=14)
        fast.unlink()
        kill_often(job, served, random.Random(11), kills=3)  # and referred to
        fast.touch()
        finish(job, served)
    checker = Checker()
    for path in sorted(job.glob("runs/*/archive/*.warc.gz")):
        checker.file(path)
    assert [str(finding) for finding in checker.finish()] == []
    assert checker.summary.links > 10
