import os
import stat
from pathlib import Path

import pytest

from nacre.frontier.rows import queue_id
from nacre.frontier.shared_slots import ClockReading, SlotTable, last_rest
from nacre.frontier.slot_owners import OwnerNote, SlotOwner, slot_owners, sweep_notes
from nacre.machine.local_files import lock_file

NOW = 1_700_000_000.0
DAY = 86_400.0
HOST = queue_id("com,example,www,")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "slots" / "boot"


def notes(table: Path) -> Path:
    return table.parent.parent / "slot-jobs"


def open_table(table: Path, job: Path | None) -> SlotTable:
    return SlotTable(table, pytest.fail, ClockReading(NOW, 0.0), job)


@pytest.mark.parametrize("name", ["job", "作业", "two\nlines", "\x1b[31m", "a" * 200])
def test_a_job_is_named_until_it_closes(table: Path, tmp_path: Path, name: str):
    job = tmp_path / name
    slots = open_table(table, job)
    (owner,) = slot_owners(table)
    assert (owner.job, owner.pid) == (str(job), os.getpid())
    (note,) = notes(table).iterdir()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    slots.close(())
    assert slot_owners(table) == []
    assert list(notes(table).iterdir()) == []


def test_the_job_that_wrote_a_delay_is_found_by_its_note(table: Path, tmp_path: Path):
    one, two = (open_table(table, tmp_path / name) for name in ("one", "two"))
    one.look(0.0, list)  # lets the other come
    two.look(0.0, list)
    assert one.take(HOST, 1, 10.0) == 0
    one.give(HOST, 14.0)
    until, writer = last_rest(table, HOST)
    jobs = {owner.name: owner.job for owner in slot_owners(table)}
    assert (until, jobs[writer]) == (14.0, str(tmp_path / "one"))
    assert last_rest(table, queue_id("com,example,other,")) == (0.0, 0)
    assert last_rest(tmp_path / "none", HOST) == (0.0, 0)
    one.close(())
    two.close(())


def test_a_note_that_goes_meanwhile_hides_no_other(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    slots = open_table(table, tmp_path / "job")
    (note,) = notes(table).iterdir()
    gone = note.with_name(f"{table.name}.00000000")
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([gone, note]))
    assert [owner.job for owner in slot_owners(table)] == [str(tmp_path / "job")]
    slots.close(())


def test_slots_work_where_no_note_can_be_written(table: Path, tmp_path: Path):
    notes(table).write_text("a file")
    slots = open_table(table, tmp_path / "job")
    assert slots.take(HOST, 1, 0.0) == 0
    slots.close(())
    assert slot_owners(table) == []


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\0" * 50,
        b"12",
        b"12\nrelative",
        b"-1\n/job",
        b"\xb2\n/job",
        b"99999999999\n/job",
        b"1\n/job\0more",
        b"1\n/" + b"a" * 5_000,
    ],
)
def test_a_note_that_is_damaged_names_nobody(table: Path, note: bytes):
    notes(table).mkdir(parents=True)
    path = notes(table) / f"{table.name}.0000000a"
    path.write_bytes(note)
    lock = lock_file(path)
    assert lock is not None
    assert slot_owners(table) == []
    os.close(lock)


def test_other_kinds_of_files_are_left_alone(table: Path, tmp_path: Path):
    folder = notes(table)
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{table.name}.00000001")
    (folder / f"{table.name}.00000002").mkdir()
    (folder / f"{table.name}.00000003").symlink_to(tmp_path / "elsewhere")
    (folder / f"{table.name}.no-number").write_text("1\n/job")
    lock = lock_file(folder / f"{table.name}.no-number")
    note = OwnerNote(table, 7, tmp_path / "job")
    sweep_notes(table, NOW)
    assert slot_owners(table) == [SlotOwner(7, str(tmp_path / "job"), os.getpid())]
    assert len(list(folder.iterdir())) == 5
    note.close()
    assert lock is not None
    os.close(lock)


def test_notes_of_jobs_that_are_gone_are_removed_by_the_next(table: Path, tmp_path: Path):
    folder = notes(table)
    folder.mkdir(parents=True)
    ages = {"boot.00000001": 0, "other.00000001": 1, "older.00000001": 31, "new.00000001": 31}
    for name, days in ages.items():
        (folder / name).write_text("1\n/job")
        os.utime(folder / name, (NOW - days * DAY, NOW - days * DAY))
    assert slot_owners(table) == [], "nobody holds its lock"
    slots = open_table(table, tmp_path / "job")
    left = {path.name for path in folder.iterdir()}
    assert left - {"other.00000001"} == {f"boot.{slot_owners(table)[0].name:08x}"}
    slots.close(())
