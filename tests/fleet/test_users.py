import sqlite3
from pathlib import Path

import pytest

from nacre.errors import ConfigError, JobError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.fleet.sessions import SessionBook
from nacre.fleet.users import HeritrixKeyBook, UserBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role


@pytest.fixture
def database(tmp_path: Path):
    made = ConsoleDatabase(tmp_path)
    yield made
    made.close()


@pytest.fixture
def users(database: ConsoleDatabase) -> UserBook:
    return UserBook(database, SystemClock())


def test_names_are_one_in_any_case_and_composition(users: UserBook):
    users.add(" Zoe\u0308 ", "hash", Role.ADMIN)
    assert [one.name for one in users.all()] == ["zoë"]
    assert users.find("ZOË") is not None
    with pytest.raises(ConfigError, match="already"):
        users.add("zoë", "hash", Role.VIEWER)
    for name in ("", "a b", "<b>", "../x", "x" * 65, "a\u202e", "-x"):
        with pytest.raises(ConfigError, match="no user name"):
            users.add(name, "hash", Role.VIEWER)


def test_there_is_an_admin_as_long_as_there_are_others(users: UserBook):
    with pytest.raises(JobError, match="first user"):
        users.add("anna", "hash", Role.VIEWER)
    users.add("anna", "hash", Role.ADMIN)
    users.add("bert", "hash", Role.OPERATOR, ["crawls"])
    for change in (
        lambda: users.remove("anna"),
        lambda: users.change("anna", Role.VIEWER, ()),
    ):
        with pytest.raises(JobError, match="last admin"):
            change()
    with pytest.raises(ConfigError, match="sees all places"):
        users.change("bert", Role.ADMIN, ["crawls"])
    users.change("bert", Role.ADMIN, ())
    users.remove("anna")
    users.remove("bert")
    assert users.is_empty
    with pytest.raises(JobError, match="no user"):
        users.remove("bert")


def test_asvs_7_4_a_change_of_a_user_ends_their_sessions(
    database: ConsoleDatabase, users: UserBook
):
    sessions = SessionBook(database, SystemClock())
    users.add("anna", "hash", Role.ADMIN)
    users.add("bert", "hash", Role.VIEWER)
    for change in (
        lambda: users.change("bert", Role.OPERATOR, ("crawls",)),
        lambda: users.set_hash("bert", "other"),
        lambda: users.remove("bert"),
    ):
        secret = sessions.begin("bert", Role.VIEWER, "password")
        other = sessions.begin("anna", Role.ADMIN, "password")
        change()
        assert sessions.find(secret) is None
        assert sessions.find(other) is not None


def test_the_role_of_now_counts_in_a_session(database: ConsoleDatabase, users: UserBook):
    sessions = SessionBook(database, SystemClock())
    users.add("anna", "hash", Role.ADMIN)
    secret = sessions.begin("anna", Role.ADMIN, "password", "192.0.2.1", "browser")
    database.rows("UPDATE users SET role = 'viewer', places = '[\"a\"]'")
    found = sessions.find(secret)
    assert found is not None
    assert (found.identity.role, found.identity.places) == (Role.VIEWER, ("a",))
    database.rows("DELETE FROM users")
    assert sessions.find(secret) is None
    assert sessions.all() == []


def test_a_database_of_an_earlier_version_gets_its_columns(tmp_path: Path):
    with sqlite3.connect(tmp_path / "console.db") as base:
        base.executescript(
            "CREATE TABLE keys (name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE,"
            " role TEXT NOT NULL, made REAL NOT NULL, used REAL NOT NULL) STRICT;"
            "CREATE TABLE sessions (hash TEXT PRIMARY KEY, name TEXT NOT NULL,"
            " role TEXT NOT NULL, token TEXT NOT NULL, made REAL NOT NULL, used REAL NOT NULL,"
            " language TEXT NOT NULL DEFAULT '') STRICT;"
            "INSERT INTO keys VALUES ('old', 'h', 'viewer', 1, 0);"
            "CREATE TABLE heritrix_keys (name TEXT PRIMARY KEY, hash TEXT NOT NULL,"
            " role TEXT NOT NULL) STRICT;"
            "INSERT INTO heritrix_keys VALUES ('old', 'h', 'operator');"
        )
    base.close()
    for _ in range(2):
        database = ConsoleDatabase(tmp_path)
        (key,) = KeyBook(database, SystemClock()).all()
        assert (key.name, key.places) == ("old", ())
        asker, kept = HeritrixKeyBook(database).find("old")
        assert (asker.role, asker.places, kept) == (Role.OPERATOR, (), "h")
        secret = SessionBook(database, SystemClock()).begin("anna", Role.ADMIN)
        assert SessionBook(database, SystemClock()).find(secret) is not None
        database.close()


def test_a_language_is_kept_with_the_user_and_with_the_session_of_a_link(
    database: ConsoleDatabase, users: UserBook
):
    sessions = SessionBook(database, SystemClock())
    users.add("anna", "hash", Role.ADMIN)
    secrets = [sessions.begin("anna", Role.ADMIN, how) for how in ("password", "password", "link")]
    first, link = sessions.find(secrets[0]), sessions.find(secrets[2])
    assert first is not None
    assert link is not None
    sessions.speak(first.identity, "zh_CN")

    def spoken() -> list[str]:
        found = [sessions.find(secret) for secret in secrets]
        return [one.language for one in found if one is not None]

    assert spoken() == ["zh_CN", "zh_CN", ""]
    sessions.speak(link.identity, "en")
    assert spoken() == ["zh_CN", "zh_CN", "en"]
    secrets.append(sessions.begin("anna", Role.ADMIN, "password"))
    assert spoken()[-1] == "zh_CN"
