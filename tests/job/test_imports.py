import asyncio
import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from nacre.frontier.pending import pending
from nacre.job.imports import (
    LONGEST,
    DamagedFileError,
    ImportMode,
    ImportOptions,
    ImportTally,
    InputLine,
    LineFile,
)
from nacre.settings.settings import JobSettings
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
DATA = b"one\n\xff\xfe\n" + b"x" * (LONGEST * 2 + 7) + b"\nfour\nlast without end"


def take(
    root: Path, passes: Sequence[ImportOptions], text: str, **settings: object
) -> tuple[ImportTally, list[str], list[str]]:
    """The tally, what waits beside the seed, and what was rejected."""

    async def play() -> tuple[ImportTally, list[str], list[str]]:
        tally, told = ImportTally(), []
        async with opened(root, JobSettings.model_validate(settings)) as session:
            for options in passes:
                intake = session.editor.importer(options, tally)
                lines = [InputLine(n, each) for n, each in enumerate(text.splitlines(), 1)]
                told += [f"{n}: {why}" for n, _, why in intake.take(lines)]
            uris = [entry.uri for entry in pending(session.storing.store)]
        waits = [f"{u.url} {u.path} {u.via}".strip() for u in uris if u.queue != "test,a,"]
        return tally, sorted(waits), told

    return asyncio.run(play())


def test_a_recovery_journal_in_two_passes(tmp_path: Path):
    both = [ImportOptions(ImportMode.FINISHED), ImportOptions(ImportMode.PENDING)]
    tally, waits, told = take(tmp_path, both, JOURNAL)
    assert waits == [
        "http://b.test/failed L http://b.test/",
        "http://b.test/waits LL http://b.test/done",
    ]
    assert told == ["12: neither a URI nor a line of a journal"]
    assert tally == ImportTally(lines=10, scheduled=2, known=1, done=2, passed=4, rejected=1)


def test_failures_may_be_retained(tmp_path: Path):
    both = [
        ImportOptions(way, retain_failures=True)
        for way in (ImportMode.FINISHED, ImportMode.PENDING)
    ]
    tally, waits, _ = take(tmp_path, both, JOURNAL)
    assert waits == ["http://b.test/waits LL http://b.test/done"]
    assert (tally.done, tally.scheduled, tally.known) == (3, 1, 2)


def test_a_crawl_log(tmp_path: Path):
    tally, waits, told = take(tmp_path, [ImportOptions(ImportMode.CRAWL_LOG)], LOG)
    assert waits == ["http://b.test/down LL http://b.test/a"]
    assert told == ["7: not a line of a crawl.log: time, status, size, URI, path, via …"]
    assert tally == ImportTally(lines=6, scheduled=1, done=3, passed=1, rejected=1)


@pytest.mark.parametrize(
    ("way", "waits", "done"),
    [
        (ImportMode.SCHEDULE, ["http://b.test/x", "http://b.test/y L"], 0),
        (ImportMode.INCLUDE, [], 2),
        (ImportMode.IMPORT, ["http://b.test/x"], 1),
    ],
)
def test_plain_lines(tmp_path: Path, way: ImportMode, waits: list[str], done: int):
    lines = "http://b.test/x\nFs http://b.test/y L\nhttp://[\nF+ http://b.test/z x+L\n"
    tally, found, told = take(tmp_path, [ImportOptions(way)], lines)
    assert (found, tally.done) == (waits, done)
    assert told[0].startswith("3: not a URI:")
    assert told[1] == "4: 'x+L' is not a hop path"


def test_what_was_seen_comes_again_by_force_only(tmp_path: Path):
    twice = "http://b.test/x\nhttp://b.test/x\n"
    assert take(tmp_path / "1", [ImportOptions(ImportMode.SCHEDULE)], twice)[0].scheduled == 1
    assert take(tmp_path / "2", [ImportOptions(ImportMode.FORCE)], twice)[0].scheduled == 2


def test_the_scope_is_asked_where_that_is_wanted(tmp_path: Path):
    lines = "http://a.test/in\nhttp://b.test/out\n"
    for way in (ImportMode.SCHEDULE, ImportMode.INCLUDE):
        tally, _, told = take(tmp_path / way, [ImportOptions(way, scoped=True)], lines)
        assert (tally.scheduled + tally.done, tally.rejected) == (1, 1)
        assert told[0].startswith("2: out of scope, by the rule ")


def test_seeds_directives_and_what_is_neither(tmp_path: Path):
    lines = "b.test\n# a comment\n+http://(test,c,\nhttp://a.test/\nhttp://[\n"
    tally, waits, told = take(tmp_path, [ImportOptions(ImportMode.SEEDS)], lines)
    assert waits == ["https://b.test/"]
    assert tally == ImportTally(lines=4, scheduled=1, known=1, done=1, rejected=1)
    assert told[0].startswith("5: ")
    scoped = take(
        tmp_path / "scoped", [ImportOptions(ImportMode.SEEDS, scoped=True)], "http://b.test/\n"
    )
    assert scoped[0].rejected == 1


def test_a_line_that_is_no_text(tmp_path: Path):
    async def play() -> list[str]:
        async with opened(tmp_path) as session:
            return [
                why
                for way in (ImportMode.SCHEDULE, ImportMode.SEEDS)
                for _, _, why in session.editor.importer(ImportOptions(way)).take(
                    [InputLine(1, None)]
                )
            ]

    first, second = asyncio.run(play())
    assert first == "longer than 64 kB, or not UTF-8"
    assert second


@pytest.mark.parametrize("packed", [False, True])
def test_read_in_portions_from_any_place_on(tmp_path: Path, packed: bool):
    path = tmp_path / ("lines.gz" if packed else "lines")
    path.write_bytes(gzip.compress(DATA) if packed else DATA)
    found, position, number = [], 0, 0
    while True:
        with LineFile(path, position, number) as file:
            file.go()
            lines = file.portion(2)
            position, number = file.position, file.number
        if not lines:
            break
        found += lines
    assert found == [(1, "one\n"), (2, None), (3, None), (4, "four\n"), (5, "last without end")]
    assert position == len(DATA)


def test_what_can_be_read_of_a_damaged_file_is_read(tmp_path: Path):
    path = tmp_path / "lines.gz"
    packed = gzip.compress(b"".join(b"line %d\n" % n for n in range(20_000)))
    path.write_bytes(packed[: len(packed) // 2])
    with LineFile(path) as file:
        file.go()
        with pytest.raises(DamagedFileError):
            _exhaust(file)
        assert 1000 < file.number < 20_000


def _exhaust(file: LineFile) -> None:
    while file.portion(300):
        pass
