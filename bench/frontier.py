"""The frontier alone, on a simulated clock and fetcher, over the real store.

    python -m bench.frontier [--urls 1000000] [--queues 100000] [--json FILE]

Each visit finds 16 different links. The frontier fills in ten steps by visits whose links are all
new; after each step come visits with one new link, which is what a long crawl looks like, and those
are shown. Then the store is opened again, as after a crash, and the CPU time to the first URI is
taken. Generating the simulated web is not counted.
"""

import argparse
import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path
from time import perf_counter, process_time, sleep, thread_time

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import politeness_delay
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.store.store import Store

LINKS = 16
GROUP = 256
STEPS = 10
POLITENESS = PolitenessSettings()
START = 1_700_000_000.0


@dataclass
class Web:
    """A web that is computed: queue q has the pages 0 to known[q] - 1 so far."""

    queues: int
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    known: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = [1] * self.queues

    def page(self, queue: int, number: int, via: str = "", path: str = "") -> CrawlURI:
        host = f"www.site-{queue}.example.org"
        place = f"section-{number % 37}/article-{number * 2654435761 % 4294967296:x}.html"
        url = f"http://{host}/{place if number else ''}"
        key = blake2b(host.encode(), digest_size=4).digest()
        key += blake2b(url.encode(), digest_size=12).digest()
        return CrawlURI(
            url, key, f"org,example,site-{queue},www,", via, path, "a/@href" if via else ""
        )

    def links(self, uri: CrawlURI, new: int) -> list[CrawlURI]:
        """Links of a page: old ones to its own site, early pages more often; new ones anywhere."""
        home = int(uri.queue.split(",")[2].removeprefix("site-"))
        uris = []
        for place in range(LINKS):
            if place < new:
                queue = home if place % 2 == 0 else self.chance.randrange(self.queues)
                number = self.known[queue]
                self.known[queue] += 1
            else:
                queue, number = home, int(self.known[home] * self.chance.random() ** 3)
            uris.append(self.page(queue, number, uri.url, "LL"))
        return uris


@dataclass
class Times:
    """CPU seconds of this thread in each operation."""

    schedule: float = 0.0
    next: float = 0.0
    finished: float = 0.0
    commit: float = 0.0
    visits: int = 0
    look_ups: float = 0.0

    def per_visit(self) -> dict[str, float]:
        """µs per visit and operation."""
        names = ("schedule", "look_ups", "next", "finished", "commit")
        return {n: round(getattr(self, n) / max(self.visits, 1) * 1e6, 1) for n in names}


class Run:
    """A frontier, a store, and a fetcher that takes its time on a virtual clock."""

    def __init__(self, folder: Path, web: Web, memory: int, parallel: int) -> None:
        self.web = web
        self.store = Store.open(str(folder), memory=memory)
        self.mono = 0.0
        settings = FrontierSettings()
        self.frontier = Frontier(self.store, fixed(settings), fixed(POLITENESS), START, self.mono)
        self.fetches: list[tuple[float, int, CrawlURI, float]] = []
        self.parallel = parallel
        self.times = Times()
        self._time_look_ups()

    def _time_look_ups(self) -> None:
        inner = self.store.engine.get_many

        def timed(family: str, keys: Sequence[bytes]) -> list[bytes | None]:
            began = thread_time()
            try:
                return inner(family, keys)
            finally:
                self.times.look_ups += thread_time() - began

        self.store.engine.get_many = timed  # type: ignore[method-assign]  # measured here only

    def seed(self) -> None:
        for first in range(0, self.web.queues, 1000):
            last = min(first + 1000, self.web.queues)
            pages = [self.web.page(queue, 0) for queue in range(first, last)]
            self.frontier.schedule(pages, START)
            self.commit()

    def start_one(self) -> bool:
        """Hand out one URI at the present moment; False when there is none."""
        began = thread_time()
        uri = self.frontier.next(START + self.mono, self.mono)
        self.times.next += thread_time() - began
        if uri is None:
            return False
        duration = 0.05 + 0.3 * self.web.chance.random()
        ordinal = uri.ordinal
        heappush(self.fetches, (self.mono + duration, ordinal, uri, duration))
        return True

    def finish_one(self, new: int) -> None:
        """Let the fetch that ends first end."""
        self.mono, _, uri, duration = heappop(self.fetches)
        links = self.web.links(uri, new)
        times = self.times
        began = thread_time()
        self.frontier.schedule(links, START + self.mono)
        scheduled = thread_time()
        delay = politeness_delay(POLITENESS, duration * 1000.0)
        self.frontier.finished(uri, Attempt(200, delay), self.mono)
        times.finished += thread_time() - scheduled
        times.schedule += scheduled - began
        times.visits += 1
        if times.visits % GROUP == 0:
            self.commit()

    def visit(self, new: int) -> None:
        """One visit: fill the free places, then let one fetch end."""
        while len(self.fetches) < self.parallel and self.start_one():
            pass
        while not self.fetches:
            wait = self.frontier.next_wake(self.mono)
            assert wait is not None
            self.mono += max(wait, 0.001)
            self.start_one()
        self.finish_one(new)

    def commit(self) -> None:
        began = thread_time()
        self.frontier.save()
        group = self.store.seal()
        while not self.store.engine.write(group.rows):
            sleep(0.02)
        self.store.settle()
        self.store.engine.flush_wal()
        self.times.commit += thread_time() - began


