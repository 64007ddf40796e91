import pytest
from msgspec import structs

from nacre.core.crawluri import Directive
from nacre.core.history import HistoryRecord, Noted
from nacre.report.statistics import DNS, Statistics, Stored, Tally, hosts_visited, rows, totals
from nacre.store.store import Store
from tests.report.visits import HEAD, NOW, make_capture, make_visit
from tests.store.memory import MemoryEngine

SIZE = len(HEAD) + 5


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


def names(store: Store, kind: str) -> dict[str, Tally]:
    return dict(rows(store, kind))


def test_a_success_counts_by_host_mime_and_status(store: Store):
    statistics = Statistics(store)
    statistics.count(make_visit("http://a.test:8080/1", mime="text/html"), Stored.NOVEL, NOW)
    statistics.count(make_visit("https://a.test/2", 404, mime="text/html"), Stored.NOVEL, NOW + 1)
    statistics.seal()
    expected = Tally(2, 2 * SIZE, novel_urls=2, novel_bytes=2 * SIZE, last_success=NOW + 1)
    assert names(store, "host") == {"a.test": expected}
    assert names(store, "mime")["text/html"].urls == 2
    assert {name: tally.urls for name, tally in rows(store, "status")} == {"200": 1, "404": 1}
    overall = totals(store)
    assert (overall.urls, overall.size, overall.novel_urls) == (2, 2 * SIZE, 2)
    assert (overall.documents, overall.html, overall.errors) == (1, 1, 1)
    assert hosts_visited(store) == 1


def test_duplicates_and_what_was_not_modified(store: Store):
    statistics = Statistics(store)
    statistics.count(make_visit(), Stored.DUPLICATE, NOW)
    statistics.count(make_visit(status=304), Stored.NOT_MODIFIED, NOW, saved=7777)
    found = statistics.totals
    assert (found.urls, found.size, found.novel_urls) == (2, 2 * SIZE, 0)
    assert (found.duplicate_urls, found.duplicate_bytes) == (1, SIZE)
    assert (found.not_modified_urls, found.not_modified_bytes) == (1, 7777)


def test_kinds_of_replies_add_up(store: Store):
    statistics = Statistics(store)
    for status in (200, 206, 301, 302, 304, 404, 503, 999):
        statistics.count(make_visit("http://a.test/", status, mime="text/html"), Stored.NOVEL, NOW)
    statistics.count(make_visit("http://a.test/i", mime="image/png"), Stored.NOVEL, NOW)
    for status in (200, 404):
        robots = make_visit("http://a.test/robots.txt", status, uri={"path": "P"})
        statistics.count(robots, Stored.NOVEL, NOW)
    statistics.seal()
    found = totals(store)
    assert (found.documents, found.html, found.redirects) == (3, 2, 2)
    assert (found.errors, found.unchanged, found.prerequisites) == (3, 1, 2)
    assert statistics.documents == found.urls - 2


def test_lookups_are_no_documents(store: Store):
    statistics = Statistics(store)
    lookup = make_visit("dns:a.test", 1, make_capture(head=b""), mime="text/dns")
    statistics.count(lookup, Stored.NOVEL, NOW)
    statistics.count(make_visit("dns:b.test", -1), Stored.NOTHING, NOW)
    statistics.seal()
    assert statistics.dns == Statistics(store).dns == 1
    assert names(store, "host").keys() == {DNS}
    assert names(store, "host")[DNS].urls == names(store, "host")[DNS].failures == 1
    assert (totals(store).urls, hosts_visited(store)) == (0, 0)
    assert names(store, "mime")["text/dns"].size == 5


@pytest.mark.parametrize(
    ("status", "counts"),
    [
        (-2, Tally(failures=1, failed_pages=1)),
        (-61, Tally(failures=1, failed_pages=1)),
        (-5000, Tally(disregarded=1)),
        (-9998, Tally(disregarded=1, robots=1)),
        (-12345, Tally(failures=1, failed_pages=1)),
    ],
)
def test_what_is_no_success(store: Store, status: int, counts: Tally):
    statistics = Statistics(store)
    statistics.count(make_visit("http://a.test/", status), Stored.NOTHING, NOW)
    statistics.seal()
    assert names(store, "host") == {"a.test": counts}
    assert structs.astuple(totals(store))[: len(structs.astuple(counts))] == structs.astuple(counts)
    assert names(store, "mime") == {}
    assert names(store, "status")[str(status)].urls == 1
    assert hosts_visited(store) == 0


