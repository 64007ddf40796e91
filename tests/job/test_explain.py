from pathlib import Path

import msgspec
import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.errors import URIError
from nacre.frontier.settings import PolitenessSettings
from nacre.job.assemble import canonicalizer
from nacre.job.clock import SystemClock
from nacre.job.explain import Explainer, politeness_text
from nacre.job.explanation import Explanation, Standing
from nacre.job.identity import Identity
from nacre.job.layout import Layout
from nacre.job.offline import View
from nacre.job.outcomes import Outcomes
from nacre.job.outside import Outside
from nacre.job.seedbook import SeedBook
from nacre.job.seeds import parse_seed
from nacre.job.settings import JobSettings
from nacre.scope.rule import Subject
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

SETTINGS = JobSettings()
IDENTITY = Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))
HOME = "http://a.test/"


class World:
    """A store with one seed, to which outcomes are added."""

    def __init__(self) -> None:
        self.store = Store(MemoryEngine())
        SeedBook(self.store, ScopeState()).add(parse_seed(HOME))

    def done(self, url: str, via: str = "", path: str = "", status: int = 200) -> None:
        uri = CrawlURI(url, IDENTITY.key(url), IDENTITY.queue(url), via=via, path=path)
        Outcomes(self.store).put(Visit(uri, status=status))

    def explain(self, text: str) -> Explanation:
        view = View(Layout(Path("job")), SETTINGS, self.store, SystemClock())
        return Explainer(view).explain(text)


def test_the_way_from_the_seed():
    world = World()
    world.done(HOME)
    world.done(HOME + "a", HOME, "L")
    world.done(HOME + "b", HOME + "a", "LL", -2)
    told = world.explain(HOME + "b")
    assert told.standing is Standing.FINISHED
    assert [(step.url, step.hop, step.status) for step in told.way] == [
        (HOME, "", 200),
        (HOME + "a", "L", 200),
    ]
    assert told.meaning.startswith("No connection")
    assert told.capture is None


def test_a_way_in_a_circle_ends():
    world = World()
    world.done(HOME + "a", HOME + "b", "L")
    world.done(HOME + "b", HOME + "a", "L")
    assert [step.url for step in world.explain(HOME + "a").way] == [HOME + "a", HOME + "b"]


def test_what_counts_as_the_same_is_told():
    world = World()
    world.done(HOME + "a?PHPSESSID=0123456789abcdef0123456789abcdef", HOME, "L")
    told = world.explain(HOME + "a?")
    assert told.same_as.startswith(HOME + "a?PHPSESSID")
    assert told.canonical != told.same_as


def test_a_refusal_names_its_rule():
    world = World()
    url = "http://b.test/"
    Outside(world.store).add(IDENTITY.key(url), Subject(url, "L", HOME, "a/@href"), "some rule")
    told = world.explain(url)
    assert told.standing is Standing.REFUSED
    assert told.scope.refused_by == "some rule"
    assert told.scope.decision == "REJECT"
    assert (told.via, told.path, told.context) == (HOME, "L", "a/@href")


def test_what_was_only_seen():
    world = World()
    world.store.put("seen", IDENTITY.key(HOME + "x"), b"")
    assert world.explain(HOME + "x").standing is Standing.SEEN


def test_the_unknown_is_judged_as_a_link_on_a_seed():
    told = World().explain(HOME + "x")
    assert told.standing is Standing.UNKNOWN
    assert told.scope.assumed
    assert told.scope.decision == "ACCEPT"
    assert [o.opinion for o in told.scope.opinions][:2] == ["REJECT", "ACCEPT"]
    assert World().explain("http://b.test/").scope.decision == "REJECT"


def test_a_scheme_may_be_left_out():
    world = World()
    world.done(HOME)
    assert world.explain("a.test/").url == HOME
    assert world.explain("other.test").url == "https://other.test/"
    with pytest.raises(URIError):
        world.explain("http://")


def test_an_explanation_survives_the_socket():
    told = World().explain(HOME + "x")
    assert msgspec.convert(msgspec.to_builtins(told), Explanation) == told


def test_politeness_in_words():
    assert politeness_text(PolitenessSettings()) == "5 times the last fetch, 3 to 30 s, 1 at a time"
    fixed = PolitenessSettings(delay=0.5, in_flight=2)
    assert politeness_text(fixed) == "0.5 s between fetches, 2 at a time"