def resident() -> int:
    """Resident memory of this process, bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(run: Run, visits: int, new: int) -> dict[str, float]:
    """Visits with their cost."""
    run.times = Times()
    began = perf_counter()
    for _ in range(visits):
        run.visit(new)
    wall = perf_counter() - began
    parts = run.times.per_visit()
    own = parts["schedule"] + parts["next"] + parts["finished"]
    return {
        "known": run.frontier.totals.discovered,
        "visits": visits,
        **parts,
        "us_per_visit": round(own, 1),
        "us_without_look_ups": round(own - parts["look_ups"], 1),
        "decisions_per_s": round(1e6 / (own + parts["commit"])),
        "wall_s": round(wall, 1),
        "rss_mb": round(resident() / 1e6),
    }


def resume(folder: Path, web: Web, memory: int) -> dict[str, float]:
    """CPU seconds from opening the store to the first URI."""
    began = process_time()
    run = Run(folder, web, memory, 1)
    calls = 0
    while not run.start_one():
        wait = run.frontier.next_wake(run.mono)
        assert wait is not None
        run.mono += wait
        calls += 1
    used = process_time() - began
    run.store.close()
    return {"cpu_s": round(used, 3), "virtual_wait_s": round(run.mono, 2), "calls": calls}


def bench(urls: int, queues: int, memory: int, parallel: int, folder: Path) -> dict[str, object]:
    web = Web(queues)
    base = resident()
    run = Run(folder, web, memory, parallel)
    run.seed()
    steps = []
    cpu = process_time()
    for step in range(1, STEPS + 1):
        visits = (
            queues + (urls - queues) * step // STEPS - run.frontier.totals.discovered
        ) // LINKS
        fill = measured(run, max(visits, 1), LINKS)
        steps.append(
            measured(run, min(max(urls // 100, 1000), 20_000), 1)
            | {"fill_us_per_url": per_url(fill)}
        )
        show(steps[-1])
    cpu = process_time() - cpu
    totals = run.frontier.totals
    memory_used = resident() - base
    active = run.frontier.queue_states.cache.busy
    run.commit()
    run.store.close()
    del run
    size = on_disk(folder)
    return {
        "urls": totals.discovered,
        "queues": queues,
        "queued": totals.queued,
        "steps": steps,
        "last": steps[-1],
        "growth": round(steps[-1]["us_per_visit"] / steps[0]["us_per_visit"], 2),
        "disk_bytes_per_url": round(size / totals.discovered, 1),
        "memory_mb": round(memory_used / 1e6),
        "memory_bytes_per_url": round(memory_used / totals.discovered, 1),
        "active_queues": active,
        "cpu_s_in_all": round(cpu, 1),
        "resume": resume(folder, web, memory),
    }


def per_url(fill: dict[str, float]) -> float:
    """µs for each new URL of a step in which all links were new, its visit and commit included."""
    return round((fill["us_per_visit"] + fill["commit"]) / LINKS, 1)


COLUMNS = (
    "known", "schedule", "look_ups", "next", "finished", "commit", "us_per_visit",
    "us_without_look_ups", "decisions_per_s", "fill_us_per_url", "rss_mb",
)  # fmt: skip


def show(step: dict[str, float]) -> None:
    print("  ".join(f"{step[name]:>{max(len(name), 9)}}" for name in COLUMNS), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--queues", type=int, default=100_000)
    parser.add_argument("--memory", type=int, default=96_000_000, help="store.memory, bytes")
    parser.add_argument("--parallel", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="where the store goes (kept); else temporary")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="nacre-frontier-"))
    print("µs of CPU per visit of 16 links, one of them new")
    print("  ".join(f"{name:>9}" for name in COLUMNS))
    try:
        result = bench(
            options.urls, options.queues, options.memory, options.parallel, folder / "state"
        )
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    steps = result.pop("steps")
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result | {"steps": steps}, indent=1))


if __name__ == "__main__":
    main()
