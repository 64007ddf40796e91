"""The console under load: `make console-load`, or `python -m bench.console_load [--rows 10000000]`.

Fifty jobs, three of them at work, one with a large frontier; a hundred viewers of one running job.
The goals are those of docs/console.md; each is printed with what was measured, and a goal that is
missed makes the exit status 1. CPU time is that of processes, so that other work on the machine
disturbs it little; times of answers are disturbed, and say what a user would wait here and now.
"""

import argparse
import asyncio
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, Final, NamedTuple

import httpx

from nacre.console.access.roles import Role
from nacre.console.access.sessions import COOKIE
from nacre.job.control import send_command
from nacre.store.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import (
    ConsoleProcess,
    command,
    finished_job,
    new_job,
    running_job,
)

JOBS: Final = 50
RESTED: Final = 12
"""Jobs that are over; the rest never ran."""
TICK: Final = os.sysconf("SC_CLK_TCK")
API: Final = ("/api/v1/jobs", "/api/v1/jobs/{job}")
LARGE: Final = ("/api/v1/jobs/{job}/queues?limit=50", "/api/v1/jobs/{job}/uris?limit=50")
"""Lists of the job with the large frontier."""


class Goal(NamedTuple):
    """A figure, and what it may be at most.

    Attributes:
        what: What it is.
        most: What it may be at most.
        found: What was measured; None where it could not be.
        unit: Of both.
    """

    what: str
    most: float
    found: float | None
    unit: str

    @property
    def is_missed(self) -> bool:
        """Whether it was measured, and is more."""
        return self.found is not None and self.found > self.most

    def line(self) -> str:
        """As a line of the table."""
        found = "not measured" if self.found is None else f"{self.found:,.3g} {self.unit}"
        word = "MISSED" if self.is_missed else "" if self.found is None else "ok"
        return f"{self.what:<58} {found:>16} {f'at most {self.most:g}':>16} {word}"


# ---- what is given


def prepare(folder: Path, url: str, rows: int) -> Path:
    """The jobs: those that are over, those that never ran, three to run, a large one."""
    crawls = folder / "crawls"
    crawls.mkdir(parents=True)
    first = finished_job(crawls / "over-00", url)
    for number in range(1, RESTED):
        shutil.copytree(first, crawls / f"over-{number:02}", symlinks=True)
    large = new_job(crawls / "large", url, "politeness.delay=60s")
    with running_job(large, "--set", "engine.pause_at_start=true"):
        pass
    urls = folder / "urls.txt.gz"
    with gzip.open(urls, "wt", compresslevel=1) as file:
        file.writelines(f"http://host-{n % 20_000}.test/page/{n}\n" for n in range(rows))
    command("frontier", large, "import", urls)
    for name in ("idle", "busy-1", "busy-2"):
        new_job(crawls / name, url, "politeness.delay=0.3s")
    while len(list(crawls.iterdir())) < JOBS:
        target = crawls / f"new-{len(list(crawls.iterdir())):02}"
        target.mkdir()
        shutil.copy(crawls / "idle" / "crawl.yaml", target / "crawl.yaml")
        shutil.copy(crawls / "idle" / "seeds.txt", target / "seeds.txt")
    return crawls


def cpu(pid: int) -> float:
    """CPU time of a process so far, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid: int) -> float:
    """Resident memory of a process, MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found]


@contextmanager
def started(console: ConsoleProcess) -> Iterator[int]:
    """A console that runs; its process."""
    console.start()
    try:
        yield console.pid
    finally:
        console.stop()


# ---- what is measured


def first_page(console: ConsoleProcess) -> Goal:
    """Time from the start of the process to its first page, of a machine that it knows."""
    with started(console):
        cookie = {"cookie": f"{COOKIE}={console.session()}"}
        settled(console, cookie)
    began = time.perf_counter()
    with started(console):
        httpx.get(console.url, headers=cookie, trust_env=False).raise_for_status()
        took = time.perf_counter() - began
    return Goal(f"start to the first page, {JOBS} jobs", 1.5, took, "s")


def settled(console: ConsoleProcess, fields: dict[str, str]) -> None:
    """Wait until every job was read once."""
    for _ in range(1200):
        answer = httpx.get(f"{console.url}api/v1/jobs?limit=500", headers=fields, trust_env=False)
        if all(one["state"] != "READING" for one in answer.json()["items"]):
            return
        time.sleep(0.1)
    raise AssertionError("the jobs were not read within two minutes")


def weight(console: ConsoleProcess, fields: dict[str, str]) -> Goal:
    """Bytes of the first page and all that it loads, compressed."""
    page = httpx.get(console.url, headers=fields, trust_env=False)
    found = len(gzip.compress(page.content))
    for path in sorted(set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text))):
        loaded = httpx.get(f"{console.url.rstrip('/')}{path}", trust_env=False)
        found += len(gzip.compress(loaded.content))
    return Goal("first page, cold, compressed", 100, found / 1000, "kB")


async def viewers(console: ConsoleProcess, job: str, number: int, fields: dict[str, str],
                  work: Callable[["Viewers"], Awaitable[None]]) -> None:  # fmt: skip
    """Let viewers look at a job while work is done."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        headers=fields, trust_env=False, timeout=60, limits=limits
    ) as http:
        seen = Viewers(number)
        async with asyncio.TaskGroup() as group:
            url = f"{console.url}api/v1/stream?topics=job:{job}"
            tasks = [group.create_task(view(http, url, seen)) for _ in range(number)]
            try:
                await seen.all_open.wait()
                await work(seen)
            finally:
                for task in tasks:
                    task.cancel()


class Viewers:
    """What the viewers saw.

    Attributes:
        open: Numbers of those that saw something.
        all_open: All did.
        events: Events in all.
        states: Moment and state of each event.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self.open: set[int] = set()
        self.all_open = asyncio.Event()
        self.events = 0
        self.states: list[tuple[float, str]] = []

    def note(self, viewer: int, state: str) -> None:
        """Take an event of a viewer."""
        self.events += 1
        self.states.append((time.perf_counter(), state))
        self.open.add(viewer)
        if len(self.open) == self._number:
            self.all_open.set()


