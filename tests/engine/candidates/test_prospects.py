"""What was learned of a site's links, as it places URIs, is kept, and is told."""

import gzip
from collections.abc import Iterator

import pytest
from msgspec import structs

from nacre.config.effective import Effective, fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.processor import Visit
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.prospects import MARK, Prospects, UriPlacement, WordRows, kinds
from nacre.frontier import known_set
from nacre.frontier.known_set import KnownSet
from nacre.frontier.settings import FrontierSettings, QueueAssignment, TrapSettings
from nacre.messages import find
from nacre.store.store import Store
from nacre.uri.canonical import DEFAULT, Canonicalizer
from tests.store.memory import MemoryEngine

SITE = "http://a.test"
OFF = TrapSettings(learn=False)


def uri(place: str, **facts: object) -> CrawlURI:
    return structs.replace(CrawlURI(SITE + place, place.encode(), "q", path="L"), **facts)


def prospects_of(store: Store, *, read_only: bool = False) -> Prospects:
    """With sheets (1) under which nothing is learned; they apply to URLs with `/off`."""
    return Prospects(
        store,
        Effective((TrapSettings(), OFF)),
        lambda one: int("/off" in one.url),
        read_only=read_only,
    )


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


@pytest.fixture
def prospects(store: Store) -> Prospects:
    """Of a site that is watched, for enough of its URLs had a query."""
    found = prospects_of(store)
    found.met([uri(f"/?q={number}") for number in range(12)], 0)
    return found


def visit_of(one: CrawlURI, text: str = "", status: int = 200, coding: bytes = b"") -> Visit:
    body = f"<p>{text}</p>".encode()
    body = gzip.compress(body) if coding else body
    headers = ((b"Content-Encoding", coding),) if coding else ()
    capture = Capture(
        one.url, b"", b"", BytesBody(body), status, headers=headers, payload_length=len(body)
    )
    return Visit(one, status, capture)


def fetched(
    prospects: Prospects, one: CrawlURI, *links: str, text: str = "", coding: bytes = b""
) -> CrawlURI:
    """Hand a URI out, fetch it, and take in its links; as it was handed out."""
    placed = prospects.place(one)
    prospects.met([uri(link) for link in links], 0)
    prospects.entered([True] * len(links))
    prospects.learn(visit_of(placed, text, coding=coding))
    return placed


def crawl_calendar(prospects: Prospects, months: int) -> CrawlURI:
    """Months without an event, each of which leads to two views of it; the last, as it was met."""
    for number in range(30):
        fetched(prospects, uri(f"/help?topic={number}"))
    fetched(prospects, uri("/help?view=a"))
    fetched(prospects, uri("/help?view=b"))
    met = uri("/")
    for number in range(months):
        path = f"/cal?month={2000 + number // 12}-{number % 12 + 1:02d}"
        (met,) = prospects.met([uri(path)], 0)
        prospects.entered([True])
        fetched(prospects, met, f"{path}&view=a", f"{path}&view=b", text="Nothing on this month")
    return met


# ---- links


def test_a_link_without_a_new_word_goes_later(prospects: Prospects):
    fetched(prospects, uri("/first/second"))
    new, view = prospects.met([uri("/first/third"), uri("/second/first")], 0)
    assert (new.directive, new.heritable) == (Directive.NORMAL, {})
    assert (view.directive, view.heritable) == (Directive.VIEW, {MARK: "1"})
    assert prospects.reason(new) == ""
    assert "every word of its URL is known" in prospects.reason(view)


def test_among_links_that_promise_the_same_the_plainest_goes_first(prospects: Prospects):
    plain, some, ranked = prospects.met(
        [uri("/plain"), uri("/list?color=red&size=big"), uri("/other?b=1&c=2", precedence=9)], 0
    )
    assert plain == uri("/plain"), "it is left as it was"
    assert (some.precedence, some.cost) == (3, 1)
    assert ranked.precedence == 9, "an order of its own stays"
    (long,) = prospects.met([uri("/x?" + "&" * 300)], 0)
    assert long.precedence == 127