def test_source_tags(store: Store):
    statistics = Statistics(store)
    for url in ("http://a.test/1", "http://a.test/2", "http://b.test/"):
        statistics.count(make_visit(url, uri={"source": "s\xe9\ud800"}), Stored.NOVEL, NOW)
    statistics.count(make_visit("http://a.test/3"), Stored.NOVEL, NOW)
    statistics.seal()
    found = {name: tally.urls for name, tally in rows(store, "source")}
    assert found == {"s\xe9\\ud800\0a.test": 2, "s\xe9\\ud800\0b.test": 1}


def test_counts_go_on_after_a_restart_from_the_last_commit():
    engine = MemoryEngine()
    store = Store(engine)
    first = Statistics(store)
    first.count(make_visit(), Stored.NOVEL, NOW)
    first.seal()
    store.commit()
    first.count(make_visit(), Stored.NOVEL, NOW)  # lost: the process dies before the seal
    second = Statistics(Store(engine))
    assert second.totals.urls == 1
    second.count(make_visit(), Stored.NOVEL, NOW)
    second.count(make_visit("http://b.test/"), Stored.NOVEL, NOW)
    second.seal()
    reopened = second._store
    assert (totals(reopened).urls, hosts_visited(reopened)) == (3, 2)
    assert names(reopened, "host")["example.test"].urls == 2


def test_a_seal_writes_only_what_changed(store: Store):
    statistics = Statistics(store)
    statistics.count(make_visit("http://a.test/"), Stored.NOVEL, NOW)
    statistics.seal()
    store.commit()
    statistics.seal()
    assert store.group.empty
    statistics.count(make_visit("http://b.test/"), Stored.NOVEL, NOW)
    statistics.seal()
    assert b"h:a.test" not in store.group.rows["stats"]
    assert b"h:b.test" in store.group.rows["stats"]


def test_memory_is_bounded_and_counts_stay_right(store: Store):
    statistics = Statistics(store, in_memory=10)
    for _ in range(2):
        for number in range(100):
            visit = make_visit(f"http://h{number}.test/", mime=f"x/{number}")
            statistics.count(visit, Stored.NOVEL, NOW)
            if number % 7 == 0:
                statistics.seal()
        statistics.seal()
        assert len(statistics._hosts._resting) == len(statistics._mimes._resting) == 10
    assert {tally.urls for tally in names(store, "host").values()} == {2}
    assert len(names(store, "mime")) == 100
    assert statistics.hosts == 100


def test_what_is_used_stays_in_memory(store: Store):
    statistics = Statistics(store, in_memory=2)
    for number in range(5):
        for name in ("often", f"once{number}"):
            statistics.count(make_visit(f"http://{name}.test/"), Stored.NOVEL, NOW)
        statistics.seal()
    assert set(statistics._hosts._resting) == {"often.test", "once4.test"}


def test_a_media_type_of_any_length_is_one_short_name(store: Store):
    statistics = Statistics(store)
    statistics.count(make_visit(mime="x" * 50_000), Stored.NOVEL, NOW)
    statistics.count(make_visit(mime="x" * 60_000), Stored.NOVEL, NOW)
    statistics.count(make_visit(mime=""), Stored.NOVEL, NOW)
    statistics.seal()
    assert {name: tally.urls for name, tally in rows(store, "mime")} == {
        "x" * 127: 2,
        "unknown": 1,
    }


def test_errors_of_our_own_and_of_the_parser_are_counted(store: Store):
    statistics = Statistics(store)
    statistics.count(make_visit("http://a.test/", -5), Stored.NOTHING, NOW)
    for annotation in ("parserFailed", "parserTimeout", "dup:1"):
        statistics.count(
            make_visit("http://a.test/1", annotations=["3t", annotation]), Stored.NOVEL, NOW
        )
    statistics.seal()
    assert (statistics.totals.faults, statistics.totals.unparsed) == (1, 2)
    assert totals(store) == statistics.totals


