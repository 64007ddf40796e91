"""Look-up of captures in the indexes of many WARCs: time and CPU of exact and closest look-ups.

    python -m bench.replay_lookup [--files 100] [--lines 100000] [--lookups 2000] [--keep FOLDER]

It makes a job with WARCs of 1 GB each, which are sparse but for the records that are looked at, and
their indexes. The first look-up is that of a new process: nothing is in its memory. `--keep` makes
the job in a folder and leaves it there, for the next run and for other measurements.
"""

import argparse
import gzip
import http.client
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import CaptureIndex, open_index

_APPARENT = 1_000_000_000
_SITES = 400
_TIMES = ("20260101", "20260302", "20260517", "20260809", "20261120")
_RECORD = gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
_FIRST = "import sys; from bench.replay_lookup import look_once; look_once(*sys.argv[1:])"


def key_of(number: int) -> str:
    """Key of a page by its number."""
    site, page = number % _SITES, number // _SITES
    return f"com,site{site:03d})/section/{page % 97:02d}/page-{page:06d}.html"


def url_of(number: int) -> str:
    """URL of a page by its number."""
    return f"https://www.site{number % _SITES:03d}.com/" + key_of(number).partition(")/")[2]


def line_of(number: int, file: int, lines: int) -> str:
    """The line of the capture of a page in a file: a page is in one file in five."""
    place = _APPARENT // lines * (number % lines)
    time_ = f"{_TIMES[file % 5]}{number % 24:02d}{number % 60:02d}{file % 60:02d}"
    return (
        f'{key_of(number)} {time_} {{"url": "{url_of(number)}", "mime": "text/html", "status": '
        f'"200", "digest": "sha1:{number:032X}", "length": "{len(_RECORD)}", "offset": "{place}", '
        f'"filename": "N-{file:05d}.warc.gz"}}\n'
    )


def make_job(root: Path, files: int, lines: int) -> None:
    """Make the job; of each group of five files all have the same pages, at other times."""
    folder = root / "runs" / "20260101T000000Z" / "archive"
    folder.mkdir(parents=True)
    for file in range(files):
        first = file // 5 * lines
        text = sorted(line_of(number, file, lines) for number in range(first, first + lines))
        (folder / f"N-{file:05d}.cdxj").write_text("".join(text))
        with (folder / f"N-{file:05d}.warc.gz").open("wb") as warc:
            for number in range(0, lines, max(lines // 100, 1)):
                warc.seek(_APPARENT // lines * number)
                warc.write(_RECORD)
            warc.truncate(_APPARENT)
    (root / "crawl.yaml").write_text("seeds: [https://www.site000.com/]\n")


def look_once(root: str, key: str) -> None:
    """The first look-up of a process, from the holding on; prints its milliseconds."""
    start = time.perf_counter()
    index = open_index(open_holding([root]))
    captures = index.exact(key)
    print(len(captures), (time.perf_counter() - start) * 1000)


def first_look(root: Path, key: str) -> str:
    """A row: the first look-up of five processes."""
    times = []
    for _ in range(5):
        command = [sys.executable, "-c", _FIRST, str(root), key]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append(float(result.stdout.split()[1]))
    times.sort()
    return f"| first exact look-up of a process | {times[2]:.1f} | {times[-1]:.1f} | | |"


def first_page(root: Path, url: str) -> str:
    """A row: from the command `nacre replay` to the page of a URL in the viewer, five times."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        command = [sys.executable, "-m", "nacre", "replay", str(root), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                status = _open_first(process, url)
            finally:
                times.append((time.perf_counter() - start) * 1000)
                process.terminate()
        if status != 200:
            raise RuntimeError(f"the viewer answers {status} for {url}")
    times.sort()
    return f"| first page of `nacre replay` | {times[2]:.1f} | {times[-1]:.1f} | | |"


def _open_first(process: "subprocess.Popen[str]", url: str) -> int:
    """Ask a replay that begins for the page of a URL; return the status of the answer."""
    place = key = ""
    for line in process.stdout or ():
        place = place or "".join(re.findall(r"(?<=http://)\S+(?=/#)", line))
        key = "".join(re.findall(r"^ +key +(\S+)", line))
        if key:
            break
    host, _slash, path = place.partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]))
    fields = {"Host": host, "Authorization": f"Bearer {key}"}
    connection.request("GET", f"/{path}/20260517000000/{url}", headers=fields)
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply.status if reply.status != 302 else 200


def row(name: str, look: Callable[[int], object], numbers: list[int]) -> str:
    """A row of the table: median and p95 of a look-up, by the clock and in CPU."""
    times, cpus = [], []
    for number in numbers:
        start, cpu = time.perf_counter(), time.thread_time()
        look(number)
        times.append((time.perf_counter() - start) * 1000)
        cpus.append((time.thread_time() - cpu) * 1000)
    wall, cpu_parts = quantiles(times, n=100), quantiles(cpus, n=100)
    values = (wall[49], wall[94], cpu_parts[49], cpu_parts[94])
    return f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |"


def report(root: Path, files: int, lines: int, lookups: int) -> None:
    """Print the table."""
    chance = random.Random(1)
    pages = files // 5 * lines
    numbers = [chance.randrange(pages) for _ in range(lookups)]
    holding = open_holding([root])
    index: CaptureIndex = open_index(holding)
    print(f"{files * lines:,} captures in {files} WARCs; load {os.getloadavg()[0]:.1f}\n")
    print("| look-up | median ms | p95 ms | CPU ms | p95 of CPU |\n|---|---|---|---|---|")
    print(first_look(root, key_of(numbers[0])))
    print(first_page(root, url_of(numbers[0])))
    assert len(index.exact(key_of(numbers[0]))) == 5

    def opened(number: int) -> bytes:
        captures: list[IndexedCapture] = index.closest(key_of(number), "20260401000000")
        with holding.open(captures[0]) as file:
            return file.read(10)

    whole = [number - number % max(lines // 100, 1) for number in numbers]
    print(row("exact, 5 captures", lambda n: index.exact(key_of(n)), numbers))
    print(row("exact, nothing", lambda n: index.exact(key_of(n) + "x"), numbers))
    print(row("closest", lambda n: index.closest(key_of(n), "20260401000000"), numbers))
    print(row("closest, and its record opened", opened, whole))
    print(row("prefix, 100 captures", lambda n: index.prefix(key_of(n)[:24], "", 100),
              numbers[: lookups // 20]))  # fmt: skip


def main() -> None:
    """Make the job, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=2_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="nacre-lookup-"))
    try:
        if not (folder / "job").exists():
            make_job(folder / "job", options.files, options.lines)
        report(folder / "job", options.files, options.lines, options.lookups)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
