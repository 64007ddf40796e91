"""The console under load: `make console-load`, or `python -m bench.console_load [--large FOLDER]`.

Fifty jobs, three of them at work, one with a large frontier; a hundred viewers of one running job;
and lists that are requested while more long requests run than are answered in parallel. With
`--large-runs` the job with the large frontier crawls too, some URLs a second, and has the viewers.
The goals are those of docs/console-figures.md. Each is printed with the measured figure; a missed
goal makes the exit status 1. CPU time is that of processes, so that other work on the machine
disturbs it little; times of answers are disturbed, and are what a user would wait here and now.
"""

import argparse
import asyncio
import gzip
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, NamedTuple, TypeVar

import httpx

from bench.console_jobs import JOBS, LARGE, RUNNING, make_large, make_small
from bench.console_text import long_config
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.fleet.sessions import COOKIE
from nacre.job.control import send_command
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import many_pages, site
from tests.console.stories.running import ConsoleProcess, command, running_job

TICK: Final = os.sysconf("SC_CLK_TCK")
STATUS: Final = ("/api/v1/jobs", "/api/v1/jobs/{idle}", "/api/v1/jobs/{idle}/logs/crawl")
"""Lists and facts that the console has without a store."""
LISTS: Final = (
    "/api/v1/jobs/{large}/queues?limit=50",
    "/api/v1/jobs/{large}/queues?sort=-waiting&limit=50",
    "/api/v1/jobs/{large}/uris?limit=50",
    "/api/v1/jobs/{large}/uris?limit=50&queue=test,host-7,",
    "/api/v1/jobs/{large}/uris?limit=50&re=nothing-of-this",
)
"""Lists of the job with the large frontier."""
PAGES: Final = ("/j/{large}/frontier", "/j/{large}/uris")
"""Pages of the same."""
PATHS: Final = (*STATUS, *LISTS, *PAGES)
STARTS: Final = 5
"""Starts of the console, of which the median counts."""
IDLE: Final = f"crawls~{RUNNING[0]}"
"""The running job that is looked at."""
SLOW: Final = 0.2
"""Seconds that each page of the large job takes, so that two workers fetch ten a second."""
LONG: Final = 4
"""Long questions at a time: twice as many as are answered at once."""

First = TypeVar("First")
Second = TypeVar("Second")


class WatchedJob(NamedTuple):
    """The running job that has viewers.

    Attributes:
        id: Its id in the console.
        root: Its directory.
        pid: Its process.
    """

    id: str
    root: Path
    pid: int


