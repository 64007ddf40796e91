"""The benchmark: `make bench`, or `python -m bench.run [--runs 3] [--only NAME...] [--full]`.

nginx on one core, the crawler on another; medians of several runs; a table on stdout and all
figures in `.cache/bench/`. Docs: docs/performance.md.
"""

import argparse
import compileall
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench import commands, competitors, hosts, report, sheets
from bench.crawler import CrawlRun, crawl, crawl_log, settings
from bench.process import Usage, measured, written
from bench.sites import ADDRESSES, Door, Site, certificate, site
from tools.nginx import free_port

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / ".cache" / "bench"
NAMES = (
    *("crawl", "stages", "wget", "scrapy", "tls", "hosts", "sheets", "scope"),
    *("comparison", "frontier", "commands"),
)


class Bench:
    """All parts of the benchmark over one running site.

    Args:
        running: The site.
        thousand: The door to the thousand hosts.
        folder: Where runs write; each is deleted after it was measured.
        runs: How often each is repeated.
        urls: Size of the frontier's benchmark.
    """

    def __init__(self, running: Site, thousand: Door, folder: Path, runs: int, urls: int) -> None:
        self._site = running
        self._thousand = thousand
        self._folder = folder
        self._runs = runs
        self._urls = urls
        self._links: Path | None = None

    def part(self, name: str) -> dict[str, Any]:
        """Run one part; its figures."""
        method: Callable[[], dict[str, Any]] = getattr(self, name)
        return method()

    # ---- our crawler

    def crawl(self) -> dict[str, Any]:
        """Return the whole crawler, as it comes."""
        return self._crawls(self._job(self._site.plain))

    def stages(self) -> dict[str, Any]:
        """Once more, watched: where the time goes, and the gaps of the event loop."""
        with self._place() as folder:
            run = crawl(self._job(self._site.plain), folder, watch=True)
        per_url = 1000 / max(run.found.linked, 1)
        return {
            "gaps": run.seen["gaps"],
            "cpu_ms_per_url": round(sum(run.seen["stages"].values()) * per_url, 3),
            "stages_ms": {n: round(s * per_url, 4) for n, s in run.seen["stages"].items()},
            "functions_ms": _scaled(run.seen["functions"], per_url),
            "lines_ms": {n: round(s * per_url, 4) for n, s in _top(run.seen["lines"])},
        }

    def tls(self) -> dict[str, Any]:
        """Return the same site by TLS."""
        return self._crawls(self._job(self._site.tls))

    def hosts(self) -> dict[str, Any]:
        """By TLS, a thousand hosts of five pages."""
        door = self._thousand
        prefix = f"{door.scheme}://({','.join(reversed(hosts.SUFFIX.split('.')))},"
        home = f"{door.scheme}://{hosts.HOME}:{door.port}/home.html"
        return self._crawls(settings([home], [prefix], hosts.addresses()))

    def sheets(self) -> dict[str, Any]:
        """Return a hundred sheets over ten thousand SURT prefixes, against none; in turn."""
        door = self._site.plain
        plain = self._job(door)
        origins = [door.origin(number) for number in range(len(ADDRESSES))]
        laden = sheets.with_sheets(plain, origins)
        return sheets.compared(
            [(self._run_crawl(plain), self._run_crawl(laden)) for _ in range(sheets.PAIRS)]
        )

    def _job(self, door: Door) -> dict[str, Any]:
        prefixes = [door.origin(number) + "/" for number in range(len(ADDRESSES))]
        return settings([door.home], prefixes, {})

    def _crawls(self, job: dict[str, Any]) -> dict[str, Any]:
        return report.crawls([self._run_crawl(job) for _ in range(self._runs)])

    def _run_crawl(self, job: dict[str, Any]) -> CrawlRun:
        with self._place() as folder:
            run = crawl(job, folder)
            if self._links is None:
                self._links = self._folder / "links.log"
                shutil.copy(crawl_log(folder / "job"), self._links)
            return run

    # ---- others

    def wget(self) -> dict[str, Any]:
        """wget with a WARC."""
        return self._run_competitor(competitors.wget)

    def scrapy(self) -> dict[str, Any]:
        """Scrapy without one."""
        return self._run_competitor(competitors.scrapy)

    def _run_competitor(self, run: competitors.Competitor) -> dict[str, Any]:
        runs: list[tuple[Usage, int, int]] = []
        for _ in range(self._runs):
            with self._place() as folder:
                try:
                    usage, replies = run(self._site.plain.home, ADDRESSES, folder)
                except competitors.MissingError as error:
                    return {"skipped": str(error)}
                runs.append((usage, replies, written(folder)))
        return report.others(runs)

    # ---- parts of ours alone

    def scope(self) -> dict[str, Any]:
        """Return a million decisions of the stock scope, about links of the site."""
        if self._links is None:
            self._run_crawl(self._job(self._site.plain))
        command = [sys.executable, "-m", "bench.decisions", str(self._links)]
        seeds = [self._site.plain.origin(number) + "/" for number in range(len(ADDRESSES))]
        used = [self._json([*command, *seeds])["cpu_s"] for _ in range(self._runs)]
        return {"cpu_s_per_million": round(median(used), 3), "runs": used}

    def comparison(self) -> dict[str, Any]:
        """Return a page beside its last version, text and blocks: what a second visit may cost."""
        runs = [self._json([sys.executable, "-m", "bench.comparison"]) for _ in range(self._runs)]
        return sorted(runs, key=lambda run: float(run["all_ms"]))[len(runs) // 2]

    def frontier(self) -> dict[str, Any]:
        """Return the frontier on a simulated clock and fetcher."""
        with self._place() as folder:
            result = folder / "result.json"
            command = [sys.executable, "-m", "bench.frontier", "--urls", str(self._urls)]
            command += ["--json", str(result), "--folder", str(folder)]
            measured(command, folder / "output")
            figures: dict[str, Any] = json.loads(result.read_text())
            return figures

    def commands(self) -> dict[str, Any]:
        """What a person waits for."""
        with self._place() as folder:
            return commands.measure(folder, 3 * self._runs)

    def _json(self, command: list[str]) -> dict[str, Any]:
        with self._place() as folder:
            measured(command, folder / "output")
            figures: dict[str, Any] = json.loads((folder / "output").read_text())
            return figures

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """A folder for one run."""
        place = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        try:
            yield place
        finally:
            shutil.rmtree(place)


def _top(costs: dict[str, float], number: int = 60) -> list[tuple[str, float]]:
    return sorted(costs.items(), key=lambda item: -item[1])[:number]


def _scaled(costs: dict[str, list[float]], factor: float) -> dict[str, list[float]]:
    """Return the functions with the highest own cost or total cost: ms per URL, both."""
    best = sorted(costs, key=lambda name: -costs[name][0])
    whole = sorted(costs, key=lambda name: -costs[name][1])
    names = dict.fromkeys((*best[:60], *whole[:60]))
    return {name: [round(used * factor, 4) for used in costs[name]] for name in names}


def main() -> None:
    """Run the requested benchmarks, print the table, store the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each part (default 3)")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="these parts alone")
    parser.add_argument("--full", action="store_true", help="the frontier with 10 million URLs")
    options = parser.parse_args()
    # As the environment's making does: where Python writes no bytecode, each run would compile.
    compileall.compile_dir(CHECKOUT / "src", quiet=1)
    # Being terminated ends the server too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    RESULTS.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="work-", dir=RESULTS))
    results: dict[str, Any] = {
        "when": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        **report.machine(),
    }
    try:
        thousand = Door("https", free_port(("0.0.0.0",), hosts.FIRST_PORT))
        pair = certificate(folder)
        with site(folder, [hosts.server(folder, thousand, pair)]) as running:
            bench = Bench(
                running, thousand, folder, options.runs, 10_000_000 if options.full else 1_000_000
            )
            for name in NAMES:
                if name in options.only:
                    print(f"{name} ...", file=sys.stderr, flush=True)
                    results[name] = bench.part(name)
    finally:
        shutil.rmtree(folder)
    file = RESULTS / f"{results['when'].replace(':', '')}.json"
    file.write_text(json.dumps(results, indent=1) + "\n")
    print(report.table(results))
    print(f"all figures: {file.relative_to(CHECKOUT)}")
    print(report.verdict(results))


if __name__ == "__main__":
    main()
