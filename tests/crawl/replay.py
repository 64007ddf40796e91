"""pywb over the WARCs of a crawl, asked for the captures as they were recorded."""

import gzip
import http.client
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.nginx import free_port

JUDGES = Path(__file__).parents[2] / ".venv-judges" / "bin"


def judge(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of the judges' commands."""
    return subprocess.run(
        [str(JUDGES / command[0]), *command[1:]], cwd=cwd, capture_output=True, text=True
    )


@dataclass(frozen=True)
class Replayed:
    status: int
    location: str
    body: bytes


class Replay:
    """A running pywb with one collection."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, url: str, date: str) -> Replayed:
        """A capture, as recorded.

        Args:
            url: Its URL.
            date: Its WARC-Date.
        """
        stamp = "".join(filter(str.isdigit, date))[:14]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=200)
        try:
            connection.request("GET", f"/t/{stamp}id_/{url}")
            reply = connection.getresponse()
            body = reply.read()
        finally:
            connection.close()
        if reply.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return Replayed(reply.status, reply.getheader("Location", ""), body)


@contextmanager
def replaying(warcs: Sequence[Path], folder: Path) -> Iterator[Replay]:
    """Run pywb over some WARCs, or WACZ files, while the context lasts."""
    made = judge("wb-manager", "init", "t", cwd=folder)
    assert made.returncode == 0, made.stderr
    copies = [Path(shutil.copy(path, folder)) for path in warcs]
    unpack = ["--unpack-wacz"] if any(path.suffix == ".wacz" for path in copies) else []
    added = judge("wb-manager", "add", *unpack, "t", *(str(path) for path in copies), cwd=folder)
    assert added.returncode == 0, added.stderr
    port = free_port()
    with (folder / "pywb.log").open("wb") as log:
        process = subprocess.Popen(
            [str(JUDGES / "wayback"), "-p", str(port), "-b", "127.0.0.1"],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
    try:
        _await(process, port, folder / "pywb.log")
        yield Replay(port)
    finally:
        process.terminate()
        process.wait(100)


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(2000):
        assert process.poll() is None, f"pywb ended: {log.read_text()[-2000:]}"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()
    raise AssertionError(f"pywb does not answer: {log.read_text()[-2000:]}")
