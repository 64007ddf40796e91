from pathlib import Path

import msgspec
import pytest

from nacre.cli.explain_text import explanation_lines
from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.message_data import to_plain
from nacre.core.processor import Visit
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.outcomes import Outcomes
from nacre.engine.prerequisites import RobotsCache, RobotsRow
from nacre.engine.seeding.seedbook import SeedBook
from nacre.errors import URIError
from nacre.frontier.queue_cache import _PREFIX
from nacre.frontier.queues import QueueRow, QueueState
from nacre.frontier.rows import future_key, pack, pack_future, queue_id, queue_key
from nacre.frontier.settings import PolitenessSettings
from nacre.inspect.explain.answers import Explanation, Standing, politeness_text
from nacre.inspect.explain.explain import Explainer
from nacre.inspect.view import View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.scope.robots_txt import RobotsState
from nacre.scope.seeds import parse_seed
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.typed import AmbiguousUrlError
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


def test_what_was_given_up_for_want_of_robots_txt():
    world = World()
    world.done(HOME, status=-61)
    lines = list(explanation_lines(world.explain(HOME)))
    assert "  robots.txt  that of http://a.test could not be fetched: see answer" in lines


@pytest.mark.parametrize(
    ("row", "running", "state", "why"),
    [
        (QueueRow("", state=QueueState.SNOOZED), False, "exhausted", "it is empty"),
        (QueueRow("", state=QueueState.SNOOZED, size=2), False, "ready", ""),
        (
            QueueRow("", state=QueueState.SNOOZED, size=2),
            True,
            "snoozed",
            "it waits its politeness",
        ),
        (
            QueueRow("", state=QueueState.SNOOZED, size=2, held=True),
            False,
            "snoozed",
            "a robots.txt",
        ),
        (QueueRow("", state=QueueState.INACTIVE), False, "inactive", "it waits for its turn"),
    ],
)
def test_no_queue_waits_for_a_time_while_no_process_works(
    row: QueueRow, running: bool, state: str, why: str
):
    world = World()
    name = IDENTITY.queue(HOME)
    row.name = name
    world.store.put("hosts", _PREFIX + queue_id(name), msgspec.msgpack.encode(row))
    view = View(Layout(Path("job")), SETTINGS, world.store, SystemClock(), running=running)
    queue = Explainer(view).explain(HOME).queue
    assert queue.state == state
    assert queue.why.startswith(why)
    assert bool(queue.why) == bool(why)


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
    RejectedUris(world.store).add(
        IDENTITY.key(url), Subject(url, "L", HOME, "a/@href"), "some rule"
    )
    told = world.explain(url)
    assert told.standing is Standing.REFUSED
    assert told.scope.refused_by == "some rule"
    assert told.scope.decision == "REJECT"
    assert (told.via, told.path, told.context) == (HOME, "L", "a/@href")


def test_a_url_that_no_rule_speaks_of_is_told_what_the_scope_accepts():
    world = World()
    told = world.explain("http://b.test/")
    accepted = "the scope accepts URLs that begin with http://(test,a,)/ (SURT)."
    assert told.meaning == f"No rule of the scope accepts it; {accepted}"
    assert any(told.meaning in line for line in explanation_lines(told))
    assert world.explain(f"{HOME}x").meaning == ""
    looping = world.explain(f"{HOME}{'a/' * 30}")
    assert (looping.scope.decision, looping.meaning) == ("REJECT", "")
    for name in "cdef":
        SeedBook(world.store, ScopeState()).add(parse_seed(f"http://{name}.test/"))
    assert "http://(test,d,)/, … (SURT)" in world.explain("http://b.test/").meaning


def test_a_refusal_by_a_processor_is_none_by_the_scope():
    world = World()
    url = HOME + "dropped"
    RejectedUris(world.store).add(
        IDENTITY.key(url), Subject(url, "L", HOME, "a/@href"), "drop-short"
    )
    lines = list(explanation_lines(world.explain(url)))
    assert "  answer      not crawled: refused by drop-short" in lines
    head = next(line for line in lines if line.startswith("  scope "))
    assert head.endswith("; the present scope has no such rule")


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
    assert msgspec.convert(to_plain(told), Explanation) == told


def test_politeness_in_words():
    assert politeness_text(PolitenessSettings()) == "5 times the last fetch, 3 to 30 s, 1 at a time"
    fixed = PolitenessSettings(delay=0.5, in_flight=2)
    assert politeness_text(fixed) == "0.5 s between fetches, 2 at a time"


