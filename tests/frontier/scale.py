"""Fills a store with queued URIs, or resumes one: each in a process of its own, to be measured.

    python -m tests.frontier.scale fill STORE URIS [STEP]
    python -m tests.frontier.scale resume STORE

`fill` prints one JSON object for each STEP URIs: `uris` and `rss` in MB. `resume` prints the CPU
seconds from opening the store to the first URI handed out, and the URI.
"""

import json
import sys
import time
from pathlib import Path

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Frontier
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from nacre.store.store import Store
from nacre.uri.canonical import seen_key

MEMORY = 64_000_000
BATCH = 1000
HOSTS = 20_000
POLITENESS = PolitenessSettings(delay=0.0)


def uri(number: int) -> CrawlURI:
    host = f"www{number % HOSTS}.example.org"
    url = f"http://{host}/archive/{number:09d}/some-page-of-it.html"
    via = f"http://{host}/archive/"
    return CrawlURI(url, seen_key(url), f"org,example,www{number % HOSTS},", via, "LL", "a/@href")


def rss() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def fill(path: str, number: int, step: int) -> None:
    store = Store.open(path, memory=MEMORY)
    frontier = Frontier(store, fixed(FrontierSettings()), fixed(POLITENESS), 1e9, 0.0)
    for start in range(0, number, BATCH):
        frontier.schedule([uri(n) for n in range(start, start + BATCH)], 1e9)
        frontier.save()
        store.commit()
        if (start + BATCH) % step == 0:
            sys.stdout.write(json.dumps({"uris": start + BATCH, "rss": rss()}) + "\n")
    store.close()


def resume(path: str) -> None:
    began = time.process_time()
    store = Store.open(path, memory=MEMORY)
    frontier = Frontier(store, fixed(FrontierSettings()), fixed(POLITENESS), 1e9, 0.0)
    mono = 0.0
    found = None
    while found is None:
        mono += 1.0
        found = frontier.next(1e9 + mono, mono)
    cpu = time.process_time() - began
    sys.stdout.write(json.dumps({"cpu": cpu, "url": found.url}) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        resume(sys.argv[2])
