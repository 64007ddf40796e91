"""Does the memory of a crawl stay within bounds in a site without end? `python -m bench.endless`.

The site has a different text on each page, and links to new pages: random names, dates, sessions in
paths, queries. It is crawled by the whole crawler, over sockets. Prints every minute the resident
memory of the crawl, and how many URLs it has visited; what grows by more than the goal in the
second half of the time, or exceeds the limit, ends it with 1.
"""

import argparse
import asyncio
import random
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from bench.worlds.world import words
from tools.nginx import free_port

GOAL = 1.0
"""Growth in the second half of the time, MB a minute."""
LIMIT = 300.0
"""Resident memory, MB."""
_FOLDERS = ("wiki", "news", "shop/items", "calendar/2026/11", "blog", "list")
_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n"
_NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def page(path: str, links: int, length: int) -> bytes:
    """A page: the same for the same path. Each of its links has at least `length` letters."""
    chance = random.Random(zlib.crc32(path.encode()))
    urls = (longer(link(chance), length, chance) for _ in range(links))
    body = "".join(f'<a href="{url}">{words(chance, 2)}</a>' for url in urls)
    return f"<title>{words(chance, 3)}</title><p>{words(chance, 60)}</p>{body}".encode()


def link(chance: random.Random) -> str:
    """Return a path that most likely no other page leads to."""
    folder, kind = chance.choice(_FOLDERS), chance.random()
    if kind < 0.5:
        return f"/{folder}/{chance.getrandbits(48):012x}"
    if kind < 0.7:
        return f"/{folder}/{words(chance, 1)}-{words(chance, 1)}.html"
    if kind < 0.8:
        return f"/list?page={chance.randrange(10**9)}&amp;sort={words(chance, 1)}"
    if kind < 0.9:
        return f"/(S({chance.getrandbits(64):016x}))/item/{chance.randrange(1000)}"
    return f"/{words(chance, 1)}/{words(chance, 1)}/{chance.randrange(10**6)}"


def longer(url: str, length: int, chance: random.Random) -> str:
    """Return a link with at least so many letters: a token is added, as some shops do."""
    if len(url) >= length:
        return url
    digits = max(length - len(url) - len("?token="), 1)
    mark = "&amp;token=" if "?" in url else "?token="
    return f"{url}{mark}{chance.getrandbits(4 * digits):0{digits}x}"


async def serve(port: int, links: int, length: int) -> None:
    """Serve the site on loopback, in a separate process, which is not measured."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode("latin-1")
                body = page(path, links, length)
                reply = _HEAD.format(len(body)).encode() + body
                writer.write(_NO_ROBOTS if path == "/robots.txt" else reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port) as server:
        await server.serve_forever()


class Sample(NamedTuple):
    """The memory of the crawl at one moment.

    Attributes:
        minutes: Since the start.
        rss: Resident memory, MB.
        anonymous: Memory of this without files, MB.
        visits: Lines of crawl.log.
    """

    minutes: float
    rss: float
    anonymous: float
    visits: int


def sample(pid: int, began: float, log: Path) -> Sample:
    """Look at a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {line.split()[0]: line.split()[1:2] for line in lines}
    rss, anonymous = (int(sizes[name][0]) / 1000 for name in ("VmRSS:", "RssAnon:"))
    with log.open("rb") as file:
        visits = sum(1 for _ in file)
    return Sample((time.monotonic() - began) / 60, rss, anonymous, visits)


class Growth(NamedTuple):
    """The growth of the resident memory in the second half of the time; 0 for a single sample.

    Attributes:
        minute: MB a minute.
        links: MB for each 100,000 links of the pages visited: a busy machine visits fewer.
    """

    minute: float
    links: float


def growth(samples: list[Sample], links: int) -> Growth:
    """See `Growth`; each page has so many links."""
    first = next(sample for sample in samples if sample.minutes >= samples[-1].minutes / 2)
    last = samples[-1]
    grown, pages = last.rss - first.rss, last.visits - first.visits
    minutes = last.minutes - first.minutes
    return Growth(grown / minutes if minutes else 0.0, grown * 1e5 / max(pages * links, 1))


def measured(options: argparse.Namespace, folder: Path) -> list[Sample]:
    """Crawl for some time; the samples."""
    port, job = free_port(), folder / "job"
    own = [sys.executable, "-m", "bench.endless", "--serve", str(port)]
    site = subprocess.Popen([*own, "--links", str(options.links), "--length", str(options.length)])
    time.sleep(1)
    crawl = subprocess.Popen(
        [
            sys.executable, "-m", "nacre", "crawl", f"http://127.0.0.1:{port}/", "--out", str(job),
            "--scope", "host", "--quiet", "--delay", str(options.delay), *options.more,
        ],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    samples: list[Sample] = []
    began = time.monotonic()
    try:
        while (remaining := began + 60 * options.minutes - time.monotonic()) > 0:
            time.sleep(min(60.0, remaining))
            samples.append(sample(crawl.pid, began, job / "latest/logs/crawl.log"))
            last = samples[-1]
            print(
                f"{last.minutes:6.1f} min  {last.rss:6.1f} MB, {last.anonymous:6.1f} MB of it no "
                f"file  {last.visits:9,} visits", flush=True,
            )  # fmt: skip
    finally:
        crawl.send_signal(signal.SIGTERM)
        crawl.wait(120)
        site.kill()
        site.wait()
    return samples


def main() -> int:
    """Measure; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--delay", type=float, default=0.0, help="politeness.delay, s")
    parser.add_argument("--links", type=int, default=10, help="links on each page")
    parser.add_argument("--length", type=int, default=0, help="least letters of each link")
    parser.add_argument("--serve", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("more", nargs="*", help="options for the crawl, after --")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve, options.links, options.length))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        samples = measured(options, Path(folder))
    grown, most = growth(samples, options.links), max(sample.rss for sample in samples)
    print(
        f"{grown.minute:.2f} MB a minute in the second half (goal {GOAL}), {grown.links:.2f} MB "
        f"for 100,000 links; {most:.0f} MB at most"
    )
    return int(grown.minute > GOAL or most > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
