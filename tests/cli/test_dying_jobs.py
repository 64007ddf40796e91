"""A command that is sent to a dying job reports it in one line."""

import json
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


def nothing(_: socket.socket) -> None:
    """Hang up."""


def half(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b'{"ok": tr')


def garbage(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b"[" * 50_000 + b"\n")


def read_and_gone(connection: socket.socket) -> None:
    connection.recv(1000)


@contextmanager
def dying(job: Path, act: Callable[[socket.socket], None]) -> Iterator[None]:
    """A job that answers so; the first caller of each command only asks whether it runs."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{place}/control")
        server.listen()
        (job / "state").mkdir(exist_ok=True)
        (job / "state" / "control").write_text(json.dumps({"socket": f"{place}/control"}))

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, suppress(OSError):  # who only asks whether it runs is gone
                    act(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            (job / "state" / "control").unlink()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dying") / "job"
    with site(PAGES) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", place, "--quiet").code == 0
    return place


TOLD = {
    "pause": ("pause", "JOB"),
    "resume": ("resume", "JOB"),
    "stop": ("stop", "JOB"),
    "checkpoint": ("checkpoint", "JOB"),
    "parallel": ("parallel", "JOB", 3),
    "set": ("set", "JOB", "limits.documents=9"),
    "delete": ("frontier", "JOB", "delete", "--all"),
    "retire": ("frontier", "JOB", "retire", "--queue", "a.test"),
}
LOOKED = {
    "status": ("status", "JOB"),
    "explain": ("explain", "JOB", "http://a.test/"),
    "report": ("report", "JOB", "hosts"),
}


@pytest.mark.parametrize("act", [nothing, half, garbage, read_and_gone])
@pytest.mark.parametrize("command", [*TOLD, *LOOKED])
def test_a_command_that_meets_a_dying_job_says_so(
    crawled: Path, command: str, act: Callable[[socket.socket], None]
):
    words = [crawled if word == "JOB" else word for word in (TOLD | LOOKED)[command]]
    with dying(crawled, act):
        done = nacre(*words)
    if command in LOOKED and act is not garbage:
        assert done.code == 0, done.err
        assert done.out
        return
    assert done.code == 2
    assert done.err.startswith("nacre: ")
    assert done.err.count("\n") == 1
    if act is not garbage:  # what a job left behind can be deleted when it is gone
        why = "is over: recrawl it" if command == "delete" else "ended without an answer"
        assert why in done.err
