"""a capture holds the reply to its own request (docs/threat-model.md).

On the code before, an unasked late reply on a kept connection became the capture of the next URL;
the true one was lost, with its links.
"""

import asyncio
import time
from pathlib import Path

import pytest
import uvloop

from nacre.archive.check import Checker
from nacre.archive.findings import Severity
from nacre.archive.reader import WarcReader
from nacre.engine.readback import reread
from nacre.engine.unasked import owed_rows
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.runs.runs import plan_run
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.crawl.late_server import LateServers, late_servers

pytestmark = pytest.mark.crawl


def settings(servers: LateServers, **more: object) -> JobSettings:
    plan = {
        "seeds": [f"http://{host}:{servers.port}/" for host in servers.hosts],
        "scope": [rule.model_dump() for rule in rules_for(ScopeKind.HOST)],
        "politeness": {"delay": 0, "in_flight": 4},
        "engine": {"parallel": 24},
        "frontier": {"max_retries": 3, "retry_delay": 0.01},
        "traps": {"learn": False},
    }
    return JobSettings.model_validate(plan | more)


def newest(root: Path) -> dict[str, bytes]:
    """The body of the newest capture of each URL, from the WARCs alone."""
    originals: dict[str, bytes] = {}
    found: dict[str, tuple[int, bytes]] = {}
    for warc in sorted(root.glob("runs/*/archive/*.warc.gz")):
        for kept, capture in reread(warc, lambda _: None, lambda _: b""):
            body = capture.payload(1 << 20)
            if kept.revisit is None:
                originals[kept.record_id] = body
            else:
                body = originals[kept.revisit.original.record_id]
            if kept.date >= found.get(kept.url, (0, b""))[0]:
                found[kept.url] = (kept.date, body)
    return {url: body for url, (_, body) in found.items()}


def notes(root: Path) -> list[tuple[str, str]]:
    """URL and record id of what was noted as suspect."""
    found = []
    for warc in sorted(root.glob("runs/*/archive/*.warc.gz")):
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                block = b"".join(iter(entry.read, b""))
                if entry.get("WARC-Type") == "metadata" and block.startswith(b"suspect:"):
                    assert b"suspect:unaskedReply" in block
                    fields = dict(entry.fields)
                    found.append((fields["WARC-Target-URI"], fields["WARC-Refers-To"]))
    return found


def judge(root: Path, servers: LateServers) -> None:
    captured = newest(root)
    expected = servers.expected()
    wrong = {url for url, body in expected.items() if captured.get(url) != body}
    assert not wrong, f"{len(wrong)} of {len(expected)}: {sorted(wrong)[:3]}"
    checker = Checker()
    for warc in sorted(root.glob("runs/*/archive/*.warc.gz")):
        checker.file(warc)
    assert not [f for f in checker.finish() if f.severity is Severity.ERROR]


def hosts(count: int) -> list[str]:
    return [f"127.0.{20 + n // 200}.{1 + n % 200}" for n in range(count)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("count", "pages", "share", "everywhere"),
    [
        (20, 25, 0.1, False),
        (5, 60, 0.1, True),
        pytest.param(100, 100, 0.02, False, marks=pytest.mark.slow),
        pytest.param(4, 2500, 0.05, True, marks=pytest.mark.slow),
    ],
)
def test_every_url_has_its_own_body(count, pages, share, everywhere, tmp_path):
    async def main() -> LateServers:
        async with late_servers(hosts(count), pages, share=share, everywhere=everywhere) as servers:
            await Job(tmp_path / "job", settings(servers)).run()
            return servers

    servers = uvloop.run(main())
    assert servers.unasked >= count / 2
    judge(tmp_path / "job", servers)
    assert len(notes(tmp_path / "job")) >= count / 2


def owed(root: Path) -> set[str]:
    """URLs that are to be fetched again, whatever happens."""
    with Store.open(str(Layout(root).store)) as store:
        return {uri.url for uri in owed_rows(store)}


async def cut_off(root: Path, servers: LateServers) -> None:
    """Crawl until something is owed and durable, and end at once."""
    job = Job(root, settings(servers))

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.002)
            session = job.session
            if session is None or not list(owed_rows(session.storing.store)):
                continue
            await session.storing.commit.flush()
            session.abandon()
            return

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        await job.run()


def lost(root: Path, servers: LateServers, urls: set[str]) -> set[str]:
    """URLs that are still to be fetched again, or whose newest capture has the body of another."""
    captured, expected = newest(root), servers.expected()
    wrong = {url for url in urls if captured[url] != expected.get(url, b"")}  # robots.txt: empty
    return wrong | owed(root)


def test_an_end_in_between_loses_no_refetch(tmp_path):
    root = tmp_path / "job"

    async def main() -> tuple[LateServers, set[str]]:
        async with late_servers(hosts(8), 40, share=0.3) as servers:
            await cut_off(root, servers)
            wanted = owed(root)
            servers.share = 0.0
            await Job(root, settings(servers)).run()
            return servers, wanted

    servers, wanted = uvloop.run(main())
    assert wanted
    assert lost(root, servers, wanted) == set()


@pytest.mark.parametrize("mode", ["incremental", "full"])
def test_a_recrawl_in_between_loses_no_refetch(mode, tmp_path):
    root = tmp_path / "job"

    async def main() -> tuple[LateServers, set[str]]:
        async with late_servers(hosts(8), 40, share=0.3) as servers:
            await cut_off(root, servers)
            wanted = owed(root)
            limits = {"documents": 1}
            await Job(root, settings(servers, limits=limits)).run()
            servers.share = 0.0
            with Store.open(str(Layout(root).store)) as store:
                plan_run(store, Layout(root), time.time(), mode=mode)
            await Job(root, settings(servers)).run()
            return servers, wanted

    servers, wanted = uvloop.run(main())
    assert wanted
    assert lost(root, servers, wanted) == set()
