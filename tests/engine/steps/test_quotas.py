import asyncio
from pathlib import Path

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.engine.settings import RuntimeSettings
from nacre.engine.steps.quotas import EnforceQuotasStep, LimitRuntimeStep, QuotaBook
from nacre.frontier.quota import Level, QuotaSettings, Usage
from nacre.report.statistics import Statistics, Stored
from nacre.store.store import Store
from tests.engine.supervising import NotingSupervisor


def uri(url: str, **fields: object) -> CrawlURI:
    return CrawlURI(url, b"k" * 16, "com,example,", **fields)  # type: ignore[arg-type]  # any field


def visit(url: str, status: int = 200, size: int = 10, **fields: object) -> Visit:
    capture = Capture(url=url, request=b"", head=b"", body=BytesBody(b"x" * size), status=status)
    return Visit(uri(url, **fields), status=status, capture=capture)


def settings(**values: object) -> QuotaSettings:
    return QuotaSettings.model_validate(values)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "state"))


def step(book: QuotaBook, asked: Visit) -> Result:
    enforcer = EnforceQuotasStep(book)
    return asyncio.run(enforcer.process(asked)) if enforcer.accepts(asked) else Result.PROCEED


@pytest.mark.parametrize(
    ("level", "same", "other"),
    [
        ("server", "http://a.example.com:81/2", "http://a.example.com/2"),
        ("host", "https://a.example.com/2", "http://b.example.com/2"),
        ("group", "http://elsewhere.org/", ""),
        ("domain", "http://b.example.com/2", "http://example.org/"),
    ],
)
def test_each_level_counts_its_own(store: Store, level: str, same: str, other: str) -> None:
    book = QuotaBook(store, fixed(settings(**{level: {"responses": 1}})))
    first = visit("http://a.example.com:81/1")
    assert step(book, first) is Result.PROCEED
    book.count(first, Stored.NOVEL)
    over = visit(same)
    assert step(book, over) is Result.FINISH
    assert (over.status, over.retire) == (-5003, f"Q:{level}MaxFetchResponses")
    assert over.annotations == [over.retire]
    if other:
        assert step(book, visit(other)) is Result.PROCEED


def test_block_in_place_of_retire(store: Store) -> None:
    book = QuotaBook(store, fixed(settings(host={"bytes": 0}, force_retire=False)))
    over = visit("http://a/")
    assert step(book, over) is Result.FINISH
    assert (over.status, over.retire) == (-5003, "")
    assert over.error == "the quota quotas.host.bytes of 0 is reached"


def test_sources_are_blocked_and_need_a_tag(store: Store) -> None:
    book = QuotaBook(store, fixed(settings(source={"responses": 1})))
    book.count(visit("http://a/", source="seed"), Stored.NOVEL)
    over = visit("http://b/", source="seed")
    assert step(book, over) is Result.FINISH
    assert over.retire == ""
    assert step(book, visit("http://a/", source="other")) is Result.PROCEED
    assert step(book, visit("http://a/")) is Result.PROCEED


def test_prerequisites_neither_count_nor_wait(store: Store) -> None:
    book = QuotaBook(store, fixed(settings(host={"responses": 0})))
    robots = visit("http://a/robots.txt", path="LP")
    assert step(book, robots) is Result.PROCEED
    book.count(robots, Stored.NOVEL)
    assert book.usage(Level.HOST, robots.uri) == Usage()


def test_nothing_is_counted_without_a_quota(store: Store) -> None:
    book = QuotaBook(store, fixed(QuotaSettings()))
    book.count(visit("http://a/"), Stored.NOVEL)
    book.seal()
    assert book.usage(Level.HOST, uri("http://a/")) is None
    assert not EnforceQuotasStep(book).accepts(visit("http://a/"))


def test_counts_survive_a_restart_exactly(tmp_path: Path) -> None:
    quotas = fixed(settings(domain={"responses": 5}))
    path = str(tmp_path / "state")
    with Store.open(path) as store:
        book = QuotaBook(store, quotas)
        for number in range(3):
            book.count(visit(f"http://a.example.com/{number}"), Stored.NOVEL)
        book.seal()
        store.commit()
        book.count(visit("http://a.example.com/lost"), Stored.NOVEL)
    with Store.open(path) as store:
        usage = QuotaBook(store, quotas).usage(Level.DOMAIN, uri("http://b.example.com/"))
        assert usage == Usage(3, 30, 3, 30, 3, 30)


def test_a_quota_that_comes_later_knows_what_was_fetched(store: Store) -> None:
    statistics = Statistics(store)
    for name in ("a.example.com", "b.example.com", "c.org"):
        statistics.count(visit(f"http://{name}/"), Stored.NOVEL, 1.0)
    statistics.seal()
    quotas: Effective[QuotaSettings] = fixed(QuotaSettings())
    told: list[int] = []
    book = QuotaBook(store, quotas, changed=lambda: told.append(1))
    quotas.replace([settings(domain={"responses": 2})])
    assert told == [1]
    assert step(book, visit("http://www.example.com/")) is Result.FINISH
    assert step(book, visit("http://c.org/2")) is Result.PROCEED
    quotas.replace([settings(domain={"responses": 2})])
    assert told == [1]


