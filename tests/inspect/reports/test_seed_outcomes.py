"""What became of each seed: by its own result, by what had to come first, or while it waits."""

from collections.abc import Sequence

import pytest
from msgspec import structs

from nacre.config.effective import fixed
from nacre.core.crawluri import DEAD, CrawlURI
from nacre.core.states import RunCounts, SeedsEnd
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.outcomes import Outcomes
from nacre.engine.seeding.seedbook import SeedBook, listed_rows, put_unreachable, unreachable_seeds
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import Retry
from nacre.inspect.reports.seed_outcomes import (
    SeedOutcome,
    SeedOutcomes,
    SeedState,
    SeedTally,
    all_seeds,
    note_unreachable,
    run_counts,
    tally_seeds,
)
from nacre.report.statistics import Statistics, Stored, totals
from nacre.scope.seeds import Seed, parse_seed
from nacre.scope.state import ScopeState
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.frontier.making import frontier
from tests.inspect.reports.given import RUN
from tests.report.visits import NOW, make_visit
from tests.store.memory import MemoryEngine

SETTINGS = JobSettings()
NAMES = Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))


class World:
    """A store with seeds and what became of URLs."""

    def __init__(self, *seeds: str) -> None:
        self.store = Store(MemoryEngine())
        self.book = SeedBook(self.store, ScopeState())
        self.book.add_all([parse_seed(seed) for seed in seeds])

    def ended(
        self, url: str, status: int, error: str = "", attempts: int = 0, words: Sequence[str] = ()
    ) -> None:
        uri = structs.replace(NAMES.seed(url), attempts=attempts)
        self.store.put("seen", uri.key, b"")
        visit = make_visit(url, status)
        visit = structs.replace(visit, uri=uri, error=error, annotations=list(words))
        Outcomes(self.store).put(visit)

    def ends(self) -> list[SeedOutcome]:
        return list(SeedOutcomes(self.store, NAMES).all())


def test_a_seed_behind_robots_txt_has_the_cause_of_that():
    world = World("http://a.test/x", "http://b.test/")
    world.ended("http://a.test/x", -61, "robots.txt of http://a.test could not be fetched")
    world.ended("http://a.test/robots.txt", -2, "Connection refused (errno 111)", attempts=2)
    world.ended("http://b.test/", -61)
    world.ended("http://b.test/robots.txt", 503)
    one, other = world.ends()
    assert (one.state, one.cause, one.tries) == (SeedState.NO_REPLY, "connection refused", 3)
    assert other.cause == "its robots.txt: the server answered 503 (Service Unavailable)"


def test_a_name_that_does_not_exist():
    world = World("http://a.test/")
    world.ended("http://a.test/", -6, "a.test has no address")
    world.ended("dns:a.test", -1, "a.test: DNS server 10.0.0.1 says NXDOMAIN")
    assert "there is no such name" in world.ends()[0].cause


def test_a_seed_is_judged_by_where_it_leads():
    world = World("http://a.test/", "http://b.test/")
    for number, seed in enumerate(("http://a.test/", "http://b.test/")):
        target = NAMES.seed(f"{seed}new")
        world.book.redirected(structs.replace(target, via=seed))
        world.ended(seed, 301)
        world.ended(target.url, 404 if number else 200)
    got, lost = world.ends()
    assert (got.state, got.url) == (SeedState.GOT, "http://a.test/")
    assert (lost.state, lost.url, lost.target) == (
        SeedState.ERROR,
        "http://b.test/",
        "http://b.test/new",
    )


def test_a_withheld_seed_was_not_got_but_has_a_reply():
    world = World("http://a.test/", "http://b.test/", "http://c.test/")
    words = ["2t", "rightsWithheld:train-ai=n"]
    world.ended("http://a.test/", 200, words=words)
    world.ended("http://b.test/", 404, words=words)
    target = structs.replace(NAMES.seed("http://c.test/new"), via="http://c.test/")
    world.book.redirected(target)
    world.ended("http://c.test/", 301)
    world.ended(target.url, 200, words=words)
    own, lost, led = world.ends()
    assert (own.state, own.cause) == (SeedState.WITHHELD, "withheld by rights.enforce: train-ai=n")
    assert lost.state is SeedState.ERROR
    assert (led.state, led.target) == (SeedState.WITHHELD, "http://c.test/new")
    tally = tally_seeds([own, lost, led], 5)
    assert (tally.got, tally.withheld, tally.errors) == (0, 2, 1)
    assert tally.end is SeedsEnd.GOT
    assert [end.url for end in tally.not_got] == [own.url, lost.url, led.url]


def test_http_stands_in_for_https():
    world = World("a.test")
    world.ended("https://a.test/", -61)
    world.book.stands_in(Seed("http://a.test/", "http://a.test/"), NAMES.seed("https://a.test/"))
    world.ended("http://a.test/", 200)
    (end,) = world.ends()
    assert (end.state, end.url) == (SeedState.GOT, "https://a.test/")
    assert [row.text for row in listed_rows(world.store)] == ["a.test"]


def waiting(world: World, url: str, *, hold: bool) -> CrawlURI:
    """A seed that was tried once and is tried again in ten minutes."""
    front = frontier(world.store, now=NOW)
    front.schedule([NAMES.seed(url)], NOW)
    uri = front.next(NOW, 0)
    assert uri is not None
    refused = Attempt(-2, error="Connection refused (errno 111)")
    front.retry(uri, refused, Retry(NOW + 600, hold), NOW, 0)
    front.save()
    return uri