class Goal(NamedTuple):
    """A figure, and its limit.

    Attributes:
        what: Its name.
        most: What it may be at most.
        found: The measured value; None if it could not be measured.
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
        measured = "not measured" if self.found is None else f"{self.found:,.3g} {self.unit}"
        word = "MISSED" if self.is_missed else "" if self.found is None else "ok"
        return f"{self.what:<78} {measured:>12} {f'at most {self.most:g}':>16} {word}"


# ---- input


def cpu(pid: int) -> float:
    """CPU time of a process so far, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid: int) -> float:
    """Resident memory of a process, MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    pids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(pid_text) for pid_text in pids]


@contextmanager
def started(console: ConsoleProcess) -> Iterator[int]:
    """A console that runs; its process."""
    console.start()
    try:
        yield console.pid
    finally:
        console.stop()


# ---- measurements


def first_page(console: ConsoleProcess) -> Goal:
    """Time from the start of the process to its first page, of a machine that it knows."""
    with started(console):
        cookie = {"cookie": f"{COOKIE}={console.session()}"}
        settled(console, cookie)
    took, used = list[float](), list[float]()
    for _ in range(STARTS):
        began = time.perf_counter()
        with started(console):
            httpx.get(console.url, headers=cookie, trust_env=False).raise_for_status()
            took.append(time.perf_counter() - began)
            used.append(cpu(console.pid))
    print(f"a start takes {median(used):.2f} s of CPU", flush=True)
    return Goal(f"start to the first page, {JOBS} jobs, median", 1.5, median(took), "s")


def settled(console: ConsoleProcess, fields: dict[str, str]) -> None:
    """Wait until every job was read once."""
    for _ in range(1200):
        answer = httpx.get(f"{console.url}api/v1/jobs?limit=500", headers=fields, trust_env=False)
        if all(item["state"] != "READING" for item in answer.json()["items"]):
            return
        time.sleep(0.1)
    raise AssertionError("the jobs were not read within two minutes")


def weights(console: ConsoleProcess, fields: dict[str, str]) -> list[Goal]:
    """Bytes of the first page and of the page with the editor, with all they load, compressed."""
    root = console.url.rstrip("/")

    def packed(path: str) -> int:
        response = httpx.get(f"{root}{path}", headers=fields, timeout=60, trust_env=False)
        assert response.status_code == 200, path
        return len(gzip.compress(response.content))

    page = httpx.get(console.url, headers=fields, trust_env=False).text
    loaded = sorted(set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)))
    first = packed("/") + sum(map(packed, loaded))
    # The editor is a module that the script of all pages loads where there is something to edit.
    editor = next(script for script in loaded if script.endswith("console.js")).replace(
        "console.js", ""
    )
    edited = packed(f"/j/{IDLE}/settings") + packed(f"{editor}editor.js")
    return [
        Goal("first page, cold, compressed", 100, first / 1000, "kB"),
        Goal("page with the editor, additional size, compressed", 150, edited / 1000, "kB"),
    ]


async def viewers(console: ConsoleProcess, job: str, number: int, fields: dict[str, str],
                  work: Callable[["Viewers"], Awaitable[None]]) -> None:  # fmt: skip
    """Let viewers look at a job while work is done."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        headers=fields, trust_env=False, timeout=60, limits=limits
    ) as http:
        state = Viewers(number)
        async with asyncio.TaskGroup() as group:
            url = f"{console.url}api/v1/stream?topics=job:{job}"
            tasks = [group.create_task(view(http, url, state)) for _ in range(number)]
            try:
                await state.all_open.wait()
                await work(state)
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


async def view(http: httpx.AsyncClient, url: str, state: Viewers) -> None:
    """Look at a stream until cancelled."""
    me = id(asyncio.current_task())
    async with http.stream("GET", url) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                match = re.search(r'"state":"(\w+)"', line)
                state.note(me, match[1] if match else "")


async def load(console: ConsoleProcess, job: WatchedJob, options: argparse.Namespace,
               fields: dict[str, str]) -> list[Goal]:  # fmt: skip
    """Return the figures without viewers, with them, and while a user reads lists."""
    goals: list[Goal] = []
    (polls, alone), quiet = await both(
        both(rate(lambda: cpu(console.pid), options.seconds),
             rate(lambda: cpu(job.pid), options.seconds)),
        longest_gap(job.root, options.seconds),
    )  # fmt: skip
    goals.append(Goal(f"console that looks at {JOBS} jobs, of a core", 1, polls * 100, "%"))
    goals.append(Goal("longest gap of the crawl's loop without viewers", 50, quiet, "ms"))

    async def work(state: Viewers) -> None:
        before = state.events
        (used, watched), gap = await both(
            both(rate(lambda: cpu(console.pid), options.seconds),
                 rate(lambda: cpu(job.pid), options.seconds)),
            longest_gap(job.root, options.seconds),
        )  # fmt: skip
        rates = (state.events - before) / options.seconds / options.viewers
        print(f"{options.viewers} viewers saw {rates:.2f} events a second each", flush=True)
        goals.append(Goal(f"console with {options.viewers} viewers, of a core", 3, used * 100, "%"))
        goals.append(Goal("cost of the viewers to the crawl, of a core", 1,
                          max(watched - alone, 0) * 100, "%"))  # fmt: skip
        goals.append(Goal("longest gap of the crawl's loop with them", 50, gap, "ms"))
        goals.append(await delay(job.root, state))
        goals.extend(await answers(console, fields, options.asks))

    await viewers(console, job.id, options.viewers, fields, work)
    goals.append(Goal("memory of the console", 120, resident(console.pid), "MB"))
    readers = [resident(child) for child in children(console.pid)]
    goals.append(Goal("memory of a reader", 200, max(readers, default=None), "MB"))
    return goals


