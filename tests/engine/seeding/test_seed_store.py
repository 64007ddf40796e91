"""Seeds that the scope asks the store for decide as those in memory do."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.engine.seeding import seedbook
from nacre.engine.seeding.seed_store import StoredSeeds
from nacre.engine.seeding.seedbook import SeedBook, index_seeds, is_indexed, seed_rows
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import PrefixLookup, ScopeKind
from nacre.scope.seeds import Seed, parse_seed
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.store.store import Store
from nacre.uri.parse import parse
from nacre.uri.surt import SurtPrefixSet, scope_surt
from tests.scope.test_seed_index import seeds, urls
from tests.store.memory import MemoryEngine

own_seeds = st.builds("{}{}".format, seeds, st.sampled_from(("", "", " scope=host", " depth=2")))
portions = st.lists(st.lists(own_seeds, max_size=4), max_size=4)


def in_memory(listed: Sequence[Seed]) -> ScopeState:
    """A scope that was given the seeds, each URL once."""
    state = ScopeState()
    for seed in {one.url: one for one in reversed(listed)}.values():
        state.add_seed(seed.text, seed.own, seed.owner)
    return state


def agree(one: ScopeState, other: ScopeState, asked: Sequence[str], owners: Sequence[str]) -> None:
    for coercion in Coercion:
        left, right = one.seed_prefixes(coercion), other.seed_prefixes(coercion)
        assert set(SurtPrefixSet(left)) == set(SurtPrefixSet(right))
        assert bool(left) == bool(right)
        lookups = PrefixLookup([left]), PrefixLookup([right])
        for url in asked:
            surt = scope_surt(url)
            assert (left.match(surt) is None) == (right.match(surt) is None), (coercion, url)
            assert lookups[0].hold(url) == lookups[1].hold(url), (coercion, url)
    assert bool(one.own) == bool(other.own)
    for owner in owners:
        places = one.own.get(owner), other.own.get(owner)
        assert (places[0] is None) == (places[1] is None), owner
        if places[0] is None or places[1] is None:
            continue
        assert places[0].own == places[1].own
        for url in asked:
            subject = Subject(url, "L")
            for kind in (ScopeKind.PREFIX, ScopeKind.SITE):
                assert places[0].hold(subject, kind) == places[1].hold(subject, kind)


@given(portions, st.lists(urls, min_size=1, max_size=6), st.data())
def test_the_store_decides_as_memory_does(
    listed: list[list[str]], asked: list[str], data: st.DataObject
):
    store, state = Store(MemoryEngine()), ScopeState()
    book = SeedBook(store, state)
    lookups = {one: PrefixLookup([state.seed_prefixes(one)]) for one in Coercion}
    for coercion, lookup in lookups.items():
        state.watch(lookup.forget)
        assert not state.seed_prefixes(coercion)
    known: list[Seed] = []
    addresses = [parse(url) for url in asked]
    for portion in listed:
        texts = [parse_seed(text) for text in portion]
        before = {one.url for one in known}
        new = list({one.url: one for one in reversed(texts) if one.url not in before}.values())
        assert {one.url for one in book.add_all(texts)} == {one.url for one in new}
        known += texts
        expected = in_memory(known)
        agree(expected, state, addresses, [one.owner for one in known])
        for coercion, lookup in lookups.items():
            for url in addresses:
                fresh = PrefixLookup([expected.seed_prefixes(coercion)])
                assert lookup.hold(url) == fresh.hold(url), "an answer is not remembered too long"
        if data.draw(st.booleans()):
            store.commit()
    again = ScopeState()
    read = SeedBook(store, again)
    read.load()
    agree(in_memory(known), again, addresses, [one.owner for one in known])
    for seed in known:
        assert read.knows(seed.url)
        assert read.owner(seed.url) == next(one for one in known if one.url == seed.url).owner
    assert not read.knows("http://unknown.test/")


def earlier(lines: Sequence[str]) -> Store:
    """A store as an earlier Nacre left it: rows of seeds alone."""
    store = Store(MemoryEngine())
    SeedBook(store, ScopeState()).add_all([parse_seed(line) for line in lines])
    store.commit()
    for key, _ in list(store.scan("scope", b"")):
        if not key.startswith(b"seed:"):
            store.delete("scope", key)
    store.delete("meta", b"counter:seeds.indexed")
    store.commit()
    return store


LINES = ["http://a.test/", "b.test", "http://c.test/x/y", "http://d.test/ scope=host", "书.test"]


@pytest.mark.parametrize("writes", [True, False])
def test_seeds_of_an_earlier_store_are_indexed_by_the_job_and_loaded_by_readers(writes: bool):
    store = earlier(LINES)
    assert not is_indexed(store)
    state = ScopeState()
    book = SeedBook(store, state)
    book.load(writes=writes)
    assert is_indexed(store) is writes
    expected = [parse_seed(line) for line in LINES]
    agree(in_memory(expected), state, [one.url for one in expected], [LINES[3].split()[0]])
    assert all(book.knows(one.url) for one in expected)
    assert book.owner("http://d.test/") == "http://d.test/"
    if writes:
        assert book.add_all(expected) == []
        assert state.seeds == ()
        store.commit()
        assert SeedBook(Store(store.engine), ScopeState()).knows("http://a.test/")


@pytest.mark.parametrize("writes", [True, False])
def test_seeds_that_an_earlier_nacre_adds_to_a_newer_store_are_indexed(writes: bool):
    """It ignores the index, writes rows of seeds alone, and counts them."""
    store = Store(MemoryEngine())
    SeedBook(store, ScopeState()).add_all([parse_seed(line) for line in LINES])
    for number, row in enumerate(list(seed_rows(earlier(["http://new.test/", *LINES[:1]]))), 5):
        store.put("scope", b"seed:" + number.to_bytes(8, "big"), msgspec.msgpack.encode(row))
        store.set_counter("seeds", number + 1)
    store.commit()
    state = ScopeState()
    book = SeedBook(store, state)
    book.load(writes=writes)
    expected = [parse_seed(line) for line in [*LINES, "http://new.test/"]]
    agree(in_memory(expected), state, [each.url for each in expected], [LINES[3].split()[0]])
    assert book.knows("http://new.test/")
    if writes:
        assert book.add_all(expected) == []
        assert StoredSeeds(store).number("http://a.test/") == 0, "the first of two counts"


@pytest.mark.parametrize("number", [1, 2])
def test_seeds_of_an_earlier_store_are_not_added_again_by_a_book_that_loaded_nothing(number: int):
    store = earlier(LINES)
    seeds = [parse_seed(line) for line in LINES[:number]]
    assert SeedBook(store, ScopeState()).add_all(seeds) == []
    assert len(list(seed_rows(store))) == len(LINES)


def test_an_indexing_that_was_killed_is_done_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(seedbook, "_PORTION", 2)
    store = earlier(LINES)
    writes, write = [0], store.engine.write

    def once(rows):
        writes[0] += 1
        if writes[0] > 1:
            raise KeyboardInterrupt
        return write(rows)

    monkeypatch.setattr(store.engine, "write", once)
    with pytest.raises(KeyboardInterrupt):
        index_seeds(store)
    monkeypatch.undo()
    left = Store(store.engine)
    assert not is_indexed(left)
    state = ScopeState()
    SeedBook(left, state).load(writes=True)
    expected = [parse_seed(line) for line in LINES]
    agree(in_memory(expected), state, [one.url for one in expected], ["http://d.test/"])
    assert [row.url for row in seed_rows(left)] == [one.url for one in expected]


@pytest.mark.parametrize("number", [3, 300])
def test_a_book_holds_no_seed_in_memory(tmp_path: Path, number: int):
    with Store.open(str(tmp_path / "store")) as store:
        state = ScopeState()
        book = SeedBook(store, state)
        book.add_all([parse_seed(f"http://site{n}.test/dir/") for n in range(number)])
        store.commit()
        assert state.seeds == ()
        assert not state.seed_prefixes(Coercion.HOST)._near
        assert state.seed_prefixes(Coercion.HOST).match("http://(test,site2,)/") is not None
        assert state.seed_prefixes(Coercion.HOST).match("http://(test,site999,)/") is None
        assert len(msgspec.msgpack.encode([row.text for row in book.rows()])) > number
