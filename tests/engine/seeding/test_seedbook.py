"""Seeds, directives and logins, as they are kept over sessions."""

import pytest

from nacre.core.crawluri import CrawlURI
from nacre.engine.seeding.seedbook import LoginBook, SeedBook, own_scope, seed_rows
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import Seed
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from nacre.uri.typed import Login
from tests.store.memory import MemoryEngine

A, B = Seed("a.test", "https://a.test/"), Seed("http://b.test/x", "http://b.test/x")
OWN = Seed("http://own.test/", "http://own.test/", own=SeedOwnScope(ScopeKind.HOST, 3))


class Kept:
    """A store, and the book of each session on it."""

    def __init__(self) -> None:
        self.store = Store(MemoryEngine())
        self.state = ScopeState()
        self.book = SeedBook(self.store, self.state)

    def again(self) -> SeedBook:
        self.state = ScopeState()
        self.book = SeedBook(self.store, self.state)
        self.book.load()
        return self.book

    @property
    def prefixes(self) -> list[str]:
        return sorted(self.state.seed_prefixes(Coercion.PREFIX))


@pytest.fixture
def kept() -> Kept:
    return Kept()


def redirected(url: str, via: str, **heritable: str) -> CrawlURI:
    return CrawlURI(url, b"", "q", via=via, heritable=heritable)


def test_seeds_are_noted_once_and_in_order(kept: Kept):
    assert kept.book.add_all([A, B, A]) == [A, B]
    assert not kept.book.add(A)
    assert kept.book.add(Seed("c.test", "https://c.test/"))
    assert [row.url for row in kept.book.rows()] == [A.url, B.url, "https://c.test/"]
    assert [row.text for row in seed_rows(kept.store)] == ["a.test", B.text, "c.test"]
    assert kept.book.knows(A.url)
    assert not kept.book.knows("a.test")


def test_seeds_widen_the_scope_in_each_session(kept: Kept):
    kept.book.add_all([A, B])
    before = kept.prefixes
    assert before == ["http://(test,a,", "http://(test,b,)/"]
    book = kept.again()
    assert kept.prefixes == before
    assert book.knows(B.url)
    assert not book.add(A)


def test_the_new_place_of_a_seed_is_a_seed_too(kept: Kept):
    kept.book.add(A)
    kept.book.redirected(redirected("http://moved.test/", A.url))
    kept.book.redirected(redirected("http://moved.test/", A.url))
    *_, last = kept.book.rows()
    assert (last.text, last.redirect_from, last.owner) == ("http://moved.test/", A.url, "")
    assert len(list(kept.book.rows())) == 2
    assert "http://(test,moved,)/" in kept.prefixes


def test_a_seed_with_a_scope_of_its_own_widens_that_of_no_other(kept: Kept):
    before = kept.book.has_owners
    kept.book.add_all([A, OWN])
    assert (before, kept.book.has_owners) == (False, True)
    assert kept.prefixes == ["http://(test,a,"]
    assert (kept.book.owner(OWN.url), kept.book.owner(A.url)) == (OWN.text, "")
    assert kept.book.owner("http://unknown.test/") == ""
    *_, row = kept.book.rows()
    assert (row.owner, row.scope, row.depth) == (OWN.text, "host", 3)
    kept.again()
    assert kept.prefixes == ["http://(test,a,"]
    assert kept.state.own[OWN.text].own == OWN.own


def test_what_a_seed_leaves_unsaid_stays_unsaid(kept: Kept):
    bare = OWN._replace(own=SeedOwnScope())
    kept.book.add(bare)
    (row,) = kept.book.rows()
    assert (row.owner, row.scope, row.depth) == (OWN.text, "", -1)
    kept.again()
    assert kept.state.own[OWN.text].own == SeedOwnScope()


def test_where_such_a_seed_redirects_to_belongs_to_it(kept: Kept):
    kept.book.add(OWN)
    kept.book.redirected(redirected("http://moved.test/", OWN.url, **own_scope(OWN.text)))
    kept.book.redirected(redirected("http://other.test/", OWN.url, **own_scope("unknown")))
    _, moved, other = kept.book.rows()
    assert (moved.owner, moved.scope, moved.depth) == (OWN.text, "host", 3)
    assert (other.owner, other.depth) == ("", -1)
    assert kept.prefixes == ["http://(test,other,)/"]
    assert own_scope("") == {}


@pytest.mark.parametrize(("owner", "depth"), [("", -1), (OWN.text, 3)])
def test_a_seed_that_stands_in_has_the_scope_of_the_other(kept: Kept, owner: str, depth: int):
    kept.book.add(OWN)
    http = Seed("http://own.test/http", "http://own.test/http")
    uri = redirected("https://own.test/", "", **own_scope(owner))
    assert kept.book.stands_in(http, uri)
    assert not kept.book.stands_in(http, uri)
    *_, row = kept.book.rows()
    assert (row.url, row.owner, row.depth) == (http.url, owner, depth)
    assert (row.stands_in_for, row.is_listed) == ("https://own.test/", False)
    assert bool(kept.prefixes) is not bool(owner)


def test_directives_are_kept(kept: Kept):
    kept.book.direct(["+http://in.test/", "-http://out.test/"])

    def directives() -> list[list[str]]:
        return [sorted(kept.state.directives(accept=accept)) for accept in (True, False)]

    before = directives()
    assert all(before)
    kept.again()
    assert directives() == before


# ---- logins


def login(origin: str = "http://a.test", name: str = "n", password: str = "p") -> Login:
    return Login(origin, name, password)


def known(book: LoginBook) -> list[tuple[str, str, str]]:
    return [(one.origin, one.username, one.password.text) for one in book.known]


def test_logins_of_seeds_are_kept_and_the_operator_is_advised():
    store = Store(MemoryEngine())
    book = LoginBook(store)
    (advice,) = book.take([A, A._replace(login=login())])
    assert advice.startswith("http://a.test: a seed has a name or a password in it: it is taken")
    assert "fetch.credentials" in advice
    assert known(book) == known(LoginBook(store)) == [("http://a.test", "n", "p")]


def test_the_same_login_is_taken_once_and_the_last_of_an_origin_holds():
    store = Store(MemoryEngine())
    book = LoginBook(store)
    book.add(login("http://b.test"))
    list_of_the_fetcher = book.known
    assert book.add(login()) != []
    assert book.add(login()) == []
    said = book.add(login(password="q"))
    assert said == ["http://a.test: another seed has another name or password; this one holds"]
    assert known(book) == [("http://b.test", "n", "p"), ("http://a.test", "n", "q")]
    assert book.known is list_of_the_fetcher
    assert sorted(known(LoginBook(store))) == sorted(known(book))


def test_a_login_for_another_scheme_is_not_taken():
    book = LoginBook(Store(MemoryEngine()))
    assert book.add(login("ftp://a.test")) == [
        "ftp://a.test: a name and a password can be sent to http and https only"
    ]
    assert book.known == []