def test_seeds_and_embeds_keep_their_place(prospects: Prospects):
    fetched(prospects, uri("/first/second"))
    kept = [uri("/second/first", is_seed=True), uri("/first", directive=Directive.MEDIUM)]
    assert prospects.met(kept, 0) == kept
    assert [prospects.place(one) for one in kept] == kept


def test_under_sheets_that_do_not_want_it_nothing_is_learned(prospects: Prospects, store: Store):
    links = [uri(f"/off?q={number}") for number in range(40)]
    assert prospects.met(links, 1) == links
    assert prospects.place(links[0]) is links[0]
    visit = visit_of(links[0], "A text that is new")
    visit.overlay = 1
    prospects.learn(visit)
    prospects.seal()
    assert {row.name for _, row in kinds(store)} == {"/?q={number}"}


def test_what_was_never_scheduled_is_of_a_kind_that_promises_little(prospects: Prospects):
    another = f"{SITE}/cal?month=2099-01"
    assert not prospects.promises_little(another)
    crawl_calendar(prospects, 20)
    assert prospects.promises_little(another)
    assert not prospects.promises_little(f"{SITE}/bericht/neu.html")
    assert not prospects.promises_little("http://other.test/cal?month=2099-01")


# ---- URIs that are handed out


def test_a_uri_whose_words_became_known_since_goes_later(prospects: Prospects):
    one, other = prospects.met([uri("/git?a=blob&h=4f5"), uri("/git?h=4f5&a=blob")], 0)
    assert one.directive == other.directive == Directive.NORMAL
    assert fetched(prospects, one) is one
    later = prospects.place(other)
    assert (later.directive, later.heritable) == (Directive.VIEW, {MARK: "1"})
    assert prospects.place(later) is later


def test_prerequisites_are_left_where_they_are(prospects: Prospects):
    fetched(prospects, uri("/first/second"))
    robots = uri("/first", path="LP")
    assert prospects.place(robots) is robots
    visit = visit_of(robots, "A text that is new to it")
    prospects.learn(visit)
    assert prospects.reason(robots) == ""


# ---- pages


def test_a_kind_without_anything_new_goes_later_and_later(prospects: Prospects):
    poor = crawl_calendar(prospects, 12)
    assert poor.directive == Directive.POOR
    assert "pages of its kind (" in prospects.reason(poor)
    assert "had nothing new" in prospects.reason(poor)


def test_a_kind_without_end_goes_last_and_says_why(prospects: Prospects):
    endless = crawl_calendar(prospects, 60)
    assert endless.directive == Directive.ENDLESS
    reason = prospects.reason(endless)
    assert "more such URLs each (" in reason
    assert find(reason, ["engine.kind-endless"]) is not None


def test_what_waits_when_its_kind_becomes_poor_goes_later_too(prospects: Prospects):
    (waiting,) = prospects.met([uri("/cal?month=2090-01")], 0)
    assert waiting.directive == Directive.NORMAL
    crawl_calendar(prospects, 12)
    moved = prospects.place(waiting)
    assert moved.directive == Directive.POOR
    assert MARK not in moved.heritable


@pytest.mark.parametrize("coding", [b"", b"gzip"])
def test_text_that_is_new_redeems_a_kind_also_when_it_is_encoded(
    prospects: Prospects, coding: bytes
):
    crawl_calendar(prospects, 12)
    text = "A concert of the town's orchestra, with works by four composers of the region"
    fetched(prospects, uri("/cal?month=2080-01"), text=text, coding=coding)
    (link,) = prospects.met([uri("/cal?month=2080-02")], 0)
    assert link.directive == Directive.NORMAL


@pytest.mark.parametrize("status", [404, -2])
def test_the_text_of_a_failure_redeems_nothing(prospects: Prospects, status: int):
    crawl_calendar(prospects, 12)
    text = "A concert of the town's orchestra, with works by four composers of the region"
    visit = visit_of(uri("/cal?month=2080-01"), text, status)
    if status < 0:
        visit.capture = None
    prospects.learn(visit)
    (link,) = prospects.met([uri("/cal?month=2080-02")], 0)
    assert link.directive == Directive.POOR


