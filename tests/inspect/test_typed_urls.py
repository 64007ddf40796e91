"""What people type at a command, by what a job has."""

import pytest

from nacre.engine.seeding.seedbook import SeedBook
from nacre.inspect.typed_urls import typed_in_store, typed_spellings
from nacre.scope.seeds import parse_seed
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from nacre.uri.typed import AmbiguousUrlError
from tests.store.memory import MemoryEngine


def _store(*seeds: str) -> Store:
    store = Store(MemoryEngine())
    SeedBook(store, ScopeState()).add_all([parse_seed(seed) for seed in seeds])
    return store


def test_a_path_is_on_the_site_of_the_seed():
    store = _store("http://a.test/docs/")
    assert typed_in_store(store, "x.html") == "http://a.test/x.html"
    assert typed_in_store(store, "http://b.test/X") == "http://b.test/X"
    assert next(typed_spellings(store, "b.org/x")) == "https://b.org/x"
    assert next(typed_spellings(store, "http://me:hush@b.org/x")) == "http://b.org/x"


def test_a_path_that_may_be_on_several_sites():
    with pytest.raises(AmbiguousUrlError):
        typed_in_store(_store("http://a.test/", "http://b.test/"), "x.html")
