"""Pages that were run in a browser: one unit in archive, history, counts and logs."""

import gzip
import json
from pathlib import Path

from nacre.archive.check import Checker
from nacre.core.processor import Keep, Visit
from nacre.core.rendered import RenderedPage, RenderedRoute
from nacre.engine.steps.page_unit import page_text
from tests.engine.page_making import DOM, JPEG, PNG, page_id, page_visit, request_visit
from tests.engine.visiting import SEED, ClosedJob, OpenJob, visiting

LIBRARY = b"library();" * 4000
SCRIPT, STYLE = "http://cdn.test/library.js", "http://a.test/style.css"


async def finish(job: OpenJob, visit: Visit) -> None:
    """What the engine does with a page behind the fetch chain; the WARCs are closed."""
    assert visit.page is not None
    await job.session.engine.visits.complete(visit)
    job.session.storing.pages.close(visit.page)
    job.session.storing.rotate()


def named(job: ClosedJob, url: str) -> list[tuple[dict[str, str], bytes]]:
    """All records with a target."""
    return [(fields, block) for fields, block in job.records
            if fields.get("WARC-Target-URI") == url]  # fmt: skip


def check(root: Path) -> None:
    checker = Checker()
    for path in sorted(root.rglob("*.warc.gz")):
        checker.file(path)
    assert checker.finish() == []


def test_a_page_and_its_requests_are_stored_with_their_page(tmp_path: Path):
    async def act(job: OpenJob):
        requests = [
            request_visit(job, SCRIPT, LIBRARY),
            request_visit(job, STYLE, b"p{}", resource="style"),
        ]
        await finish(job, page_visit(job, SEED, requests))

    job = visiting(tmp_path, act)
    for url, kind in ((SCRIPT, "script"), (STYLE, "stylesheet"), (SEED, "document")):
        records = named(job, url)
        assert [fields["WARC-Type"] for fields, _ in records] == ["response", "request", "metadata"]
        for fields, _ in records:
            assert fields["WARC-Page-ID"] == page_id()
            assert fields["WARC-Resource-Type"] == kind
    assert named(job, SCRIPT)[0][1].endswith(LIBRARY)
    # The requests precede their page.
    order = [
        fields["WARC-Target-URI"] for fields, _ in job.records if fields["WARC-Type"] == "response"
    ]
    assert order == [SCRIPT, STYLE, SEED]
    check(tmp_path)


def test_the_own_records_of_a_page_have_a_series_of_their_own(tmp_path: Path):
    async def act(job: OpenJob):
        visit = page_visit(job, SEED, [request_visit(job, SCRIPT, LIBRARY)])
        await finish(job, visit)
        assert "-pages-" not in visit.warc_file

    job = visiting(tmp_path, act, {"browser": {"store_dom": True}})
    (pages,) = tmp_path.rglob("*-pages-*.warc.gz")
    assert pages.with_name(pages.name.replace(".warc.gz", ".cdxj")).read_bytes().count(b"urn:") > 5
    expected = {
        "view": ("image/png", PNG),
        "thumbnail": ("image/jpeg", JPEG),
        "text": ("text/plain; charset=utf-8", "Ready 已就绪".encode()),
        "dom": ("text/html; charset=utf-8", DOM),
    }
    for kind, (media, data) in expected.items():
        ((fields, block),) = named(job, f"urn:{kind}:{SEED}")
        assert (fields["WARC-Type"], fields["Content-Type"], block) == ("resource", media, data)
        assert fields["WARC-Page-ID"] == page_id()
        assert fields["WARC-Resource-Type"] == kind
        assert fields["WARC-Date"] == named(job, SEED)[0][0]["WARC-Date"]
    ((_, block),) = named(job, f"urn:pageinfo:{SEED}")
    info = json.loads(block)
    assert info["pageid"] == page_id()
    assert (info["url"], info["title"], info["loadState"]) == (SEED, "Shop", 4)
    assert info["urls"] == {
        SEED: {"status": 200, "mime": "text/html", "type": "Document"},
        SCRIPT: {"status": 200, "mime": "text/javascript", "type": "Script"},
    }
    check(tmp_path)


def test_the_series_of_pages_says_which_browser_opened_them(tmp_path: Path):
    async def act(job: OpenJob):
        await finish(job, page_visit(job, SEED, []))

    visiting(tmp_path, act)
    for path in tmp_path.rglob("*.warc.gz"):
        info = gzip.decompress(path.read_bytes()).partition(b"\r\n\r\n\r\n")[0].decode()
        of_pages = "-pages-" in path.name
        assert ("browser: Chromium 156\r\n" in info) is of_pages
        assert ("browser-flags: --remote-debugging-pipe " in info) is of_pages


