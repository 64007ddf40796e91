"""Choices become URIs with their way from a seed; visits become what the planner learns from."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from nacre.annotations import AUDIT, PAIR
from nacre.core.crawluri import DEAD, CrawlURI, Hop, Outlink
from nacre.core.pagerow import DiscoveryRow, PageRow, VersionRow
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import BrowserRequest, RenderedPage
from nacre.engine.seeding.seedbook import own_scope
from nacre.engine.steps.fetching import UNCONDITIONAL
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.step import Choice
from nacre.planner.visited import Visited, VisitFinding
from nacre.recrawl.knowledge import Audits
from nacre.recrawl.pagestore import PageStore
from nacre.recrawl.translation import Judgement, Revisits, VisitTranslator
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.archive.captures import make_capture
from tests.store.memory import MemoryEngine

SEED, OWN = "http://a.test/", "http://b.test/"
NEWS = "http://a.test/news/1.html"
NOW = 1_767_571_200.0


class _Candidates:
    """Accepts links of a.test and b.test; of b.test only those from its own seed."""

    def __init__(self) -> None:
        self.asked: list[tuple[CrawlURI, Outlink]] = []
        self.seeds: set[str] = set()

    def accepted(
        self, parent: CrawlURI, links: Sequence[Outlink]
    ) -> list[tuple[Outlink, CrawlURI]]:
        self.asked += [(parent, link) for link in links]
        return [
            (link, self._uri(parent, link))
            for link in links
            if link.url.startswith(SEED) or (link.url.startswith(OWN) and parent.url == OWN)
        ]

    def _uri(self, parent: CrawlURI, link: Outlink) -> CrawlURI:
        return CrawlURI(
            link.url,
            link.url.lower().encode(),
            "q",
            via=parent.url,
            path=parent.path + link.hop,
            context=link.context,
            source=parent.source,
            is_seed=link.url in self.seeds,
            heritable=parent.heritable,
        )


class _Seeds:
    """a.test, and b.test with a scope of its own."""

    has_owners = True

    def rows(self) -> list[Any]:
        return [SimpleNamespace(url=SEED, owner=""), SimpleNamespace(url=OWN, owner="theirs")]

    def knows(self, url: str) -> bool:
        return url in {SEED, OWN}

    def marks(self, url: str) -> dict[str, str]:
        return {DEAD: "1"} if url == OWN else {}


class _Identity:
    """Makes the URIs of seeds."""

    def seed(
        self, url: str, *, source: str, heritable: Mapping[str, str], overlay: int
    ) -> CrawlURI:
        facts = dict(heritable)
        return CrawlURI(url, b"k", f"q{overlay}", source=source, is_seed=True, heritable=facts)


class _Given:
    """What is known, and what makes URIs of choices."""

    def __init__(self, **settings: object) -> None:
        self.pages = PageStore(Store(MemoryEngine()))
        self.candidates, self.seeds = _Candidates(), _Seeds()
        rules: Any = SimpleNamespace(
            settings=JobSettings.model_validate({"recrawl": {"audits": 0.0}, **settings}),
            sheets=SimpleNamespace(of_url=lambda url: 3 if url == OWN else 0),
        )
        known: Any = SimpleNamespace(pages=self.pages, audits=Audits({}))
        scheduling: Any = self
        identity: Any = _Identity()
        self.revisits = Revisits(rules, scheduling, identity, known, NOW)

    def uri(self, url: str, reason: str = "rate") -> CrawlURI | None:
        return self.revisits.uri(Choice(url, 0.5, reason))


def test_a_page_is_asked_for_as_it_was_found() -> None:
    given = _Given()
    way = DiscoveryRow(SEED, "LL", "a/@href", "tag", "theirs", sitemap=True)
    given.pages.put_way(NEWS, way)
    uri = given.uri(NEWS)
    assert uri is not None
    assert (uri.url, uri.via, uri.path, uri.source) == (NEWS, SEED, "LL", "tag")
    parent, link = given.candidates.asked[-1]
    assert (parent.path, parent.heritable) == ("L", own_scope("theirs"))
    assert (link.hop, link.context, link.sitemap) == (Hop.LINK, "a/@href", True)
    assert UNCONDITIONAL not in uri.heritable


def test_what_the_scope_no_longer_accepts_is_not_asked_for() -> None:
    given = _Given()
    given.pages.put_way("http://c.test/x", DiscoveryRow(SEED, "L"))
    assert given.uri("http://c.test/x") is None
    assert given.uri("http://c.test/unknown") is None


def test_seeds_are_asked_for_as_seeds() -> None:
    given = _Given()
    plain, own = given.uri(SEED), given.uri(OWN)
    assert plain is not None
    assert own is not None
    assert (plain.is_seed, plain.queue, plain.heritable) == (True, "q0", {})
    assert (own.is_seed, own.queue, own.heritable) == (
        True,
        "q3",
        {DEAD: "1", **own_scope("theirs")},
    )
    assert plain.source == (SEED if JobSettings().engine.source_tags else "")


def test_seeds_are_their_own_source_where_tags_are_wanted() -> None:
    for wanted, source in ((True, SEED), (False, "")):
        uri = _Given(engine={"source_tags": wanted}).uri(SEED)
        assert uri is not None
        assert uri.source == source


def test_a_seed_that_was_found_by_a_link_is_asked_for_as_that_link() -> None:
    given = _Given()
    given.pages.put_way(SEED, DiscoveryRow(NEWS, "LL"))
    uri = given.uri(SEED)
    assert uri is not None
    assert (uri.is_seed, uri.via) == (False, NEWS)


def test_what_was_a_seed_before_is_a_link_of_one_now() -> None:
    given = _Given()
    uri = given.revisits.linked(NEWS)
    assert uri is not None
    assert (uri.via, uri.path) == (SEED, "L")
    of_own_host = given.revisits.linked(f"{OWN}page")
    assert of_own_host is not None
    assert (of_own_host.via, of_own_host.heritable) == (OWN, own_scope("theirs"))


def test_pages_are_read_as_their_last_version_or_the_page_that_links_them() -> None:
    given = _Given()
    given.pages.put_way(NEWS, DiscoveryRow(SEED, "L"))
    plain = given.uri(NEWS)
    given.pages.put_version(SEED, VersionRow("sha1:A", charset="gb18030"))
    linked = given.uri(NEWS)
    given.pages.put_version(NEWS, VersionRow("sha1:B", charset="big5"))
    before = given.uri(NEWS)
    found = [str(uri.heritable) for uri in (plain, linked, before) if uri is not None]
    assert "gb18030" not in found[0]
    assert "gb18030" in found[1]
    assert "big5" in found[2]


@pytest.mark.parametrize(
    ("reason", "audits", "why", "forced"),
    [("rate", 0.0, None, False), ("rate", 1.0, AUDIT, False), ("new", 1.0, None, False),
     (PAIR, 0.0, PAIR, True)],
)  # fmt: skip
def test_pairs_and_audits_ask_without_validators(
    reason: str, audits: float, why: str | None, forced: bool
) -> None:
    given = _Given(recrawl={"audits": audits})
    given.pages.put_way(NEWS, DiscoveryRow(SEED, "L"))
    uri = given.uri(NEWS, reason)
    assert uri is not None
    assert (uri.heritable.get(UNCONDITIONAL), uri.force_fetch) == (why, forced)


# ---- visits


class _Planner:
    """Notes what it is taught."""

    def __init__(self) -> None:
        self.seen: list[Visited] = []

    def learn(self, visit: Visited) -> VisitFinding:
        self.seen.append(visit)
        return VisitFinding(Answer.THERE)


class _Teaching:
    def __init__(self) -> None:
        self.pages = PageStore(Store(MemoryEngine()))
        self.candidates, self.planner = _Candidates(), _Planner()
        parts: Any = (self.candidates, self.pages, self.planner)
        self.translator = VisitTranslator(*parts)

    def visit(
        self,
        *links: Outlink,
        url: str = SEED,
        status: int = 200,
        body: bytes = b"<p>text</p>",
        path: str = "",
        mime: str = "text/html",
        received: bool = True,
    ) -> Judgement:
        uri = CrawlURI(url, url.lower().encode(), "q", path=path)
        capture = make_capture(body=body, status=status) if received else None
        visit = Visit(uri, status, capture, mime=mime)
        visit.add_outlinks(list(links))
        return self.translator.teach(visit, NOW)


def _link(name: str, hop: Hop = Hop.LINK, context: str = "a/@href", **more: Any) -> Outlink:
    return Outlink(SEED + name, hop, context, **more)


def test_the_planner_sees_the_reply() -> None:
    teaching = _Teaching()
    lesson = teaching.visit(body=b"<p>caf\xe9</p>")
    (seen,) = teaching.planner.seen
    assert (seen.url, seen.time, seen.status, seen.mime) == (SEED, NOW, 200, "text/html")
    assert (seen.length, seen.digest[:5]) == (11, "sha1:")
    assert "caf" in seen.body().decode()
    assert (lesson.first, lesson.time, lesson.accepted) == (True, NOW, [])
    assert teaching.pages.name(SEED.encode()) == SEED


def test_a_304_brings_nothing_and_no_reply_less() -> None:
    teaching = _Teaching()
    teaching.pages.put(PageRow(SEED, visits=2))
    assert not teaching.visit(status=304, body=b"").first
    assert not teaching.visit(status=-2, received=False).first
    for seen in teaching.planner.seen:
        assert (seen.digest, seen.length, list(seen.links)) == ("", 0, [])
    assert teaching.planner.seen[1].body() == b""


def test_links_are_known_by_the_url_under_which_they_were_first_found() -> None:
    teaching = _Teaching()
    teaching.visit(_link("A.html", text="first", sitemap=True))
    teaching.visit(_link("a.HTML", context="img/@usemap", text="no anchor"), _link("A.html"))
    first, second = teaching.planner.seen
    assert [(link.url, link.text) for link in first.links] == [(f"{SEED}A.html", "first")]
    assert [(link.url, link.text) for link in second.links] == [(f"{SEED}A.html", "")]
    way = teaching.pages.way(f"{SEED}A.html")
    assert way == DiscoveryRow(SEED, "L", "a/@href", "", "", sitemap=True)
    assert teaching.pages.way(f"{SEED}a.HTML") is None
    teaching.pages.put(PageRow(f"{SEED}a.HTML", visits=1))
    teaching.visit(_link("a.HTML"))
    assert [link.url for link in teaching.planner.seen[2].links] == [f"{SEED}a.HTML"]


def test_embeds_are_told_of_and_fetched_and_guesses_only_fetched() -> None:
    teaching = _Teaching()
    teaching.candidates.seeds = {f"{SEED}seed"}
    lesson = teaching.visit(
        _link("page"), _link("a.png", Hop.EMBED), _link("guess", Hop.SPECULATIVE),
        _link("moved", Hop.REDIRECT), _link("seed"),
    )  # fmt: skip
    told = [link.url.removeprefix(SEED) for link in teaching.planner.seen[0].links]
    assert told == ["page", "a.png", "moved", "seed"]
    assert [uri.url.removeprefix(SEED) for uri in lesson.accepted] == ["a.png", "guess", "seed"]


@pytest.mark.parametrize(("status", "links"), [(404, 0), (199, 0), (301, 1), (399, 1), (400, 0)])
def test_links_of_errors_are_not_followed(status: int, links: int) -> None:
    teaching = _Teaching()
    teaching.pages.put(PageRow(SEED, visits=1))
    teaching.visit(_link("page"), status=status)
    assert len(teaching.planner.seen[0].links) == links


@pytest.mark.parametrize("url", ["dns:a.test", "ftp://a.test/x"])
def test_what_is_no_page_is_not_taught(url: str) -> None:
    teaching = _Teaching()
    lesson = teaching.visit(url=url)
    assert (lesson.finding, lesson.first) == (None, False)
    assert not teaching.planner.seen


@pytest.mark.parametrize(
    ("path", "status", "links", "taught"),
    [
        ("LE", 404, 0, False), ("LX", 404, 0, False), ("LL", 404, 0, True), ("", 404, 0, True),
        ("LE", 200, 0, True), ("LP", 200, 0, False), ("LP", 200, 1, True),
    ],
)  # fmt: skip
def test_guesses_and_embeds_that_are_not_there_leave_no_row(
    path: str, status: int, links: int, taught: bool
) -> None:
    teaching = _Teaching()
    shown = [_link(f"page{number}") for number in range(links)]
    lesson = teaching.visit(*shown, url=f"{SEED}x", path=path, status=status)
    assert (lesson.finding is not None, bool(teaching.planner.seen)) == (taught, taught)


# ---- pages that were run in a browser


def _page(dom: bytes, *requests: Visit, ended: str = "settled") -> PageUnit:
    page = PageUnit("id", "always", RenderedPage(ended, SEED, dom=dom), reused=[SEED + "r.css"])
    for visit in requests:
        page.add(visit)
    return page


def _request(url: str, resource: str, *links: Outlink) -> Visit:
    uri = CrawlURI(url, url.encode(), "q", via=SEED, path="E")
    request = BrowserRequest("GET", url, resource=resource)
    visit = Visit(uri, 200, make_capture(), request=request, page_id="id", queued=False)
    visit.add_outlinks(list(links))
    return visit


def _run(teaching: _Teaching, page: PageUnit, *links: Outlink, status: int = 200) -> Judgement:
    uri = CrawlURI(SEED, SEED.encode(), "q")
    visit = Visit(uri, status, make_capture(body=b"", status=status), mime="text/html", page=page)
    visit.add_outlinks(list(links))
    return teaching.translator.teach(visit, NOW)


@pytest.mark.parametrize("status", [200, 304])
def test_the_planner_sees_the_final_document_and_not_the_reply(status: int) -> None:
    teaching = _Teaching()
    teaching.pages.put(PageRow(SEED, visits=1))
    _run(teaching, _page("<p>\u5c55\u89c8</p>".encode()), _link("a.html"), status=status)
    (seen,) = teaching.planner.seen
    assert (seen.status, seen.mime, seen.rendered) == (200, "text/html", True)
    assert seen.body().decode() == "<p>\u5c55\u89c8</p>"
    assert (seen.length, seen.digest[:4]) == (13, "dom:")
    assert [link.url for link in seen.links] == [SEED + "a.html"]


def test_a_page_that_failed_in_the_browser_says_nothing_of_its_last_version() -> None:
    teaching = _Teaching()
    failed = _page(b"", ended="crash")
    _run(teaching, failed, _link("a.html"))
    teaching.pages.put_version(SEED, VersionRow("sha1:A", rendered=True))
    _run(teaching, failed, _link("a.html"))
    before, after = teaching.planner.seen
    assert (before.status, before.rendered, len(before.links)) == (200, False, 1)
    assert (after.status, after.digest, list(after.links)) == (0, "", [])


def test_what_a_page_asks_for_itself_is_no_page_of_the_planner() -> None:
    teaching = _Teaching()
    script = _request(SEED + "app.js", "script", _link("found.html"))
    page = _page(b"<p>x</p>", script)
    links = (_link(name, Hop.EMBED, "script/@src") for name in ("app.js", "r.css", "new.png"))
    lesson = _run(teaching, page, *links)
    (seen,) = teaching.planner.seen
    assert [link.url for link in seen.links] == [SEED + "new.png"]
    assert [uri.url for uri in lesson.accepted] == [SEED + "new.png"]
    passed = teaching.translator.pass_on(script, NOW)
    assert (passed.finding, [uri.url for uri in passed.accepted]) == (None, [SEED + "found.html"])
    assert teaching.pages.get(SEED + "app.js") is None
    assert len(teaching.planner.seen) == 1


@pytest.mark.parametrize(("resource", "taught"), [("script", 1), ("style", 1), ("fetch", 0)])
def test_an_embed_that_is_planned_is_visited_by_the_request_of_a_page(
    resource: str, taught: int
) -> None:
    teaching = _Teaching()
    teaching.pages.put(PageRow(NEWS, visits=1))
    lesson = teaching.translator.pass_on(_request(NEWS, resource), NOW)
    assert len(teaching.planner.seen) == taught
    assert (lesson.finding is not None) == bool(taught)
