"""What it costs to learn which links promise nothing new: `python -m bench.learning`.

Sites that end are crawled in pairs, with `traps.learn` true and false, in turns which of them is
first: what else runs on the machine then strikes both. CPU time is the crawler's own.

On a busy machine the pairs differ by more than what learning costs. So `--inside` measures a crawl
from within: the CPU time between the entry and the exit of what learns, without that of the clock,
as a share of all. That leaves out what another order of the URLs costs.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median, quantiles

from bench.process import measured
from bench.worlds.plain import Plain
from bench.worlds.world import served
from nacre.cli import main as run_command
from nacre.engine.candidates.prospects import Prospects
from tools.debs import ensure
from tools.nginx import Server, free_port, serving

_MANUAL = "usr/share/doc/postgresql-doc-15/html"
_ARTICLES = 1_200


@contextmanager
def manual(folder: Path) -> Iterator[str]:
    """The manual of PostgreSQL: nothing of it is watched, since no URL has a query or a date."""
    port = free_port(("127.0.0.1",), 8480)
    server = Server("127.0.0.1", port, ensure("postgresql-doc-15") / _MANUAL)
    with serving([server], folder / "nginx"):
        yield f"http://127.0.0.1:{port}/index.html"


@contextmanager
def dated(folder: Path) -> Iterator[str]:
    """The same pages under a month, as those of newspapers are: watched, and without an end."""
    place = folder / "root" / "2024" / "05"
    place.mkdir(parents=True)
    (place / "manual").symlink_to(ensure("postgresql-doc-15") / _MANUAL)
    port = free_port(("127.0.0.1",), 8480)
    with serving([Server("127.0.0.1", port, folder / "root")], folder / "nginx"):
        yield f"http://127.0.0.1:{port}/2024/05/manual/index.html"


@contextmanager
def articles(_folder: Path) -> Iterator[str]:
    """Articles under months and with numbers, and lists of them: watched, and without an end.

    Pages of 900 bytes with two or three links, the worst case: there is little else to do for them.
    """
    with served(Plain(pages=_ARTICLES)) as site:
        yield site.url


SITES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "manual": manual,
    "dated": dated,
    "articles": articles,
}


def crawled(
    url: str, job: Path, *, learn: bool, command: tuple[str, ...] = ("-m", "nacre")
) -> tuple[float, frozenset[str]]:
    """CPU time of one crawl, seconds, and the URLs that it captured."""
    usage = measured(
        [
            sys.executable, *command, "crawl", url, "--out", str(job), "--quiet",
            "--set", "politeness.delay=0", "--set", f"traps.learn={str(learn).lower()}",
        ],
        job.with_suffix(".out"),
    )  # fmt: skip
    if usage.status:
        raise RuntimeError(f"the crawl ended with {usage.status}")
    lines = (job / "latest/logs/crawl.log").read_text().splitlines()
    return usage.cpu, frozenset(line.split()[3] for line in lines if line.split()[1] == "200")


def compare(name: str, pairs: int) -> bool:
    """Crawl a site in pairs and print the results; return whether the captured sets are equal."""
    times: dict[bool, list[float]] = {True: [], False: []}
    captured_sets: set[frozenset[str]] = set()
    with tempfile.TemporaryDirectory() as folder, SITES[name](Path(folder)) as url:
        for number in range(pairs):
            for learn in (True, False) if number % 2 else (False, True):
                job = Path(folder) / f"{number}-{learn}"
                cpu, captured = crawled(url, job, learn=learn)
                times[learn].append(cpu)
                captured_sets.add(captured)
    shares = [100 * (on / off - 1) for on, off in zip(times[True], times[False], strict=True)]
    low, _, high = quantiles(shares, n=4)
    print(
        f"{name}: {pairs} pairs, {'/'.join(str(len(urls)) for urls in captured_sets)} URLs; "
        f"CPU time with {median(times[True]):.2f} s (minimum {min(times[True]):.2f}), without "
        f"{median(times[False]):.2f} s ({min(times[False]):.2f}); difference within a pair "
        f"{median(shares):+.1f} %, half of them {low:+.1f} to {high:+.1f} %",
        flush=True,
    )
    return len(captured_sets) == 1


_RESULT = "NACRE_BENCH_LEARNING"
"""Names the file for the CPU time of learning, in the environment of a crawl."""
_LEARNERS = ("met", "entered", "place", "learn", "seal")


def timed_crawl(arguments: list[str]) -> None:
    """Run a command of Nacre, and write the CPU seconds of what learns to a file."""
    spent = [0.0]
    for name in _LEARNERS:
        setattr(Prospects, name, _timed(getattr(Prospects, name), spent))
    sys.argv = ["nacre", *arguments]
    try:
        run_command()
    finally:
        Path(os.environ[_RESULT]).write_text(str(spent[0]))


def _timed(method: Callable[..., object], spent: list[float]) -> Callable[..., object]:
    clock = time.thread_time

    def timed(*arguments: object, **named: object) -> object:
        before = clock()
        began = clock()
        try:
            return method(*arguments, **named)
        finally:
            spent[0] += clock() - began - (began - before)

    return timed


def inside(name: str, runs: int) -> None:
    """Crawl a site, and print which share of the CPU time was spent on learning."""
    shares, per_url = [], []
    with tempfile.TemporaryDirectory() as folder, SITES[name](Path(folder)) as url:
        for number in range(runs):
            result = Path(folder) / f"{number}.seconds"
            os.environ[_RESULT] = str(result)
            command = ("-m", "bench.learning", "--timed")
            cpu, captured = crawled(url, Path(folder) / str(number), learn=True, command=command)
            spent = float(result.read_text())
            shares.append(100 * spent / cpu)
            per_url.append(1e6 * spent / len(captured))
    print(
        f"{name}: {runs} crawls; learning takes {median(shares):.1f} % of the CPU time "
        f"({min(shares):.1f} to {max(shares):.1f}), {median(per_url):.0f} µs for each URL",
        flush=True,
    )


def main() -> int:
    """Measure; return 1 if the captured URLs differ."""
    if sys.argv[1:2] == ["--timed"]:
        timed_crawl(sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=list(SITES), choices=list(SITES))
    parser.add_argument("--inside", action="store_true", help="the share, measured from within")
    options = parser.parse_args()
    if options.inside:
        for name in options.only:
            inside(name, options.pairs)
        return 0
    if options.pairs < 2:
        parser.error("--pairs: at least 2")
    equal = [compare(name, options.pairs) for name in options.only]
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