def test_two_pages_with_one_bundle_make_one_original(tmp_path: Path):
    async def act(job: OpenJob):
        # Both are open at once: neither knows of the other while it runs.
        first, second = (
            page_visit(job, url, [request_visit(job, SCRIPT, LIBRARY, page=url)], number)
            for number, url in ((1, SEED), (2, "http://b.test/"))
        )
        for visit in (first, second):
            assert visit.page is not None
            await job.session.storing.pages.pack(visit.page.id, visit.page.visits[0])
        await finish(job, second)
        await finish(job, first)
        assert job.session.reporting.statistics.totals.duplicate_urls == 2  # library and document

    job = visiting(tmp_path, act)
    full, revisit = named(job, SCRIPT)[0][0], named(job, SCRIPT)[3][0]
    assert (full["WARC-Type"], revisit["WARC-Type"]) == ("response", "revisit")
    assert (full["WARC-Page-ID"], revisit["WARC-Page-ID"]) == (page_id(2), page_id(1))
    assert revisit["WARC-Refers-To"] == full["WARC-Record-ID"]
    check(tmp_path)


def test_each_request_has_a_line_and_is_counted_apart(tmp_path: Path):
    async def act(job: OpenJob):
        requests = [
            request_visit(job, SCRIPT, LIBRARY),
            request_visit(job, "http://a.test/api", b"[]", resource="fetch", method="POST"),
            request_visit(job, "http://gone.test/x.png", status=-2, resource="image"),
        ]
        await finish(job, page_visit(job, SEED, requests))
        statistics = job.session.reporting.statistics
        totals = statistics.totals
        assert (totals.rendered_pages, totals.page_requests) == (1, 2)
        assert (totals.documents, statistics.documents, totals.prerequisites) == (1, 1, 0)
        assert totals.failures == 1
        assert totals.failed_pages == 0
        history = job.known(SCRIPT)
        assert history is not None
        assert (history.rendered, history.status) == (False, 200)
        page = job.known(SEED)
        assert page is not None
        assert page.rendered
        # A POST is not what its URL has.
        assert job.known("http://a.test/api") is None
        # What a page fetched is not fetched again.
        seen = job.session.frontier.seen
        key = job.session.queues.identity.key
        assert seen.contains([key(SCRIPT), key("http://a.test/api")]) == [True, False]
        outcome = job.session.storing.outcomes.get(key(SCRIPT))
        assert outcome is not None
        assert (outcome.status, outcome.via, outcome.path) == (200, SEED, "E")

    job = visiting(tmp_path, act)
    lines = [line.split() for line in job.log().splitlines()]
    assert [(line[1], line[3], "subresource" in line[11]) for line in lines] == [
        ("200", SCRIPT, True),
        ("200", "http://a.test/api", True),
        ("-2", "http://gone.test/x.png", True),
        ("200", SEED, False),
    ]


def test_a_page_that_is_tried_again_leaves_nothing(tmp_path: Path):
    async def act(job: OpenJob):
        request = request_visit(job, SCRIPT, LIBRARY)
        visit = page_visit(job, SEED, [request], capture={"truncated": "disconnect"})
        await job.session.storing.pages.pack(page_id(), request)
        await finish(job, visit)
        assert job.known(SCRIPT) is None

    job = visiting(tmp_path, act)
    assert (job.types, job.log()) == ([], "")


def test_the_text_of_hash_routes_follows_that_of_the_page() -> None:
    routes = [RenderedRoute(f"{SEED}#/{name}", f"<p>{name}".encode()) for name in ("one", "二")]
    page = RenderedPage("settled", dom=b"<p>home", routes=routes)
    assert page_text(page) == f"home\n\n{SEED}#/one\none\n\n{SEED}#/二\n二"


def test_of_a_noted_page_only_the_information_is_kept(tmp_path: Path):
    async def act(job: OpenJob):
        visit = page_visit(job, SEED, [])
        await finish(job, visit)
        again = page_visit(job, SEED, [], 2, body=b"other words")
        again.note_only("there class=noise")
        again.may_leave_out(Keep(notable=True))
        await finish(job, again)

    job = visiting(tmp_path, act)
    kinds = [fields["WARC-Target-URI"].split(":")[1] for fields, _ in job.records
             if fields["WARC-Target-URI"].startswith("urn:")]  # fmt: skip
    assert kinds == ["pageinfo", "view", "thumbnail", "text", "pageinfo"]