async def longest_gap(job: Path, seconds: float) -> float:
    """Return the longest time for which the loop of a running job did nothing else, ms."""
    longest, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        await asyncio.sleep(min(5.0, seconds))  # a job knows the longest one of ten seconds
        answer = await asyncio.to_thread(send_command, Layout(job).socket, "status")
        longest = max(longest, float(answer["gap"]))
    return longest


async def both(first: Awaitable[First], second: Awaitable[Second]) -> tuple[First, Second]:
    """Two measurements at once."""
    return await asyncio.gather(first, second)


async def rate(counter: Callable[[], float], seconds: float) -> float:
    """How fast a counter grows."""
    before, began = counter(), time.perf_counter()
    await asyncio.sleep(seconds)
    return (counter() - before) / (time.perf_counter() - began)


async def delay(job: Path, watched: Viewers) -> Goal:
    """Time from a change of the state to the last viewer who sees it; the job goes on then."""
    paused = {"PAUSED", "PAUSING"}
    began, took = time.perf_counter(), 10.0
    await asyncio.to_thread(send_command, Layout(job).socket, "pause")
    before = len(watched.states)
    for _ in range(200):
        times = [at for at, state in watched.states[before:] if state in paused]
        if len(times) >= len(watched.open):
            took = times[len(watched.open) - 1] - began
            break
        await asyncio.sleep(0.05)
    await asyncio.to_thread(send_command, Layout(job).socket, "resume")
    return Goal("event to the last viewer", 1.5, took, "s")


async def answers(console: ConsoleProcess, fields: dict[str, str], number: int) -> list[Goal]:
    """Return the 95th percentile of the time of each list, without and beside long questions."""
    goals = list[Goal]()
    async with httpx.AsyncClient(
        base_url=console.url, headers=fields, trust_env=False, timeout=60
    ) as http:
        listed = (await http.get("/api/v1/jobs?limit=500&fields=id")).json()["items"]
        (large,) = (item["id"] for item in listed if item["id"].endswith(f"~{LARGE}"))
        names = {"idle": IDLE, "large": large}
        goals += [await asked(http, path, names, number, "") for path in PATHS]
        async with asyncio.TaskGroup() as group:
            long = [group.create_task(ask_long(http, large, item)) for item in range(LONG)]
            beside = f", {LONG} long questions"
            goals += [await asked(http, path, names, number, beside) for path in PATHS]
            for task in long:
                task.cancel()
        goals.append(await checked(http, number))
    return goals


async def asked(
    http: httpx.AsyncClient, path: str, names: dict[str, str], number: int, beside: str
) -> Goal:
    """How long a list takes; the first answer, which opens the store, is left out."""
    times: list[float] = []
    most = 200 if path in PAGES else 50  # a page that takes longer shows that it loads
    for _ in range(number + 1):
        began = time.perf_counter()
        answer = await http.get(path.format(**names))
        times.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            print(f"{path}: {answer.status_code} {answer.text[:300]}", flush=True)
            return Goal(f"GET {path}{beside}", most, float("inf"), "ms")
    print(f"{path}{beside}: first {times[0]:.0f}, median {median(times[1:]):.1f} ms", flush=True)
    return Goal(f"GET {path}{beside}", most, quantiles(times[1:], n=20)[-1], "ms")


