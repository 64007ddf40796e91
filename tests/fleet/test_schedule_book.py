"""The schedules in the database, and what became of them."""

import sqlite3
from pathlib import Path

import msgspec

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.schedule_book import (
    MOST_NOTES,
    KeptSchedule,
    ScheduleBook,
    ScheduleNote,
    ScheduleWish,
    due_runs,
    with_note,
)
from nacre.machine.clock import SystemClock
from nacre.messages import Message, message


def test_the_last_twenty_notes_are_kept():
    notes: tuple[ScheduleNote, ...] = ()
    for time in range(1, 31):
        notes = with_note(notes, ScheduleNote(float(time), "skipped"))
    assert [one.time for one in notes] == [float(time) for time in range(30, 30 - MOST_NOTES, -1)]
    assert with_note(notes, notes[0]) == notes
    assert with_note(notes, ScheduleNote()) == notes


def test_what_became_of_a_start_takes_the_place_of_the_start():
    notes = with_note((), ScheduleNote(5.0, "begun"))
    assert with_note(notes, ScheduleNote(5.0, "failed", "no")) == (
        ScheduleNote(5.0, "failed", "no"),
    )


def test_a_run_that_waits_or_was_not_begun_is_due_since_its_time():
    def kept(number: int, path: str, wish: ScheduleWish, *, waits: bool = False) -> KeptSchedule:
        return KeptSchedule(number, path, wish, "anna", 90_000.0, waits, ScheduleNote())

    daily = ScheduleWish("a", "@daily")
    found = [
        kept(1, "/a", daily),
        kept(2, "/a", ScheduleWish("a", "@weekly")),
        kept(3, "/b", daily, waits=True),
        kept(4, "/c", msgspec.structs.replace(daily, paused=True)),
        kept(5, "/d", msgspec.structs.replace(daily, mode="new-job")),
        kept(6, "/e", msgspec.structs.replace(daily, until=100_000.0)),
    ]
    assert due_runs(found) == {"/a": 172_800.0, "/b": 90_000.0}


def test_notes_are_kept_over_a_change_and_a_restart(tmp_path: Path):
    clock = SystemClock()
    for time in (1.0, 2.0, 3.0):
        database = ConsoleDatabase(tmp_path)
        book = ScheduleBook(database, clock)
        number = (
            book.all()[0].id if book.all() else book.add(ScheduleWish("a", "@daily"), "/a", "x")
        )
        book.keep(number, time, ScheduleNote(time, "skipped"), waits=False)
        book.change(number, ScheduleWish("a", "@weekly"), "y")
        (one,) = book.all()
        assert [note.time for note in one.notes] == [3.0, 2.0, 1.0][3 - int(time) :]
        assert one.note == one.notes[0]
        database.close()


def test_the_end_that_an_earlier_version_kept_is_read():
    kept = b'{"job": "a", "at": "@daily", "until": 4102444799.5}'
    wish = msgspec.json.decode(kept, type=ScheduleWish)
    assert (wish.until, wish.end) == ("2099-12-31T23:59:59.500Z", 4102444799.5)


def test_a_database_of_an_earlier_version_has_its_last_note(tmp_path: Path):
    note = msgspec.json.encode(ScheduleNote(7.0, "begun", missed=1))
    wish = msgspec.json.encode(ScheduleWish("a", "@daily"))
    base = sqlite3.connect(tmp_path / "console.db")
    base.execute(
        "CREATE TABLE schedules (id INTEGER PRIMARY KEY, path TEXT NOT NULL, wish BLOB NOT NULL,"
        " owner TEXT NOT NULL, seen REAL NOT NULL, waits INTEGER NOT NULL DEFAULT 0,"
        " note BLOB NOT NULL) STRICT"
    )
    base.execute("INSERT INTO schedules VALUES (1, '/a', ?, 'anna', 7.0, 0, ?)", (wish, note))
    base.commit()
    base.close()
    database = ConsoleDatabase(tmp_path)
    book = ScheduleBook(database, SystemClock())
    (one,) = book.all()
    assert one.notes == (ScheduleNote(7.0, "begun", missed=1),)
    book.keep(1, 9.0, ScheduleNote(9.0, "failed", "why"), waits=False)
    (one,) = book.all()
    assert [kept.time for kept in one.notes] == [9.0, 7.0]
    database.close()


def test_the_text_of_a_note_is_stored_with_its_code(tmp_path: Path):
    database = ConsoleDatabase(tmp_path)
    book = ScheduleBook(database, SystemClock())
    number = book.add(ScheduleWish("a", "@daily"), "/a", "x")
    text = message("job.no-run", "there is no run {number}", number=7)
    for time, note_text in ((1.0, text), (2.0, "no space")):
        book.keep(number, time, ScheduleNote(time, "failed", note_text), waits=False)
    database.close()
    database = ConsoleDatabase(tmp_path)
    schedule = ScheduleBook(database, SystemClock()).find(number)
    assert schedule is not None
    last, first = schedule.notes
    assert (first.text, type(first.text)) == ("there is no run 7", Message)
    assert (last.text, type(last.text)) == ("no space", str)
    # Rows of an earlier version have English texts without codes.
    english = b'{"time":1.0,"what":"failed","text":"there is no run 7","missed":0}'
    database.rows("UPDATE schedules SET note = ?, notes = ?", english, b"[" + english + b"]")
    schedule = ScheduleBook(database, SystemClock()).find(number)
    assert schedule is not None
    assert schedule.note == ScheduleNote(1.0, "failed", "there is no run 7")
    assert schedule.notes == (schedule.note,)
