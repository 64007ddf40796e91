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
from nacre.frontier.slots import BUSY, YIELD, SlotTable
from tests.frontier.making import NOW, candidate
from tests.frontier.memory_rows import MemoryRows

HOST = queue_id("com,example,www,")
OTHER = queue_id("com,example,other,")


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def tables(tmp_path: Path, told: list[str]) -> Iterator[tuple[SlotTable, SlotTable]]:
    """Those of two jobs."""
    path = tmp_path / "slots" / "boot"
    one, two = SlotTable(path, told.append), SlotTable(path, told.append)
    yield one, two
    one.close()
    two.close()


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


def test_a_job_that_died_holds_nothing(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "slots"
    dead, alive = SlotTable(path, told.append), SlotTable(path, told.append)
    dead.take(HOST, 1, 0.0)
    dead.close()
    assert alive.take(HOST, 1, 0.0) == 0
    alive.close()


def test_it_is_for_its_user_only(tmp_path: Path, told: list[str]) -> None:
    folder = tmp_path / "slots"
    folder.mkdir(mode=0o777)
    SlotTable(folder / "boot", told.append).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "boot").stat().st_mode) == 0o600


def test_no_link_is_followed(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "boot").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        SlotTable(tmp_path / "boot", told.append)
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_of_another_user(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(PermissionError, match="another user"):
        SlotTable(tmp_path / "slots" / "boot", told.append)


def test_a_table_that_fails_stops_nothing(
    tables: tuple[SlotTable, SlotTable], told: list[str]
) -> None:
    one, _ = tables
    os.close(one._file)
    one._file = os.open("/dev/null", os.O_RDONLY)  # no write lock on it
    assert [one.take(HOST, 1, 0.0), one.take(HOST, 1, 0.0)] == [0, 0]
    one.give(HOST, 5.0)
    assert len(told) == 1
    assert "not shared" in told[0]


# ---- in a frontier


def job(table: SlotTable | None, names: str, delay: float = 3.0) -> Frontier:
    rules = PolitenessSettings(delay=delay)
    front = Frontier(MemoryRows(), fixed(FrontierSettings()), fixed(rules), NOW, 0.0)
    front.courtesy.slots = table
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
