from contextlib import closing
from pathlib import Path

import pytest

from nacre.errors import StorageError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import WantedKindBook
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import FoundJob, JobPlace
from nacre.fleet.users import UserBook
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.operation import Role


def test_a_console_of_an_earlier_version_goes_on_while_a_command_opens_its_files(tmp_path: Path):
    with closing(ConsoleDatabase(tmp_path)) as earlier:
        earlier.rows("CREATE VIEW known_sessions AS SELECT hash, name, language FROM sessions")
        with closing(ConsoleDatabase(tmp_path)):
            assert earlier.rows("SELECT hash, name, language FROM known_sessions") == []


def roots(database: ConsoleDatabase) -> list[tuple[object, ...]]:
    return database.rows("SELECT root FROM places ORDER BY root")


def write_and_fail(database: ConsoleDatabase, error: BaseException) -> None:
    with database.together():
        database.rows("DELETE FROM places")
        database.rows("INSERT INTO places (root) VALUES ('/b')")
        raise error


def test_what_is_written_together_is_kept_together_or_not_at_all(tmp_path: Path):
    with closing(ConsoleDatabase(tmp_path)) as one, closing(ConsoleDatabase(tmp_path)) as other:
        with one.together():
            one.rows("INSERT INTO places (root) VALUES ('/a')")
            assert roots(other) == []
        assert roots(other) == [("/a",)]
        for error in (StorageError("disk full"), KeyboardInterrupt()):
            with pytest.raises(type(error)):
                write_and_fail(one, error)
        assert roots(one) == roots(other) == [("/a",)]


def refuse_later(database: ConsoleDatabase, table: str) -> None:
    """Have the second row of a table fail, as when the disk becomes full in between."""
    database.rows(
        f"CREATE TRIGGER full BEFORE INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > 0"
        " BEGIN SELECT raise(ABORT, 'disk full'); END"
    )


def test_rows_that_replace_others_are_written_all_or_none(tmp_path: Path):
    job = FoundJob("crawls~demo", "demo", "crawls", Layout(tmp_path / "demo"))
    (tmp_path / "one").mkdir()
    with closing(ConsoleDatabase(tmp_path)) as database:
        wanted, places = WantedKindBook(database), PlaceBook(database)
        wanted.set(job, ("http://a.test/",))
        places.serve([JobPlace("one", tmp_path / "one")])
        refuse_later(database, "wanted_kinds")
        with pytest.raises(StorageError, match="disk full"):
            wanted.set(job, ("http://b.test/", "http://c.test/"))
        assert wanted.of(job) == ("http://a.test/",)
        database.rows("DROP TRIGGER full")
        refuse_later(database, "served")
        with pytest.raises(StorageError, match="disk full"):
            places.serve([JobPlace("two", tmp_path), JobPlace("one", tmp_path / "one")])
        assert places.served() == (JobPlace("one", tmp_path / "one"),)


def test_a_row_of_another_version_hides_no_row_with_another_name(tmp_path: Path):
    with closing(ConsoleDatabase(tmp_path)) as database:
        users = UserBook(database, SystemClock())
        users.add("anna", "hash", Role.ADMIN)
        users.add("bert", "hash", Role.VIEWER)
        database.rows("UPDATE users SET places = '{' WHERE name = 'bert'")
        anna = users.find("anna")
        assert anna is not None
        assert anna.role == "admin"
        for ask in (lambda: users.find("bert"), users.all):
            with pytest.raises(StorageError, match=r"console\.db: users 'bert': "):
                ask()
        database.rows("DELETE FROM users WHERE name = 'bert'")
        assert users.find("bert") is None
        assert [user.name for user in users.all()] == ["anna"]