def test_a_level_that_only_a_sheet_has_a_quota_of_is_counted(store: Store) -> None:
    book = QuotaBook(
        store, fixed(QuotaSettings()), ["quotas.host.responses", "quotas.force_retire"]
    )
    book.count(visit("http://a/"), Stored.NOVEL)
    assert book.usage(Level.HOST, uri("http://a/")) == Usage(1, 10, 1, 10, 1, 10)


def test_what_is_in_process_counts_for_quotas_in_urls(store: Store) -> None:
    book = QuotaBook(store, fixed(settings(domain={"responses": 2, "bytes": 10**6})))
    visits = [visit(f"http://{name}.example.com/") for name in "abcd"]
    assert [step(book, each) for each in visits[:2]] == [Result.PROCEED] * 2
    assert step(book, visits[2]) is Result.FINISH
    assert (visits[2].status, visits[2].annotations) == (-50, [])
    book.release(visits[0])
    assert step(book, visits[3]) is Result.PROCEED
    book.release(visits[1])
    book.count(visits[1], Stored.NOVEL)
    book.release(visits[3])
    book.count(visits[3], Stored.NOVEL)
    book.release(visits[3])
    again = visit("http://e.example.com/")
    assert step(book, again) is Result.FINISH
    assert again.status == -5003
    assert book._busy == {}


HERITRIX = [
    ("http://a.example.com/", "", 200, {"server", "host", "group", "domain", "source"}),
    ("http://a.example.com/404", "", 404, {"server", "host", "group", "domain", "source"}),
    ("http://a.example.com/robots.txt", "P", 200, {"server", "host", "group", "domain", "source"}),
    ("dns:a.example.com", "P", 1, {"server", "group", "domain", "source"}),
    ("https://a.example.com/", "", 503, {"host", "group", "domain", "source"}),
    ("http://a.example.com/", "", -2, set()),
]


@pytest.mark.parametrize(("url", "path", "status", "levels"), HERITRIX)
def test_heritrix_counts_each_reply(
    store: Store, url: str, path: str, status: int, levels: set[str]
) -> None:
    limits = {level.value: {"successes": 1} for level in Level}
    book = QuotaBook(store, fixed(settings(count="heritrix", **limits)))
    reply = visit(url, status, path=path, source="s")
    assert step(book, reply) is Result.PROCEED
    book.release(reply)
    book.count(reply, Stored.NOVEL)
    page = uri("http://a.example.com/page", source="s")
    counted = {level.value for level in Level if book.usage(level, page) != Usage()}
    assert counted == levels
    assert step(book, visit(page.url, source="s")) is (Result.FINISH if levels else Result.PROCEED)


def test_a_robots_txt_in_process_may_use_up_a_quota_of_heritrix(store: Store) -> None:
    book = QuotaBook(store, fixed(settings(count="heritrix", host={"successes": 1})))
    robots, page = visit("http://a/robots.txt", path="P"), visit("http://a/")
    assert step(book, robots) is Result.PROCEED
    assert step(book, page) is Result.FINISH
    assert page.status == -50
    book.release(robots)
    book.count(robots, Stored.NOVEL)
    again = visit("http://a/robots.txt", path="P")
    assert step(book, again) is Result.PROCEED
    assert step(book, page) is Result.FINISH
    assert page.status == -5003


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://a/", "https://a:443/", True),
        ("https://[::1]/", "https://[::1]:443/", True),
        ("https://a/", "http://a/", False),
        ("https://a:8443/", "https://a/", False),
    ],
)
def test_a_server_of_heritrix(store: Store, first: str, second: str, same: bool) -> None:
    book = QuotaBook(store, fixed(settings(count="heritrix", server={"successes": 1})))
    book.count(visit(first), Stored.NOVEL)
    assert (step(book, visit(second)) is Result.FINISH) is same


def visit_runtime() -> Visit:
    return Visit(CrawlURI("http://a/", b"k" * 16, "a,"))


@pytest.mark.parametrize(
    ("after", "elapsed", "accepts"),
    [(0, 1e9, False), (60, 59.9, False), (60, 60.0, True)],
)
def test_when(after: float, elapsed: float, accepts: bool) -> None:
    limit = LimitRuntimeStep(fixed(RuntimeSettings(after=after)), NotingSupervisor(elapsed))
    assert limit.accepts(visit_runtime()) is accepts


@pytest.mark.parametrize(
    ("action", "result", "status", "asked"),
    [
        ("pause", Result.PROCEED, 0, ["hold: runtime limit"]),
        ("terminate", Result.PROCEED, 0, ["stop: FINISHED_TIME_LIMIT"]),
        ("block", Result.FINISH, -5004, []),
    ],
)
def test_what_is_done(action: str, result: Result, status: int, asked: list[str]) -> None:
    settings = RuntimeSettings.model_validate({"after": "1m", "action": action})
    supervisor = NotingSupervisor()
    limit = LimitRuntimeStep(fixed(settings), supervisor)
    late = visit_runtime()
    assert asyncio.run(limit.process(late)) is result
    assert (late.status, supervisor.asked) == (status, asked)
    assert late.annotations == (["Runtime exceeded 60000ms"] if status else [])
