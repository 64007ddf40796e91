import pytest

from nacre.errors import URIError
from nacre.scope.seed_index import Coercion
from nacre.scope.state import ScopeState


def test_sets_are_live():
    state = ScopeState()
    told = []
    state.add_seed("http://a.test/")
    seeds = state.seed_prefixes(Coercion.HOST)
    state.watch(lambda: told.append(len(seeds)))
    state.add_seed("http://b.test/")
    assert told == [2]
    assert seeds is state.seed_prefixes(Coercion.HOST)
    assert state.seeds == ("http://a.test/", "http://b.test/")


def test_directives():
    state = ScopeState()
    state.add_directives(["+http://a.test/x", "-http://(test,b,)/", "", "+", "# -c", "a.test"])
    assert list(state.directives(accept=True)) == ["http://(test,a,)/"]
    assert list(state.directives(accept=False)) == ["http://(test,b,)/"]
    with pytest.raises(URIError):
        state.add_directives(["+http://"])


def test_time_outs_are_added_up():
    state = ScopeState()
    state.counts += [lambda: 2, lambda: 3]
    assert state.timeouts() == 5