@pytest.mark.parametrize("hold", [False, True])
def test_a_seed_that_waits_has_its_last_error_and_its_time(hold: bool):
    world = World("http://a.test/", "http://later.test/")
    waiting(world, "http://a.test/", hold=hold)
    tried, untouched = world.ends()
    assert (tried.state, tried.cause, tried.tries) == (SeedState.WAITS, "connection refused", 1)
    assert tried.next_try is not None
    assert tried.next_try >= NOW + 599
    assert untouched.state is SeedState.NOT_DUE


def test_those_that_were_tried_are_named_first():
    ends = [
        SeedOutcome("http://a/", SeedState.WAITS, cause="not tried yet"),
        SeedOutcome("http://b/", SeedState.GOT, 200),
        SeedOutcome("http://c/", SeedState.REFUSED, -9998, "robots.txt says", 1),
        SeedOutcome("http://d/", SeedState.NO_REPLY, -2, "connection refused", 2),
    ]
    tally = tally_seeds(ends, most=2)
    assert [end.url for end in tally.not_got] == ["http://c/", "http://d/"]
    assert (tally.total, tally.got, tally.refused, tally.no_reply, tally.waiting) == (4, 1, 1, 1, 1)
    assert [end.url for end in tally_seeds(ends, most=9).not_got][-1] == "http://a/"


def ended(*seeds: tuple[int | None, str]) -> SeedsEnd:
    """What became of seeds together: each its status (None: not tried), and who redirected to it.

    Seed number n is `http://n.test/`.
    """
    store = Store(MemoryEngine())
    book, outcomes, names = SeedBook(store, ScopeState()), Outcomes(store), NAMES
    for number, (status, redirect_from) in enumerate(seeds):
        uri = structs.replace(names.seed(f"http://{number}.test/"), via=redirect_from)
        if redirect_from:
            book.redirected(uri)
        else:
            book.add(Seed(uri.url, uri.url))
        if status is not None:
            outcomes.put(structs.replace(make_visit(uri.url, status), uri=uri))
    return run_counts(RUN, all_seeds(store, names), totals(store)).seeds


FIRST = "http://0.test/"


@pytest.mark.parametrize(
    ("seeds", "end"),
    [
        ([(200, ""), (404, "")], SeedsEnd.GOT),
        ([(304, "")], SeedsEnd.GOT),
        ([(404, ""), (500, "")], SeedsEnd.ERRONEOUS),
        ([(404, ""), (-2, "")], SeedsEnd.ERRONEOUS),
        ([(-2, ""), (-61, "")], SeedsEnd.NO_REPLY),
        ([(None, "")], SeedsEnd.GOT),
        ([(None, ""), (-2, "")], SeedsEnd.NO_REPLY),
        ([(301, ""), (200, FIRST)], SeedsEnd.GOT),
        ([(301, ""), (404, FIRST)], SeedsEnd.ERRONEOUS),
        ([(301, ""), (-1, FIRST)], SeedsEnd.NO_REPLY),
        ([(301, "")], SeedsEnd.GOT),
        ([(301, ""), (-1, "")], SeedsEnd.GOT),
        ([], SeedsEnd.NO_REPLY),
    ],
)
def test_what_became_of_all_seeds(seeds: list[tuple[int | None, str]], end: SeedsEnd):
    assert ended(*seeds) is end


def test_what_an_exit_code_depends_on():
    store = Store(MemoryEngine())
    statistics = Statistics(store)
    for number, stored in enumerate((Stored.NOVEL, Stored.DUPLICATE, Stored.NOTHING)):
        statistics.count(make_visit(f"http://{number}.test/"), stored, NOW)
    statistics.count(make_visit("http://4.test/", status=-5), Stored.NOTHING, NOW)
    statistics.seal()
    seeds = SeedTally(total=1, got=1)
    counts = run_counts(RUN, seeds, totals(store))
    assert counts == RunCounts(SeedsEnd.GOT, 3, 2, 1)
    again = structs.replace(RUN, mode="incremental")
    assert run_counts(again, seeds, totals(store)).archived is None, "it leaves out what is known"


def ending(world: World, run: int) -> dict[str, int]:
    """The runs without a connection of each seed, at the end of a run."""
    ends = SeedOutcomes(world.store, NAMES).all()
    return {end.url: end.failed_runs for end in note_unreachable(world.store, ends, run)}


def test_runs_without_a_connection_are_counted_until_one_has_it():
    world = World("http://a.test/", "http://b.test/", "https://c.test/", "http://d.test/")
    world.ended("http://a.test/", -2, "Connection refused (errno 111)")
    world.ended("http://b.test/", -61)
    world.ended("http://b.test/robots.txt", 503)
    world.ended("https://c.test/", -5)
    assert set(ending(world, 1).values()) == {0, 1}
    assert ending(world, 1)["http://a.test/"] == 1, "the same run, gone on with"
    assert world.book.marks("http://a.test/") == {}
    assert ending(world, 2)["http://a.test/"] == 2
    assert world.book.marks("http://a.test/") == {DEAD: "1"}
    end = world.ends()[0]
    assert end.dead_text == "no connection in 2 runs, so only two tries"
    assert [one.failed_runs for one in world.ends()] == [2, 0, 0, 0]
    world.ended("http://a.test/", 404)
    assert ending(world, 3)["http://a.test/"] == 0
    assert world.book.marks("http://a.test/") == {}


def test_a_seed_that_a_run_did_not_try_keeps_its_number():
    world = World("http://a.test/")
    world.ended("http://a.test/", -1, "no such name")
    ending(world, 1)
    ending(world, 2)
    other = World("http://a.test/")
    for url, row in unreachable_seeds(world.store).items():
        put_unreachable(other.store, url, row)
    assert ending(other, 3) == {"http://a.test/": 0}
    assert other.book.marks("http://a.test/") == {DEAD: "1"}
