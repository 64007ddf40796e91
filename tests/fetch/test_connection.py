import asyncio

import pytest

from nacre.errors import StorageError
from nacre.fetch.connection import Connection


class Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def abort(self) -> None:
        self.aborted = True


class Talk:
    """Remembers what it was told."""

    def __init__(self, error: Exception | None = None) -> None:
        self.told: list[object] = []
        self.over = False
        self.error = error

    def begin(self, transport: asyncio.Transport) -> None:
        self.told.append("begin")

    def received(self, data: bytes) -> None:
        if self.error:
            raise self.error
        self.told.append(data)

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        self.told.append((type(error), clean))

    def fail(self, error: BaseException) -> None:
        self.told.append(error)


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def connection(wire: Wire) -> Connection:
    made = Connection()
    made.connection_made(wire)
    return made


def test_a_conversation_gets_what_comes(connection: Connection, wire: Wire) -> None:
    talk = Talk()
    connection.start(talk, b"GET")
    connection.data_received(b"a")
    connection.eof_received()
    connection.connection_lost(None)
    assert wire.sent == [b"GET"]
    assert talk.told == ["begin", b"a", (type(None), True)]
    assert wire.aborted


def test_an_end_without_a_word(connection: Connection) -> None:
    talk = Talk()
    connection.start(talk, b"GET")
    connection.connection_lost(ConnectionResetError())
    assert talk.told == ["begin", (ConnectionResetError, False)]
    assert not connection.alive


def test_a_dead_connection_says_so_at_once(connection: Connection, wire: Wire) -> None:
    connection.connection_lost(None)
    talk = Talk()
    connection.start(talk, b"GET")
    assert talk.told == [(ConnectionResetError, False)]
    assert wire.sent == []


def test_bytes_for_nobody_end_it(connection: Connection, wire: Wire) -> None:
    talk = Talk()
    connection.start(talk, b"GET")
    talk.over = True
    connection.data_received(b"more")
    assert wire.aborted
    assert talk.told == ["begin"]


def test_a_full_disk_is_told_and_a_bug_too(connection: Connection) -> None:
    full, bug = StorageError("full"), KeyError("bug")
    talk = Talk(full)
    connection.start(talk, b"GET")
    connection.data_received(b"x")
    connection.connection_lost(bug)
    assert talk.told == ["begin", full, bug]