async def view(http: httpx.AsyncClient, url: str, seen: Viewers) -> None:
    """Look at a stream until cancelled."""
    me = id(asyncio.current_task())
    async with http.stream("GET", url) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                found = re.search(r'"state":"(\w+)"', line)
                seen.note(me, found[1] if found else "")


async def load(console: ConsoleProcess, crawls: Path, options: argparse.Namespace,
               pids: dict[str, int], fields: dict[str, str]) -> list[Goal]:  # fmt: skip
    """The figures with viewers, and while somebody reads lists."""
    idle = crawls / "idle"
    goals: list[Goal] = []
    alone = await rate(lambda: cpu(pids["idle"]), options.seconds)

    async def work(seen: Viewers) -> None:
        before = seen.events
        used, watched = await both(
            rate(lambda: cpu(console.pid), options.seconds),
            rate(lambda: cpu(pids["idle"]), options.seconds),
        )
        rates = (seen.events - before) / options.seconds / options.viewers
        print(f"{options.viewers} viewers saw {rates:.2f} events a second each", flush=True)
        goals.append(Goal(f"console with {options.viewers} viewers, of a core", 3, used * 100, "%"))
        goals.append(Goal("cost of the viewers to the crawl, of a core", 1,
                          max(watched - alone, 0) * 100, "%"))  # fmt: skip
        gap = send_command(Layout(idle).socket, "status").get("gap")
        goals.append(Goal("longest gap of the crawl's loop", 50, gap, "ms"))
        goals.append(await delay(idle, seen))
        goals.extend(await answers(console, fields, options.asks))

    await viewers(console, "crawls~idle", options.viewers, fields, work)
    goals.append(Goal("memory of the console", 120, resident(console.pid), "MB"))
    readers = [resident(pid) for pid in children(console.pid)]
    goals.append(Goal("memory of a reader", 200, max(readers, default=None), "MB"))
    return goals


async def both(*tasks: Awaitable[float]) -> list[float]:
    """Two measurements at once."""
    return list(await asyncio.gather(*tasks))


async def rate(counter: Callable[[], float], seconds: float) -> float:
    """How fast a counter grows."""
    before, began = counter(), time.perf_counter()
    await asyncio.sleep(seconds)
    return (counter() - before) / (time.perf_counter() - began)


async def delay(job: Path, seen: Viewers) -> Goal:
    """Time from a change of the state to the last viewer who sees it."""
    wanted = {"PAUSED", "PAUSING"}
    began = time.perf_counter()
    await asyncio.to_thread(send_command, Layout(job).socket, "pause")
    known = len(seen.states)
    for _ in range(200):
        found = [at for at, state in seen.states[known:] if state in wanted]
        if len(found) >= len(seen.open):
            return Goal("event to the last viewer", 1.5, found[len(seen.open) - 1] - began, "s")
        await asyncio.sleep(0.05)
    return Goal("event to the last viewer", 1.5, 10.0, "s")


async def answers(console: ConsoleProcess, fields: dict[str, str], number: int) -> list[Goal]:
    """The 95th percentile of the time of each list and of the pages of the large job."""
    goals = []
    async with httpx.AsyncClient(headers=fields, trust_env=False, timeout=60) as http:
        asked = [(path, "crawls~idle") for path in API] + [(path, "crawls~large") for path in LARGE]
        for path, job in asked:
            url = f"{console.url.rstrip('/')}{path.format(job=job)}"
            times: list[float] = []
            for _ in range(number):
                began = time.perf_counter()
                answer = await http.get(url)
                times.append((time.perf_counter() - began) * 1000)
                if answer.status_code != 200:
                    break
            good = len(times) == number
            found = quantiles(times[1:], n=20)[-1] if good else None
            goals.append(Goal(f"GET {path.partition('?')[0]}, 95 in 100", 50, found, "ms"))
    return goals


def run(options: argparse.Namespace, folder: Path) -> list[Goal]:
    """All parts; the goals."""
    with ExitStack() as held:
        url = held.enter_context(site(many_pages(3000)))
        crawls = prepare(folder, url, options.rows)
        console = ConsoleProcess(folder)
        pids: dict[str, int] = {}
        for name in ("idle", "busy-1", "busy-2"):
            pids[name] = held.enter_context(running_job(crawls / name)).pid
        goals = [first_page(console)]
        held.enter_context(started(console))
        cookie = {"cookie": f"{COOKIE}={console.session(Role.VIEWER)}"}
        goals.append(weight(console, cookie))
        settled(console, cookie)
        return goals + asyncio.run(load(console, crawls, options, pids, cookie))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="URIs of the large frontier")
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60, help="of each measurement")
    parser.add_argument("--asks", type=int, default=200, help="requests of each list")
    parser.add_argument("--json", type=Path, help="where the figures are written too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nacre-load-") as name:
        goals = run(options, Path(name))
    for goal in goals:
        print(goal.line())
    if options.json is not None:
        facts: list[dict[str, Any]] = [goal._asdict() for goal in goals]
        options.json.write_text(json.dumps(facts, indent=2) + "\n")
    return int(any(goal.is_missed for goal in goals))


if __name__ == "__main__":
    sys.exit(main())
