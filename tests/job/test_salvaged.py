"""Captures that a store does not know are registered as if they had just been made."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec import structs

from nacre.annotations import rendered_by
from nacre.core.crawluri import Hop, Outlink
from nacre.engine.outcomes import Outcome
from nacre.frontier.pending import pending
from nacre.history.dedup import History
from nacre.job.salvaged import SalvageMark, mark_salvaged, salvage_marks
from nacre.job.session import Session
from nacre.job.stopped_job import SalvageResult, salvage
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind
from nacre.store.recovery import Tail
from nacre.store.store import Store
from tests.engine.page_making import page_visit, request_visit
from tests.engine.visiting import BEGAN, SEED, ManualClock, OpenJob, visiting
from tests.job.opened import log_of, opened
from tests.store.memory import MemoryEngine

SAME, LINK, ERROR, DENIED, UNSEEN = (
    f"{SEED}{name}" for name in ("same", "link", "error", "denied", "unseen")
)
SETTINGS = JobSettings(seeds=(SEED,))


def test_marks_are_kept_until_they_are_registered():
    store = Store(MemoryEngine())
    assert salvage_marks(store) == []
    mark_salvaged(store, Tail(300, "/x/b.warc.gz", 5, 90), 80)
    mark_salvaged(store, Tail(2, "/x/a.warc.gz", 0, 40), 40)
    assert salvage_marks(store) == [SalvageMark(2, 0, 40), SalvageMark(300, 5, 80)]
    mark_salvaged(store, Tail(2, "/x/a.warc.gz", 7, 50), 50)
    assert salvage_marks(store) == [SalvageMark(2, 7, 50), SalvageMark(300, 5, 80)]


def in_session(root: Path, work: Callable[[Session], Awaitable[None]]) -> Session:
    """Do something in a session that fetches nothing, and close it."""

    async def run() -> Session:
        async with opened(root, seeds=(SEED,), clock=ManualClock()) as session:
            await work(session)
        return session

    return asyncio.run(run())


def salvaged(root: Path, act: Callable[[OpenJob], Awaitable[None] | None]) -> SalvageResult:
    """Put the store of the moment before some visits beside their archive, and salvage that.

    At that moment the page `SAME` waits in the frontier.
    """
    root.mkdir()
    (root / "crawl.yaml").write_text("{}\n")
    layout = Layout(root)

    async def visit(job: OpenJob) -> None:
        session = job.session
        waits = structs.replace(session.queues.identity.seed(SAME), is_seed=False)
        session.frontier.schedule([waits], job.clock.now())
        await session.storing.commit.flush()
        shutil.copytree(layout.store, root / "older")
        waited = act(job)
        if waited is not None:
            await waited

    visiting(root, visit)
    shutil.rmtree(layout.store)
    (root / "older").rename(layout.store)
    return salvage(layout, SETTINGS)


def outcome(session: Session, url: str) -> Outcome | None:
    return session.storing.outcomes.get(session.queues.identity.key(url))


def waiting(session: Session) -> set[str]:
    return {entry.uri.url for entry in pending(session.storing.store)}


def links(*urls: str) -> list[Outlink]:
    return [Outlink(url, Hop.LINK, "a/@href") for url in urls]


def crawl(job: OpenJob) -> None:
    """A page with a link, a page of the same content, an error page, and a URI not fetched."""
    job.end(job.reply(outlinks=links(LINK, SAME, "http://elsewhere.test/")))
    job.end(job.reply(url=SAME, capture={"began": BEGAN + 7}, uri={"path": "L", "via": SEED}))
    head = {"head": b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n"}
    facts = {"path": "L", "via": SEED}
    job.end(job.reply(404, ERROR, b"gone", capture=head, outlinks=links(UNSEEN), uri=facts))
    job.end(job.visit(DENIED, -9998, uri={"path": "L", "via": SEED}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "job"
    assert salvaged(root, crawl) == (1, 3, ())
    return root


def test_each_capture_has_its_outcome_and_its_place(root: Path):
    async def look(session: Session) -> None:
        ended = {url: outcome(session, url) for url in (SEED, SAME, ERROR, DENIED)}
        statuses = {url: one.status for url, one in ended.items() if one is not None}
        assert statuses == {SEED: 200, SAME: 200, ERROR: 404, DENIED: -9998}
        files = {url: bool(one.file) for url, one in ended.items() if one is not None}
        assert files == {SEED: True, SAME: True, ERROR: True, DENIED: False}
        offsets = [ended[url].offset for url in (SEED, SAME, ERROR)]  # type: ignore[union-attr]
        assert offsets == sorted(set(offsets))
        assert outcome(session, LINK) is None

    session = in_session(root, look)
    assert "3 salvaged captures were registered" in log_of(session)


def test_links_of_pages_are_followed_but_not_those_of_error_pages(root: Path):
    async def look(session: Session) -> None:
        assert waiting(session) == {LINK}

    in_session(root, look)


def test_what_is_known_of_the_content_is_known_again(root: Path):
    async def look(session: Session) -> None:
        history = History(session.storing.store)
        first, second = history.get(SEED), history.get(SAME)
        assert first is not None
        assert second is not None
        assert (first.date, first.visits, first.original) == (BEGAN, 1, "")
        assert (second.digest, second.original) == (first.digest, SEED)
        assert (second.date, second.record_id) == (BEGAN, first.record_id)

    in_session(root, look)


def test_they_are_counted_and_stand_in_the_log_once(root: Path):
    async def look(session: Session) -> None:
        totals = session.frontier.totals
        # The store had one before: its seed, which was deleted.
        assert (totals.succeeded, totals.disregarded) == (3, 1 + 1)

    lines = log_of(in_session(root, look), "crawl.log").splitlines()
    logged = [line.split()[3] for line in lines]
    assert {url: logged.count(url) for url in (SEED, SAME, ERROR, DENIED)} == dict.fromkeys(
        (SEED, SAME, ERROR, DENIED), 1
    )


def test_a_registration_that_is_repeated_changes_nothing(root: Path):
    assert salvage(Layout(root), SETTINGS) == (0, 0, ())
    before: list[tuple[int, int]] = []

    async def repeat(session: Session) -> None:
        store, totals = session.storing.store, session.frontier.totals
        before.append((totals.succeeded, totals.disregarded))
        ((number, row),) = [one for one in file_rows(store) if one[1].kind is FileKind.WARC]
        path = root / row.final
        end = path.stat().st_size
        mark_salvaged(store, Tail(number, str(path), 0, end), end)
        assert await session.repair() == ""
        assert salvage_marks(store) == []
        assert (totals.succeeded, totals.disregarded) == before[0]
        assert waiting(session) == {LINK}

    in_session(root, repeat)


def test_prerequisites_are_fetched_again(tmp_path: Path):
    def act(job: OpenJob) -> None:
        robots = job.reply(url=f"{SEED}robots.txt", uri={"path": "P", "via": SEED})
        job.end(robots)

    root = tmp_path / "job"
    assert salvaged(root, act).captures == 1

    async def look(session: Session) -> None:
        assert outcome(session, f"{SEED}robots.txt") is None
        assert History(session.storing.store).get(f"{SEED}robots.txt") is not None
        assert waiting(session) == {SAME}

    in_session(root, look)


def test_pages_that_a_browser_ran_are_registered_with_their_requests(tmp_path: Path):
    script, api = f"{SEED}a.js", f"{SEED}api"

    async def act(job: OpenJob) -> None:
        requests = [
            request_visit(job, script, b"f()" * 9000),
            request_visit(job, api, b"[1]", resource="fetch", method="POST"),
        ]
        visit = page_visit(job, SEED, requests)
        visit.annotate(rendered_by("mount"))
        await job.session.engine.visits.complete(visit)
        assert visit.page is not None
        job.session.storing.pages.close(visit.page)

    root = tmp_path / "job"
    salvaged(root, act)

    async def look(session: Session) -> None:
        history = History(session.storing.store)
        page, part = history.get(SEED), history.get(script)
        assert page is not None
        assert part is not None
        assert (page.rendered, part.rendered) == (True, False)
        assert history.get(api) is None
        totals = session.reporting.statistics.totals
        assert (totals.documents, totals.page_requests, totals.rendered_pages) == (1, 1, 1)

    in_session(root, look)
