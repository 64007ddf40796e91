import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.frontier.shared_slots import (
    BUSY,
    CALM,
    PATIENCE,
    YIELD,
    ClockReading,
    OccupiedQueue,
    SlotTable,
)
from tests.frontier.making import NOW, candidate
from tests.frontier.memory_rows import MemoryRows

HOST = queue_id("com,example,www,")
OTHER = queue_id("com,example,other,")


def table(path: Path, told: list[str], mono: float = 0.0) -> SlotTable:
    return SlotTable(path, told.append, ClockReading(NOW, mono))


def nothing() -> list[OccupiedQueue]:
    return []


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def tables(tmp_path: Path, told: list[str]) -> Iterator[tuple[SlotTable, SlotTable]]:
    """Those of two jobs."""
    path = tmp_path / "slots" / "boot"
    one, two = table(path, told), table(path, told)
    one.look(0.0, nothing)  # lets the other come
    two.look(0.0, nothing)
    assert not one.is_free
    yield one, two
    one.close(())
    two.close(())


def test_one_slot_is_one_job_s(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = tables
    assert one.take(HOST, 1, 0.0) == 0
    assert two.take(HOST, 1, 0.0) == BUSY
    assert two.take(OTHER, 1, 0.0) == 0
    one.give(HOST, 0.0)
    assert two.take(HOST, 1, 0.0) == 0
    assert one.take(HOST, 1, 0.0) == BUSY


def test_the_rest_of_a_host_holds_for_the_other_job(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = tables
    one.take(HOST, 1, 10.0)
    one.give(HOST, 14.0)
    assert two.take(HOST, 1, 11.0) == 3.0
    assert two.take(HOST, 1, 14.0) == 0


def test_who_has_had_its_turn_lets_the_other_go_first_once(
    tables: tuple[SlotTable, SlotTable],
) -> None:
    one, two = tables
    one.take(HOST, 1, 10.0)
    assert two.take(HOST, 1, 10.5) == BUSY
    one.give(HOST, 14.0)
    assert one.take(HOST, 1, 14.0) == YIELD
    assert one.take(HOST, 1, 14.0 + YIELD) == 0  # the other did not come


def test_alone_it_never_waits(tables: tuple[SlotTable, SlotTable]) -> None:
    one, _ = tables
    for mono in range(5):
        assert one.take(HOST, 1, float(mono)) == 0
        one.give(HOST, mono + 100.0)


def test_several_slots(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = tables
    assert [one.take(HOST, 2, 0.0) for _ in range(3)] == [0, 0, BUSY]
    assert two.take(HOST, 2, 0.0) == BUSY
    assert two.take(HOST, 3, 0.0) == 0  # it may have more
    one.give(HOST, 9.0)
    one.give(HOST, 5.0)
    assert two.take(HOST, 3, 6.0) == 3.0  # the longer rest holds


def test_a_job_that_died_holds_nothing(tables: tuple[SlotTable, SlotTable]) -> None:
    dead, alive = tables
    dead.take(HOST, 1, 0.0)
    os.close(dead._file._file)
    assert alive.take(HOST, 1, 0.0) == 0
    dead._file._file = os.open(os.devnull, os.O_RDONLY)


def test_it_is_for_its_user_only(tmp_path: Path, told: list[str]) -> None:
    folder = tmp_path / "slots"
    folder.mkdir(mode=0o777)
    table(folder / "boot", told).close(())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "boot").stat().st_mode) == 0o600


def test_no_link_is_followed(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "boot").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        table(tmp_path / "boot", told)
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_of_another_user(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(PermissionError, match="another user"):
        table(tmp_path / "slots" / "boot", told)


def test_a_table_that_fails_stops_nothing(
    tables: tuple[SlotTable, SlotTable], told: list[str]
) -> None:
    one, _ = tables
    os.close(one._file._file)
    one._file._file = os.open(os.devnull, os.O_RDONLY)  # no lock of one's own on it
    assert [one.take(HOST, 1, 0.0), one.take(HOST, 1, 0.0)] == [0, 0]
    one.give(HOST, 5.0)
    assert len(told) == 1
    assert "not shared" in told[0]


# ---- who is there


def test_who_is_alone_needs_no_table(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "boot"
    one = table(path, told)
    assert one.is_free
    assert [one.take(HOST, 1, 0.0) for _ in range(3)] == [0, 0, 0]
    assert path.stat().st_size == 0
    one.close(())


def test_who_comes_waits_until_it_was_told(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "boot"
    one = table(path, told)
    two = table(path, told)
    two.look(0.5, nothing)
    assert two.take(OTHER, 1, 0.5) == BUSY
    one.look(1.0, lambda: [OccupiedQueue(HOST, 1, 0.0), OccupiedQueue(OTHER, 0, 9.0)])
    assert not one.is_free
    two.look(1.0, nothing)
    assert two.take(HOST, 1, 1.0) == BUSY  # the other's fetch
    assert two.take(OTHER, 1, 1.0) == 8.0  # the other's delay
    one.give(HOST, 0.0)
    assert two.take(HOST, 1, 1.0) == 0
    one.close(())
    two.close(())


def test_who_is_left_alone_heeds_the_rests_for_a_while(
    tables: tuple[SlotTable, SlotTable], told: list[str]
) -> None:
    one, two = tables
    two.take(HOST, 1, 1.0)
    two.give(HOST, 40.0)
    two._file.close()
    one.look(2.0, nothing)
    one.look(2.0 + CALM - 1, nothing)
    assert one.take(HOST, 1, 3.0) == 37.0
    one.look(2.0 + CALM, nothing)
    assert one.is_free
    two._file._file = os.open(os.devnull, os.O_RDONLY)


def test_a_job_that_was_stopped_is_not_waited_for(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "boot"
    stopped, two = table(path, told), table(path, told)
    two.look(PATIENCE - 1, nothing)
    assert two.take(HOST, 1, PATIENCE) == BUSY
    two.look(PATIENCE + 1, nothing)
    assert two.take(HOST, 1, PATIENCE) == 0
    stopped.look(
        60.0, lambda: [OccupiedQueue(HOST, 1, 0.0)]
    )  # it goes on, and cannot have the slot
    two.look(60.0, nothing)
    assert stopped.take(HOST, 1, 60.0) == BUSY
    stopped.close(())
    two.close(())


def test_the_next_job_heeds_the_rests_of_the_last(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "boot"
    table(path, told).close([OccupiedQueue(HOST, 0, 30.0)])
    after = table(path, told, 10.0)
    assert not after.is_free
    assert after.take(HOST, 1, 10.0) == 20.0
    after.close(())


# ---- in a frontier


def job(table: SlotTable, names: str, delay: float = 3.0) -> Frontier:
    rules = PolitenessSettings(delay=delay)
    front = Frontier(MemoryRows(), fixed(FrontierSettings()), fixed(rules), NOW, 0.0, slots=table)
    front.schedule([candidate(name, str(n)) for name in names for n in range(3)], NOW)
    return front


def asked(front: Frontier, mono: float) -> CrawlURI:
    uri = ask(front, mono)
    assert uri is not None
    return uri


def ask(front: Frontier, mono: float) -> CrawlURI | None:
    return front.next(NOW + mono, mono)


def test_two_jobs_take_turns(tables: tuple[SlotTable, SlotTable]) -> None:
    jobs = [job(table, "a") for table in tables]
    out: dict[int, tuple[CrawlURI, float]] = {}
    fetches: list[tuple[float, float, int]] = []
    mono = 0.0
    while len(fetches) < 6:
        for number, front in enumerate(jobs):
            if number in out and mono - out[number][1] >= 0.5:
                uri, began = out.pop(number)
                front.finished(uri, Attempt(200, 3.0), mono)
                fetches.append((began, mono, number))
            taken = None if number in out else ask(front, mono)
            if taken is not None:
                out[number] = taken, mono
        mono += 0.01
    begun, ended = [f[0] for f in fetches], [f[1] for f in fetches]
    gaps = [b - e for b, e in zip(begun[1:], ended, strict=False)]
    assert all(3.0 <= gap < 3.05 for gap in gaps)
    assert [f[2] for f in fetches] == [0, 1, 0, 1, 0, 1]


def test_other_hosts_go_on_meanwhile(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = job(tables[0], "ab"), job(tables[1], "ac")
    assert asked(one, 0.0).queue == "a,"
    assert asked(two, 0.0).queue == "c,"
    assert ask(two, 0.0) is None
    assert two.next_wake(0.0) == pytest.approx(BUSY)


def test_without_a_delay_nothing_is_shared(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = job(tables[0], "a", delay=0.0), job(tables[1], "a", delay=0.0)
    assert asked(one, 0.0).queue == asked(two, 0.0).queue == "a,"


def test_a_deferred_uri_gives_the_slot_back(tables: tuple[SlotTable, SlotTable]) -> None:
    one, two = job(tables[0], "a"), job(tables[1], "a")
    uri = asked(one, 0.0)
    one.deferred(uri, None, 0.0)
    assert asked(two, 0.0).queue == "a,"


def test_a_job_that_comes_is_told_what_another_does(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "boot"
    one = job(table(path, told), "ab")
    busy, done = asked(one, 0.0), asked(one, 0.0)
    one.finished(done, Attempt(200, 3.0), 1.0)
    two = job(table(path, told), "ab")
    assert ask(two, 1.0) is None
    one.politeness.look(1.5)
    two.politeness.look(1.5)
    assert ask(two, 1.5) is None
    one.finished(busy, Attempt(200, 5.0), 2.0)
    assert ask(two, 3.9) is None
    assert asked(two, 4.0).queue == done.queue
    assert ask(two, 6.9) is None
    assert asked(two, 7.0).queue == busy.queue
    one.politeness.leave()
    two.politeness.leave()