def test_replies_that_a_preference_withholds_are_counted_and_kept(store: Store):
    statistics = Statistics(store)
    for number, words in enumerate((["3t"], [], ["3t", "rightsWithheld:train-ai=n"])):
        visit = make_visit(f"http://a.test/{number}", annotations=words)
        statistics.count(visit, Stored.NOTHING, NOW)
    statistics.seal()
    assert totals(store) == statistics.totals
    resumed = Statistics(store)
    again = make_visit("http://a.test/x", annotations=["rightsWithheld:noarchive"])
    resumed.count(again, Stored.NOTHING, NOW)
    assert (statistics.totals.withheld, resumed.totals.withheld) == (1, 2)


def test_documents_of_traps_are_counted_apart(store: Store):
    statistics = Statistics(store)
    for number, directive in enumerate(Directive):
        visit = make_visit(f"http://a.test/{number}", uri={"directive": directive})
        statistics.count(visit, Stored.NOVEL, NOW)
    missing = make_visit("http://a.test/404", 404, uri={"directive": Directive.ENDLESS})
    statistics.count(missing, Stored.NOVEL, NOW)
    statistics.seal()
    assert (statistics.totals.documents, statistics.totals.trapped) == (len(Directive), 2)
    assert totals(store) == statistics.totals


def test_https_that_was_only_a_guess_is_no_failure(store: Store):
    statistics = Statistics(store)
    visit = make_visit("https://a.test/", -2, annotations=["httpTried"])
    statistics.count(visit, Stored.NOTHING, NOW)
    assert (statistics.totals.failures, statistics.totals.failed_pages) == (0, 0)
    assert statistics.totals.disregarded == 1


def test_failures_of_prerequisites_and_deletions_are_told_apart(store: Store):
    statistics = Statistics(store)
    for url, path, status in (
        ("dns:a.test", "P", -1),
        ("http://a.test/", "", -6),
        ("http://a.test/1", "L", -6000),
        ("http://a.test/2", "L", -9998),
    ):
        visit = make_visit(url, status, uri={"path": path})
        statistics.count(visit, Stored.NOTHING, NOW)
    found = statistics.totals
    assert (found.failures, found.failed_pages) == (2, 1)
    assert (found.disregarded, found.deleted) == (2, 1)


@pytest.mark.parametrize(
    ("status", "known", "digest", "kind"),
    [
        (200, None, "sha1:A", "new_pages"),
        (200, HistoryRecord("u", 404), "sha1:A", "new_pages"),
        (404, None, "sha1:A", ""),
        (200, HistoryRecord("u", 200, 1, 1, "sha1:A"), "sha1:A", "same_pages"),
        (304, HistoryRecord("u", 200, 1, 1, "sha1:A"), "", "same_pages"),
        (200, HistoryRecord("u", 200, 1, 1, "sha1:A"), "sha1:B", "changed_pages"),
        (
            200,
            HistoryRecord("u", 200, 1, 1, "sha1:A", noted=Noted("r", "sha1:B")),
            "sha1:B",
            "same_pages",
        ),
        (410, HistoryRecord("u", 200, 1, 1, "sha1:A"), "sha1:C", "gone_pages"),
        (404, HistoryRecord("u", 404, 1, 1, "sha1:A"), "sha1:C", ""),
        (503, HistoryRecord("u", 200, 1, 1, "sha1:A"), "sha1:C", ""),
        (302, HistoryRecord("u", 200, 1, 1, "sha1:A"), "sha1:C", ""),
    ],
)
def test_what_became_of_a_page_since_the_last_visit(
    store: Store, status: int, known: HistoryRecord | None, digest: str, kind: str
):
    statistics = Statistics(store)
    visit = make_visit(status=status)
    visit.recall(known)
    assert visit.capture is not None
    visit.capture.payload_digest = digest
    statistics.count(visit, Stored.NOVEL, NOW)
    statistics.seal()
    found = totals(store)
    kinds = ("new_pages", "changed_pages", "same_pages", "gone_pages")
    assert {name for name in kinds if getattr(found, name)} == ({kind} if kind else set())
