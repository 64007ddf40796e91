"""A recorder that is killed: what it had made durable is stored, and nothing is damaged."""

import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from urllib.request import ProxyHandler, build_opener

import pytest

from bench.worlds.world import Reply, html, served
from nacre.archive.reader import WarcReader
from nacre.inspect.stored_job import read_only
from nacre.machine.layout import Layout
from nacre.report.statistics import totals
from tools.nginx import free_port

pytestmark = pytest.mark.kill

CHECKOUT = Path(__file__).parents[2]
KILLS = 3
MANY = 15


class Numbers:
    """Each path has a body of its own."""

    name, start = "numbers", "/"
    truth: frozenset[str] = frozenset()

    def reply(self, path: str) -> Reply:
        return html(f"<p>{path}</p>" + "x" * 20_000)

    def page(self, path: str) -> str:
        return path


def nacre(*args: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def begin(root: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a recorder, and wait until it answers."""
    process = nacre("record", "--out", root, "--listen", f"127.0.0.1:{port}", "--allow-private")
    for _ in range(4000):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return process
        assert process.poll() is None
        time.sleep(0.05)
    raise AssertionError("the recorder does not listen")


def recorded(root: Path) -> int:
    """The requests whose records are durable."""
    with read_only(str(Layout(root).store)) as store:
        return totals(store).recorded


def bodies(root: Path) -> list[bytes]:
    """The paths of all responses that are stored."""
    stored = []
    for path in root.glob("runs/*/archive/*.warc.gz"):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                block = b"".join(iter(entry.read, b""))
                if entry.get("WARC-Type") == "response":
                    stored.append(block.partition(b"<p>")[2].partition(b"</p>")[0])
    return stored


def test_what_a_recorder_received_outlives_it(tmp_path: Path) -> None:
    port, durable, root = free_port(), [], tmp_path / "job"
    opener = build_opener(ProxyHandler({"http": f"http://127.0.0.1:{port}"}))
    with served(Numbers()) as site:

        def fetch(names: list[str]) -> None:
            for name in names:
                try:
                    opener.open(f"{site.url}{name}", timeout=100).read()
                except (OSError, HTTPException):
                    return  # it was killed

        for kill in range(KILLS):
            before = recorded(root) if kill else 0
            process = begin(root, port)
            names = [f"{kill}-{number}" for number in range(MANY)]
            fetch(names)
            while recorded(root) < before + MANY:
                assert process.poll() is None
                time.sleep(0.05)
            durable += names
            late = Thread(target=fetch, args=([f"{kill}-late-{n}" for n in range(500)],))
            late.start()
            time.sleep(0.3)
            process.send_signal(signal.SIGKILL)
            process.wait()
            late.join()
        process = begin(root, port)
        fetch(["last"])
        second = nacre("record", "--out", root, "--listen", "127.0.0.1:0")
        assert second.wait(timeout=200) == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=200) == 0
    stored = bodies(root)
    assert {f"/{name}".encode() for name in (*durable, "last")} <= set(stored)
    assert len(stored) == len(set(stored))
    check = subprocess.run(
        [sys.executable, "-m", "nacre", "archive", str(root), "check"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}, capture_output=True, check=False,
    )  # fmt: skip
    assert check.returncode == 0, check.stdout
