"""A console that is killed at any moment: nothing is half-written, and no job is started twice."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from tests.cli.site import many_pages, nacre, site
from tests.console.stories.running import ConsoleProcess, new_job, until

LONGEST = 0.8
"""Seconds after the requests at which the console is killed, at most."""
SLOW = "politeness.delay=600s"
Ask = Callable[[httpx.Client], object]
"""A request to the console."""


@pytest.mark.kill
@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_nothing_is_half_written_and_no_job_is_started_twice(tmp_path: Path, kills: int):
    draw = random.Random(20_261_124)
    console = ConsoleProcess(tmp_path, "--max-running", "100")
    crawls = console.crawls
    with site(many_pages(40)) as url:
        edited, asked = new_job(crawls / "edited", url, SLOW), list[Path]()
        texts = {(edited / "crawl.yaml").read_text()}
        lists = {(edited / "seeds.txt").read_text()}
        usual = {one.name for one in edited.iterdir()}
        key = a_key(console)
        try:
            for turn in range(kills):
                asked.append(new_job(crawls / f"demo{turn}", url, SLOW))
                text = f"{min(texts)}# {turn}: {'慢' * 20_000}\n"
                seeds = "".join(f"{url}p{n}.html\n" for n in range(turn + 1))
                texts.add(text)
                lists.add(seeds)
                console.start()
                work = Requests(console.url, key)
                with work.sent(
                    start_of(asked[-1].name),
                    config_of(text),
                    seeds_of(seeds),
                    job_of(f"made{turn}", url),
                    answered=turn == 0,  # however busy the machine is, there is one that runs
                ):
                    time.sleep(draw.uniform(0.0, LONGEST))
                    console.kill()
                assert (edited / "crawl.yaml").read_text() in texts
                assert (edited / "seeds.txt").read_text() in lists
                assert all(len(processes_of(one)) <= 1 for one in asked)
            console.start()
            orders = f"{console.url}api/v1/jobs?limit=500&fields=id,state"
            fields = {"authorization": f"Bearer {key}"}
            # What was ordered and not begun is begun now, and what runs is left alone.
            until(lambda: not waits(orders, fields))
            assert all(len(processes_of(one)) <= 1 for one in asked)
            assert all(len(runs_of(one)) <= 1 for one in asked)
            assert any(processes_of(one) for one in asked)
            left = {one.name for one in edited.iterdir()} - usual - {"state", "job.log", "control"}
            assert left == set()
            history = nacre("settings", edited, "history")
            assert history.code == 0, history.err
            for made in crawls.glob("made*"):
                if (made / "crawl.yaml").exists():
                    assert nacre("check", made).code == 0, made
        finally:
            console.kill()
            for one in asked:
                for pid in processes_of(one):
                    os.kill(pid, signal.SIGKILL)


class Requests:
    """Requests that are sent at the same time, and may be cut off.

    Args:
        url: The console's.
        key: A key of a program.
    """

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._fields = {"authorization": f"Bearer {key}"}

    def sent(self, *asks: Ask, answered: bool = False) -> "Sending":
        """Send them while a block runs, which begins when the first one is answered, or at once."""
        threads = [threading.Thread(target=self._send, args=(one,)) for one in asks]
        return Sending(threads, answered=answered)

    def _send(self, ask: Ask) -> None:
        base = f"{self._url}api/v1/"
        with (
            suppress(httpx.HTTPError),
            httpx.Client(
                base_url=base, headers=self._fields, timeout=60, trust_env=False
            ) as client,
        ):
            ask(client)


class Sending:
    """Threads that run during a block."""

    def __init__(self, threads: list[threading.Thread], *, answered: bool) -> None:
        self._threads = threads
        self._answered = answered

    def __enter__(self) -> None:
        for one in self._threads:
            one.start()
        if self._answered:
            self._threads[0].join()

    def __exit__(self, *_: object) -> None:
        for one in self._threads:
            one.join()


def start_of(name: str) -> Ask:
    return lambda http: http.post(f"jobs/crawls~{name}/start", json={})


def config_of(text: str) -> Ask:
    def put(http: httpx.Client) -> object:
        path = "jobs/crawls~edited/config"
        fields = {"if-match": http.get(path).headers["etag"], "content-type": "text/yaml"}
        return http.put(path, content=text.encode(), headers=fields)

    return put


def seeds_of(text: str) -> Ask:
    return lambda http: http.put("jobs/crawls~edited/seed-list", json={"text": text})


def job_of(name: str, url: str) -> Ask:
    return lambda http: http.post("jobs", json={"seeds": [url], "name": name})


def a_key(console: ConsoleProcess) -> str:
    console.state.mkdir(exist_ok=True)
    with closing(ConsoleDatabase(console.state)) as database:
        return KeyBook(database, SystemClock()).add("test", Role.ADMIN)


def waits(url: str, fields: dict[str, str]) -> bool:
    """Whether a job is not read yet, or is being started."""
    items = httpx.get(url, headers=fields, trust_env=False, timeout=60).json()["items"]
    return any(one["state"] in {"READING", "PREPARING"} for one in items)


def processes_of(job: Path) -> list[int]:
    """The processes that run a job."""
    return [pid for pid, words in commands() if "run" in words and str(job) in words]


def commands() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield (
                int(folder.name),
                (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0"),
            )


def runs_of(job: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return [one.name for one in (job / "runs").iterdir()]
    return []
