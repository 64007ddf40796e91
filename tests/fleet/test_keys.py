from pathlib import Path

import pytest

from nacre.errors import ConfigError, StorageError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import LINK_LIFE, KeyBook
from nacre.fleet.requester import NOBODY, Requester
from nacre.fleet.sessions import IDLE, LIFE, SessionBook
from nacre.ops.operation import Role


class GivenClock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> GivenClock:
    return GivenClock()


@pytest.fixture
def database(tmp_path: Path):
    made = ConsoleDatabase(tmp_path / "state" / "console")
    yield made
    made.close()


def test_asvs_14_2_only_the_owner_can_read_the_database(database: ConsoleDatabase):
    assert database.path.stat().st_mode & 0o077 == 0
    assert database.path.parent.stat().st_mode & 0o077 == 0


def test_a_link_works_once_and_for_five_minutes(database: ConsoleDatabase, clock: GivenClock):
    keys = KeyBook(database, clock)
    first, second = keys.new_link(), keys.new_link()
    assert keys.use_link(first)
    assert not keys.use_link(first)
    clock.time += LINK_LIFE
    assert not keys.use_link(second)
    assert not keys.use_link("")


def test_a_key_is_known_by_its_hash(database: ConsoleDatabase, clock: GivenClock):
    keys = KeyBook(database, clock)
    secret = keys.add("脚本", Role.OPERATOR)
    assert keys.identify(secret) == Requester("脚本", Role.OPERATOR, "key")
    assert keys.identify(secret + "x") == keys.identify("") == NOBODY
    (known,) = keys.all()
    assert (known.name, known.role, known.used) == ("脚本", "operator", clock.time)
    assert secret.encode() not in database.path.read_bytes()
    with pytest.raises(ConfigError, match="key remove 脚本"):
        keys.add("脚本", Role.VIEWER)
    with pytest.raises(ConfigError, match="needs a name"):
        keys.add(" ", Role.VIEWER)
    assert keys.remove("脚本")
    assert not keys.remove("脚本")
    assert keys.identify(secret) == NOBODY


def test_asvs_7_3_a_session_ends_by_itself(database: ConsoleDatabase, clock: GivenClock):
    sessions = SessionBook(database, clock)
    idle, used = sessions.begin("anna", Role.ADMIN), sessions.begin("anna", Role.ADMIN)
    clock.time += IDLE - 1
    assert sessions.find(used) is not None
    clock.time += 2
    assert sessions.find(idle) is None
    found = sessions.find(used)
    assert found is not None
    assert (found.identity.name, found.identity.role) == ("anna", Role.ADMIN)
    for _ in range(int(LIFE // IDLE)):
        clock.time += IDLE
        sessions.find(used)
    clock.time += 1
    assert sessions.find(used) is None
    assert sessions.find("") is None


def test_a_database_that_cannot_be_used_is_an_error(tmp_path: Path):
    (tmp_path / "console.db").write_bytes(b"no database" * 100)
    with pytest.raises(StorageError, match="--state names another folder"):
        ConsoleDatabase(tmp_path)