@pytest.mark.parametrize("said", ["noindex", "none"])
def test_a_kind_whose_pages_say_noindex_goes_later_and_says_why(prospects: Prospects, said: str):
    names = ["Amber", "Bronze", "Coral"]
    for name in names:
        one = prospects.place(uri(f"/find/{name}"))
        prospects.met([uri(f"/about/{name}-x")], 0)
        prospects.entered([True])
        visit = visit_of(one, f"What was found of {name}, with a text of its own for each")
        visit.robots_meta = frozenset({said, "follow"})
        prospects.learn(visit)
    embed = uri("/find/Ebony", directive=Directive.MEDIUM)
    later, kept = prospects.met([uri("/find/Denim"), embed], 0)
    assert (later.directive, later.heritable) == (Directive.VIEW, {})
    assert "say noindex" in prospects.reason(later)
    assert kept.directive == Directive.MEDIUM


def read_of(store: Store, prospects: Prospects) -> dict[str, int]:
    prospects.seal()
    return {row.name: row.read for _, row in kinds(store) if row.read}


def test_a_visit_that_is_to_be_tried_again_teaches_nothing(prospects: Prospects, store: Store):
    prospects.learn(visit_of(uri("/list?a=1"), "A text that is new", status=0))
    assert read_of(store, prospects) == {}
    prospects.learn(visit_of(uri("/list?a=1"), "A text that is new"))
    assert list(read_of(store, prospects).values()) == [1]


def test_only_links_that_entered_the_frontier_count(prospects: Prospects, store: Store):
    links = [uri("/news/today"), uri("/list?item=9")]
    for number, entered in enumerate(([False, True], [True, True])):
        one = prospects.place(uri(f"/list?item={number}"))
        prospects.met(links, 0)
        prospects.entered(entered)
        prospects.learn(visit_of(one))
        prospects.seal()
        (row,) = [row for _, row in kinds(store) if row.name.startswith("list")]
        assert row.rich == number, "a link to another kind is something new"


# ---- the store


def word_rows(store: Store) -> Iterator[bytes]:
    return (value for _, value in store.scan("hosts", b"nw", b"nx"))


def test_a_job_that_goes_on_knows_what_it_learned(prospects: Prospects, store: Store):
    poor = crawl_calendar(prospects, 12)
    fetched(prospects, uri("/first/second"))
    prospects.seal()
    again = prospects_of(store)
    met = again.met([uri("/second/first"), uri("/cal?month=2090-01")], 0)
    assert [one.directive for one in met] == [Directive.VIEW, Directive.POOR]
    assert {host for host, _ in kinds(store)} == {"a.test"}
    asked = prospects_of(store, read_only=True)
    assert asked.reason(poor) == prospects.reason(poor)
    assert asked.met([uri("/second/first")], 0)[0].directive == Directive.NORMAL


def test_what_was_met_and_the_values_of_parameters_are_kept(prospects: Prospects, store: Store):
    words = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]
    links = [uri(f"/list?word={word}") for word in words]
    prospects.met(links[:30], 0)
    prospects.entered([True] * 30)
    prospects.seal()
    again = prospects_of(store)
    again.met(links, 0)
    again.entered([False] * 30 + [True] * 30)
    again.seal()
    undisturbed = prospects_of(other := Store(MemoryEngine()))
    undisturbed.met([uri(f"/?q={number}") for number in range(12)], 0)
    undisturbed.met(links, 0)
    undisturbed.entered([True] * 60)
    undisturbed.seal()
    found = {row.name: row.met for _, row in kinds(store)}
    assert found == {row.name: row.met for _, row in kinds(other)}
    assert found["list/?word={}"] == 20


def test_words_of_a_uri_that_was_not_fetched_yet_are_not_kept(prospects: Prospects, store: Store):
    (one,) = prospects.met([uri("/first/second")], 0)
    prospects.place(one)
    prospects.seal()
    again = prospects_of(store)
    again.met([uri(f"/?q={number}") for number in range(12)], 0)
    assert again.place(one) is one


def test_words_of_a_uri_that_goes_later_are_kept(prospects: Prospects, store: Store):
    (waiting,) = prospects.met([uri("/cal?month=2090-01")], 0)
    crawl_calendar(prospects, 12)
    assert prospects.place(waiting).directive == Directive.POOR
    prospects.seal()
    (met,) = prospects_of(store).met([waiting], 0)
    assert met.heritable == {MARK: "1"}


