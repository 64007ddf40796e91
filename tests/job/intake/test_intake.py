import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from nacre.frontier.listing import pending
from nacre.job.configuration.settings import JobSettings
from nacre.job.intake.intake import Intake, Line, Options, Tally, Way
from tests.job.opened import opened

JOURNAL = """
# cut out of a journal
F+ http://b.test/done L http://b.test/
F+ http://b.test/failed L http://b.test/
F+ http://b.test/robots.txt P http://b.test/
F+ http://b.test/waits LL http://b.test/done
Fe http://b.test/done
Fs http://b.test/done L http://b.test/
Ff http://b.test/failed L http://b.test/
Fi http://b.test/noted
T 20261120151100
nonsense
"""
LOG = """
2026-11-20T15:11:00.000Z   200       1234 http://b.test/a L http://b.test/ text/html #001 - - - -
2026-11-20T15:11:00.000Z    -2          - http://b.test/down LL http://b.test/a - #001 - - - -
2026-11-20T15:11:00.000Z -9998          - http://b.test/not L http://b.test/a - #001 - - - -
2026-11-20T15:11:00.000Z   200          9 http://b.test/robots.txt P http://b.test/ - #001 - - - -
2026-11-20T15:11:00.000Z   404          9 http://b.test/seed - - text/html #001 - - - -
something else
"""


def take(
    root: Path, passes: Sequence[Options], text: str, **settings: object
) -> tuple[Tally, list[str], list[str]]:
    """The tally, what waits beside the seed, and what was rejected."""

    async def play() -> tuple[Tally, list[str], list[str]]:
        tally, told = Tally(), []
        async with opened(root, JobSettings.model_validate(settings)) as session:
            for options in passes:
                intake = Intake(session.parts, options, tally)
                lines = [Line(n, each) for n, each in enumerate(text.splitlines(), 1)]
                told += [f"{n}: {why}" for n, _, why in intake.take(lines)]
            uris = [entry.uri for entry in pending(session.parts.store)]
        waits = [f"{u.url} {u.path} {u.via}".strip() for u in uris if u.queue != "test,a,"]
        return tally, sorted(waits), told

    return asyncio.run(play())


def test_a_recovery_journal_in_two_passes(tmp_path: Path):
    both = [Options(Way.FINISHED), Options(Way.PENDING)]
    tally, waits, told = take(tmp_path, both, JOURNAL)
    assert waits == [
        "http://b.test/failed L http://b.test/",
        "http://b.test/waits LL http://b.test/done",
    ]
    assert told == ["12: neither a URI nor a line of a journal"]
    assert tally == Tally(lines=10, scheduled=2, known=1, done=2, passed=4, rejected=1)


def test_failures_may_be_retained(tmp_path: Path):
    both = [Options(way, retain_failures=True) for way in (Way.FINISHED, Way.PENDING)]
    tally, waits, _ = take(tmp_path, both, JOURNAL)
    assert waits == ["http://b.test/waits LL http://b.test/done"]
    assert (tally.done, tally.scheduled, tally.known) == (3, 1, 2)


def test_a_crawl_log(tmp_path: Path):
    tally, waits, told = take(tmp_path, [Options(Way.CRAWL_LOG)], LOG)
    assert waits == ["http://b.test/down LL http://b.test/a"]
    assert told == ["7: no line of a crawl.log: time, status, size, URI, path, via …"]
    assert tally == Tally(lines=6, scheduled=1, done=3, passed=1, rejected=1)


@pytest.mark.parametrize(
    ("way", "waits", "done"),
    [
        (Way.SCHEDULE, ["http://b.test/x", "http://b.test/y L"], 0),
        (Way.INCLUDE, [], 2),
        (Way.IMPORT, ["http://b.test/x"], 1),
    ],
)
def test_plain_lines(tmp_path: Path, way: Way, waits: list[str], done: int):
    lines = "http://b.test/x\nFs http://b.test/y L\nhttp://[\nF+ http://b.test/z x+L\n"
    tally, found, told = take(tmp_path, [Options(way)], lines)
    assert (found, tally.done) == (waits, done)
    assert told[0].startswith("3: no URI:")
    assert told[1] == "4: 'x+L' is no hop path"


def test_what_was_seen_comes_again_by_force_only(tmp_path: Path):
    twice = "http://b.test/x\nhttp://b.test/x\n"
    assert take(tmp_path / "1", [Options(Way.SCHEDULE)], twice)[0].scheduled == 1
    assert take(tmp_path / "2", [Options(Way.FORCE)], twice)[0].scheduled == 2


def test_the_scope_is_asked_where_that_is_wanted(tmp_path: Path):
    lines = "http://a.test/in\nhttp://b.test/out\n"
    for way in (Way.SCHEDULE, Way.INCLUDE):
        tally, _, told = take(tmp_path / way, [Options(way, scoped=True)], lines)
        assert (tally.scheduled + tally.done, tally.rejected) == (1, 1)
        assert told[0].startswith("2: out of scope, by the rule ")


def test_seeds_directives_and_what_is_neither(tmp_path: Path):
    lines = "b.test\n# a comment\n+http://(test,c,\nhttp://a.test/\nhttp://[\n"
    tally, waits, told = take(tmp_path, [Options(Way.SEEDS)], lines)
    assert waits == ["https://b.test/"]
    assert tally == Tally(lines=4, scheduled=1, known=1, done=1, rejected=1)
    assert told[0].startswith("5: ")
    scoped = take(tmp_path / "scoped", [Options(Way.SEEDS, scoped=True)], "http://b.test/\n")
    assert scoped[0].rejected == 1


def test_a_line_that_is_no_text(tmp_path: Path):
    async def play() -> list[str]:
        async with opened(tmp_path) as session:
            return [
                why
                for way in (Way.SCHEDULE, Way.SEEDS)
                for _, _, why in Intake(session.parts, Options(way)).take([Line(1, None)])
            ]

    first, second = asyncio.run(play())
    assert first == "longer than 64 kB, or not UTF-8"
    assert second
