"""Why a URL was refused, and what the operator wants ignored."""

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.candidates.rejected_uris import Ignored, RejectedUris
from nacre.scope.subject import Subject
from nacre.store.store import Store
from tests.store.memory import MemoryEngine


def subject(url: str) -> Subject:
    return Subject(url, "LL", "http://a.test/", "a/@href")


def test_the_first_refusal_of_a_url_is_kept():
    register = RejectedUris(Store(MemoryEngine()))
    register.add(b"1" * 16, subject("http://b.test/"), "reject")
    register.add(b"1" * 16, subject("http://b.test/"), "other")
    found = register.get(b"1" * 16)
    assert found is not None
    assert (found.url, found.rule, found.via) == ("http://b.test/", "reject", "http://a.test/")
    assert (found.path, found.context) == ("LL", "a/@href")
    assert register.get(b"2" * 16) is None


def test_a_full_register_keeps_no_more_in_a_later_session_either():
    store = Store(MemoryEngine())
    register = RejectedUris(store, capacity=1)
    register.add(b"1" * 16, subject("http://b.test/"), "reject")
    register.add(b"2" * 16, subject("http://c.test/"), "reject")
    assert register.get(b"2" * 16) is None
    register.seal()
    later = RejectedUris(store, capacity=1)
    later.add(b"3" * 16, subject("http://d.test/"), "reject")
    assert later.get(b"3" * 16) is None
    later.limit(2)
    later.add(b"3" * 16, subject("http://d.test/"), "reject")
    assert later.get(b"3" * 16) is not None


def ignored(uri: CrawlURI, *patterns: str) -> Visit | None:
    expressions = Ignored()
    expressions.use(patterns)
    visit = Visit(uri)
    return visit if expressions.refuses(visit) else None


def test_what_waits_is_disregarded_where_an_expression_matches():
    uri = CrawlURI("http://a.test/calendar/9", b"", "test,a,", path="L")
    visit = ignored(uri, "/forum/", "/calendar/")
    assert visit is not None
    assert visit.status == -5000
    assert "ignored" in visit.annotations
    assert "control/ignores" in visit.error
    assert ignored(uri, "/forum/") is None
    assert ignored(uri) is None


def test_seeds_and_prerequisites_are_spared():
    url = "http://a.test/calendar/"
    assert ignored(CrawlURI(url, b"", "test,a,", is_seed=True), "calendar") is None
    assert ignored(CrawlURI(url, b"", "test,a,", path="P"), "calendar") is None