def test_a_job_that_goes_on_keeps_the_words_of_before(prospects: Prospects, store: Store):
    fetched(prospects, uri("/first/second"))
    prospects.seal()
    before = list(word_rows(store))
    again = prospects_of(store)
    again.met([uri(f"/?q={number}") for number in range(12)], 0)
    fetched(again, uri("/third"))
    again.seal()
    after = list(word_rows(store))
    assert (after[: len(before)], len(after)) == (before, len(before) + 1)


def test_what_did_not_change_is_not_written_again(prospects: Prospects, store: Store):
    fetched(prospects, uri("/list?a=1"), text="A text that is new")
    prospects.seal()
    for family in ("nw", "nk"):
        for key, _ in list(store.scan("hosts", family.encode(), family.encode() + b"\xff" * 20)):
            store.delete("hosts", key)
    prospects.seal()
    assert list(kinds(store)) == []
    assert list(word_rows(store)) == []


def test_many_rows_of_words_become_one_when_a_job_goes_on(prospects: Prospects, store: Store):
    for number in range(1010):
        fetched(prospects, uri(f"/word{number}a"))
        prospects.seal()
    before = list(word_rows(store))
    assert len(before) > 1000
    again = prospects_of(store)
    (row,) = word_rows(store)
    assert row == b"".join(before)
    again.met([uri(f"/?q={number}") for number in range(12)], 0)
    assert again.met([uri("/word7a")], 0)[0].directive == Directive.VIEW
    fetched(again, uri("/more"))
    again.seal()
    assert len(list(word_rows(store))) == 2


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """The most bytes of a table that cannot grow beyond its first size."""
    monkeypatch.setattr(known_set, "_MOST_BITS", known_set._FIRST_BITS)
    return 4 * known_set._FIRST_BITS // known_set._FULL


@pytest.mark.parametrize("merged", [1, 1_000])
def test_rows_of_words_that_were_forgotten_go(
    store: Store, small: int, monkeypatch: pytest.MonkeyPatch, merged: int
):
    monkeypatch.setattr("nacre.engine.candidates.prospects._MERGED", merged)
    words = KnownSet()
    rows = WordRows(store, words)
    for number in range(400):
        if number % 80 == 79:
            words = KnownSet()
            rows = WordRows(store, words)
            rows.load()
        for word in range(200):
            words.add(f"{number}-{word}".encode())
        rows.seal()
        rows.seal()
        assert sum(map(len, word_rows(store))) <= small + 200 * 4 + small * (number >= 79)
    again = KnownSet()
    WordRows(store, again).load()
    texts = [f"{number}-{word}".encode() for number in range(330, 400) for word in range(200)]
    assert [again.has(text) for text in texts] == [words.has(text) for text in texts]
    assert sum(map(words.has, texts)) > 0.9 * len(texts)


# ---- placement


def identity_of(settings: Effective[FrontierSettings]) -> Identity:
    return Identity(Canonicalizer(DEFAULT), settings, lambda _: ("10.9.1.1",))


def test_a_placement_moves_uris_where_the_settings_say_so(prospects: Prospects):
    settings = fixed(FrontierSettings())
    identity = identity_of(settings)
    placement = UriPlacement(identity, settings, lambda _: 0, prospects)
    assert (placement.moves, placement.queue_of(uri("/x"))) == (False, "q")
    settings.replace([FrontierSettings(queue_assignment=QueueAssignment(policy="ip"))])
    assert placement.moves
    assert placement.queue_of(uri("/x")) == identity.queue(SITE + "/x") != "q"


def test_a_placement_asks_what_a_uri_promises_if_that_is_learned(prospects: Prospects):
    fetched(prospects, uri("/first/second"))
    settings = fixed(FrontierSettings())
    one = uri("/second/first")
    with_it = UriPlacement(identity_of(settings), settings, lambda _: 0, prospects)
    without = UriPlacement(identity_of(settings), settings, lambda _: 0, None)
    assert with_it.place(one).directive == Directive.VIEW
    assert without.place(one) is one