def queued(world: World, url: str, path: str = "L", **facts: object) -> CrawlURI:
    """A URI of the site's queue, seen and with a row there, or waiting for its time."""
    key, queue = IDENTITY.key(url), IDENTITY.queue(HOME)
    due = facts.pop("due", None)
    uri = CrawlURI(url, key, queue, via=HOME, path=path, **facts)  # type: ignore[arg-type]
    identity, number = queue_id(queue), len(path) + 7
    world.store.put("seen", key, b"")
    row = QueueRow(queue, state=QueueState.IN_PROCESS, size=1)
    world.store.put("hosts", _PREFIX + identity, msgspec.msgpack.encode(row))
    if due is None:
        world.store.put("queue", queue_key(identity, uri, number), pack(uri))
    else:
        assert isinstance(due, float)
        world.store.put("future", future_key(due, identity, number), pack_future(uri))
    return uri


def test_behind_a_dead_robots_txt_its_tries_and_the_next_one_are_told():
    world = World()
    queued(world, HOME + "x", last_status=-50)
    due = SystemClock().now() + 95.0
    queued(world, HOME + "robots.txt", "LP", attempts=3, last_status=-2, due=due)
    told = world.explain(HOME + "x")
    assert told.standing is Standing.QUEUED
    assert told.behind is not None
    assert (told.behind.url, told.behind.attempts) == (HOME + "robots.txt", 3)
    assert 80 < (told.behind.wait or 0) <= 95
    text = "\n".join(explanation_lines(told))
    assert f"waits for {HOME}robots.txt, which was tried 3 times (-2: " in text
    assert "; tried again in 1 min" in text
    assert (
        "answer      it waits for robots.txt, which could not be fetched so far: see queue" in text
    )
    assert f"robots.txt  that of {HOME.rstrip('/')} could not be fetched so far: see queue" in text


def test_behind_a_robots_txt_that_was_not_tried():
    world = World()
    queued(world, HOME + "x", last_status=-50)
    queued(world, HOME + "robots.txt", "LP")
    text = "\n".join(explanation_lines(world.explain(HOME + "x")))
    assert "robots.txt, which was not tried yet" in text


def test_what_waits_and_is_denied_is_not_said_to_be_fetched():
    world = World()
    queued(world, HOME + "secret")
    cache = RobotsCache(world.store, fixed(SETTINGS.robots))
    text = b"User-agent: *\nDisallow: /secret\n"
    cache.put("http://a.test", RobotsRow(RobotsState.RULES, 1e12, text, 200))
    lines = list(explanation_lines(world.explain(HOME + "secret")))
    assert "will not be fetched then: robots.txt denies it" in lines[1]


@pytest.mark.parametrize(
    ("status", "last"),
    [
        (200, "HTTP status 200, cut short"),
        (503, "HTTP status 503"),
        (-2, "No connection, or its TLS handshake failed"),
    ],
)
def test_what_is_to_be_tried_again_says_why(status: int, last: str):
    world = World()
    queued(world, HOME + "x", attempts=1, last_status=status, due=SystemClock().now() + 95.0)
    lines = list(explanation_lines(world.explain(HOME + "x")))
    assert lines[1].endswith(f"it waits to be tried again; the last try: {last}")


def test_what_was_deleted_and_imported_again_waits():
    world = World()
    world.done(HOME + "x", HOME, "L", -6000)
    queued(world, HOME + "x")
    assert world.explain(HOME + "x").standing is Standing.QUEUED
    world.done(HOME + "y", HOME, "L", -6000)
    assert world.explain(HOME + "y").standing is Standing.FINISHED


def test_nothing_is_in_process_when_nothing_runs():
    world = World()
    queued(world, HOME + "x")
    told = world.explain(HOME + "x")
    assert (told.standing, told.queue.state) == (Standing.QUEUED, "ready")


def test_a_path_without_a_scheme_is_on_the_site_of_the_seed():
    world = World()
    world.done(HOME)
    world.done(HOME + "TLS_README.html", HOME, "L")
    assert world.explain("TLS_README.html").url == HOME + "TLS_README.html"
    assert world.explain("TLS_README.html").standing is Standing.FINISHED
    assert world.explain("/other.html").url == HOME + "other.html"
    assert world.explain("example.org").url == "https://example.org/"
    assert world.explain("a.test").url == HOME


def test_a_path_that_may_be_on_several_sites_is_listed():
    world = World()
    SeedBook(world.store, ScopeState()).add(parse_seed("https://b.test/"))
    with pytest.raises(
        AmbiguousUrlError, match=r"http://a\.test/x\.html\s+https://b\.test/x\.html"
    ):
        world.explain("x.html")
    world.done("https://b.test/x.html")
    assert world.explain("x.html").url == "https://b.test/x.html"
