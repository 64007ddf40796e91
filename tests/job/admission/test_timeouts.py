from nacre.job.admission.timeouts import Timeouts
from nacre.job.counters import TIMEOUTS
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from tests.report.visits import make_visit
from tests.store.memory import MemoryEngine


def test_they_are_noted_at_the_page_and_kept_over_sessions():
    state, store = ScopeState(), Store(MemoryEngine())
    given_up = [0]
    state.counts.append(lambda: given_up[0])
    store.set_counter(TIMEOUTS, 5)
    timeouts = Timeouts(state, store)
    quiet, slow = make_visit(), make_visit()
    timeouts.annotate(quiet)
    given_up[0] = 3
    timeouts.annotate(slow)
    assert (quiet.annotations, slow.annotations) == ([], ["regexTimeout:3"])
    assert timeouts.total == 8
    timeouts.seal()
    assert store.counter(TIMEOUTS) == 8