async def ask_long(http: httpx.AsyncClient, job: str, number: int) -> None:
    """Ask for what reads the whole frontier, again and again."""
    request = {"action": "delete", "urls": f"nothing-of-this-{number}"}
    while True:
        answer = await http.post(f"/api/v1/jobs/{job}/frontier/count", json=request)
        task = answer.json()
        while answer.status_code == 202 or task.get("state") == "running":
            await asyncio.sleep(1)
            answer = await http.get(f"/api/v1/tasks/{task['id']}")
            task = answer.json()
        answer.raise_for_status()


async def checked(http: httpx.AsyncClient, number: int) -> Goal:
    """Measure the check of a long configuration while a user types."""
    times: list[float] = []
    for count in range(min(number, 50) + 1):
        text = f"{long_config()}# {count}\n"
        began = time.perf_counter()
        answer = await http.post("/api/v1/config/check", json={"text": text})
        times.append((time.perf_counter() - began) * 1000)
        answer.raise_for_status()
    return Goal("check of 500 lines of a configuration, median", 250, median(times[1:]), "ms")


@contextmanager
def large_at_work(root: Path, proxy: str) -> Iterator[int]:
    """The job with the large frontier while it crawls; its process.

    Args:
        root: Its directory.
        proxy: URL of a server that answers whatever it is asked for.
    """
    began = time.perf_counter()
    command("set", root, f"fetch.proxy={proxy}", "network.proxy_resolves=true", "engine.parallel=2")
    with running_job(root) as process:
        while not (facts := send_command(Layout(root).socket, "status")["overview"])["finished"]:
            time.sleep(0.1)
        took, memory = time.perf_counter() - began, resident(process.pid)
        waiting = facts["queued"]
        print(f"a job with {waiting:,} waiting URIs crawled after {took:.0f} s, {memory:.0f} MB")
        yield process.pid


def run(options: argparse.Namespace, folder: Path) -> list[Goal]:
    """Return all parts; the goals."""
    with ExitStack() as stack:
        url = stack.enter_context(site(many_pages(3000)))
        crawls = folder / "crawls"
        crawls.mkdir()
        make_small(crawls, url)
        places = folder / "large" if options.large is None else options.large
        if options.large is None:
            make_large(places, options.rows)
        console = ConsoleProcess(folder, str(places))
        pids = [stack.enter_context(running_job(crawls / name)).pid for name in RUNNING]
        watched = WatchedJob(IDLE, crawls / RUNNING[0], pids[0])
        if options.large_runs:
            proxy = stack.enter_context(site({}, SLOW))
            pid = stack.enter_context(large_at_work(places / LARGE, proxy))
            watched = WatchedJob(f"{places.name}~{LARGE}", places / LARGE, pid)
        gap = asyncio.run(longest_gap(watched.root, min(options.seconds, 60)))
        print(f"longest gap of the loop of a crawl without a console: {gap:.0f} ms", flush=True)
        goals = [first_page(console)]
        stack.enter_context(started(console))
        with closing(ConsoleDatabase(console.state)) as database:
            key = KeyBook(database, SystemClock()).add("load", Role.OPERATOR)
        fields = {"authorization": f"Bearer {key}"}
        settled(console, fields)
        goals += weights(console, fields)
        return goals + asyncio.run(load(console, watched, options, fields))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="URIs of the large frontier")
    parser.add_argument(
        "--large", type=Path, help="folder in which `bench.console_jobs` made the large frontier"
    )
    parser.add_argument(
        "--large-runs", action="store_true", help="the large frontier is that of a running job"
    )
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60, help="of each measurement")
    parser.add_argument("--asks", type=int, default=200, help="requests of each list")
    parser.add_argument("--json", type=Path, help="where the figures are written too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nacre-load-") as name:
        goals = run(options, Path(name))
    print(f"load of the machine: {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")
    for goal in goals:
        print(goal.line())
    if options.json is not None:
        facts: list[dict[str, Any]] = [goal._asdict() for goal in goals]
        options.json.write_text(json.dumps(facts, indent=2) + "\n")
    return int(any(goal.is_missed for goal in goals))


if __name__ == "__main__":
    sys.exit(main())
