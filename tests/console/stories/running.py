"""A console and crawls as processes of their own, as an operator has them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Self

import httpx

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.fleet.sessions import SessionBook
from nacre.job.control import is_running
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import nacre

_LINK: Final = re.compile(r"http://localhost:\d+/#k=\S+")


class ConsoleProcess:
    """A process `nacre console` on the jobs below a folder; it can be killed and started again.

    Attributes:
        crawls: Folder of the jobs.
        state: Folder of its own files.
        url: Its URL, with a slash at its end; the same after a restart.
        link: The link that logs in once.
        heritrix: URL of its Heritrix port; "" for none.
        label: What the ids of its jobs begin with.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self.crawls = folder / "crawls"
        self.state = folder / "console"
        self.crawls.mkdir(exist_ok=True)
        self.url = ""
        self.link = ""
        self.heritrix = ""
        self.label = "crawls"
        self._options = options
        self._log = folder / "console.log"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait for its link."""
        port = self.url.rpartition(":")[2].strip("/") or "0"
        arguments = [
            sys.executable, "-m", "nacre", "console", str(self.crawls),
            "--state", str(self.state), "--port", port, *self._options,
        ]  # fmt: skip
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                arguments, stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "300"},
            )  # fmt: skip
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := _LINK.search(line):
                self.link = found[0]
                self.url = found[0].partition("#")[0]
            if found := re.search(r"https://localhost:\d+/engine", line):
                self.heritrix = found[0]
            if "only this machine" in line:
                return
        raise AssertionError(f"no console: {self._log.read_text()}")

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """`kill -9`, as if the machine ran out of memory."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def session(self, role: Role = Role.ADMIN, name: str = "anna") -> str:
        """The secret of a new session of somebody."""
        with closing(ConsoleDatabase(self.state)) as database:
            return SessionBook(database, SystemClock()).begin(name, role)

    def id_of(self, name: str) -> str:
        """The id of a job below the folder of its jobs."""
        return f"{self.label}~{name}"

    @contextmanager
    def for_jobs(self, crawls: Path) -> Iterator[Self]:
        """This console with one more folder of jobs, which is its own while the block runs.

        What is below the folder already is found.
        """
        crawls.mkdir(exist_ok=True)
        before = self.crawls, self.label
        with closing(ConsoleDatabase(self.state)) as database:
            key = KeyBook(database, SystemClock()).add(str(crawls), Role.ADMIN)
        fields = {"authorization": f"Bearer {key}"}
        with httpx.Client(base_url=self.url, headers=fields, timeout=60, trust_env=False) as client:
            made = client.post("api/v1/places", json={"directory": str(crawls)})
            assert made.status_code == 201, made.text
            self.crawls, self.label = crawls, made.json()["label"]
            try:
                yield self
            finally:
                client.delete(f"api/v1/places/{self.label}")
                self.crawls, self.label = before

    @property
    def log(self) -> str:
        """All that it wrote to stderr."""
        return self._log.read_text()


def until(true: Callable[[], object], seconds: float = 200) -> None:
    """Wait until something is true; the time is a limit, and no test is about it."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


@contextmanager
def console_of(folder: Path, *options: str) -> Iterator[ConsoleProcess]:
    """A console that answers, and is ended."""
    made = ConsoleProcess(folder, *options)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def command(*arguments: object) -> str:
    """Run `nacre ARGUMENTS` in a thread: the browser's driver has the event loop of this one.

    Returns:
        What it printed.
    """
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(nacre, *arguments).result()
    assert done.code == 0, done.err
    return done.out


def new_job(root: Path, url: str, *settings: str) -> Path:
    """A job that never ran, for a site on the loopback, with `NAME=VALUE` settings."""
    root.parent.mkdir(exist_ok=True)
    allowed = ["network.allow=[127.0.0.0/8]", *settings]
    command("new", root, url, *(part for one in allowed for part in ("--set", one)))
    return root


def finished_job(root: Path, url: str, *settings: str) -> Path:
    """A job that crawled a site to its end."""
    new_job(root, url, "politeness.delay=0s", *settings)
    _ended("run", root, "-q")
    return root


def batch_crawl(root: Path, url: str) -> Path:
    """A batch crawl of a site on the loopback, with one round behind it."""
    root.parent.mkdir(exist_ok=True)
    wanted = ("cycle.buckets=1", "network.allow=[127.0.0.0/8]")
    settings = (part for one in wanted for part in ("--set", one))
    _ended("cycle", root, "-s", url, "--rounds", 1, "--units", 1, "--delay", 0, *settings)
    return root


def _ended(*arguments: object) -> None:
    """A command that ended well, in a process: a crawl takes the signals of its main thread."""
    program = (sys.executable, "-m", "nacre", *map(str, arguments))
    done = subprocess.run(
        program, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def running_job(root: Path, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that crawls, which answers commands; it is killed at the end."""
    program: Sequence[str] = (sys.executable, "-m", "nacre", "run", str(root), "-q", *arguments)
    process = subprocess.Popen(program, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        until(lambda: is_running(Layout(root).socket))
        yield process
    finally:
        process.kill()
        process.wait()
