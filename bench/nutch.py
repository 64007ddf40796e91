"""Rounds of Nacre beside those of Apache Nutch 1.22 in local mode.

The command is `python -m bench.cycle --nutch DIR`.
DIR is made by `python -m tools.nutch`. Both have the same seeds, the same site on loopback behind
nginx, and the same rounds: inject, then generate, fetch, (parse,) update, links and dedup, each as
a separate command, pinned to one processor. Of each is printed: wall time, CPU with all children,
and bytes written, those of temporary files too.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from bench.process import Usage, measured
from bench.units import write_site
from nacre.core.states import ExitCode
from tools.nginx import Server, free_port, serving

HOSTS = tuple(f"127.0.0.{number}" for number in range(101, 106))
_CORE = 1
_PLUGINS = (
    "protocol-http|urlfilter-(regex|validator)|parse-html|index-basic|scoring-opic"
    "|urlnormalizer-(pass|regex|basic)"
)
_NACRE = ("--top", "50000")
_NO_SEGMENT = 1
"""Exit code of Nutch's generator when nothing is due."""


class StepUsage(NamedTuple):
    """What a step used.

    Attributes:
        round: Its round, from 1; 0: before the rounds.
        step: Its name, of both the same.
        usage: What the process and its children used.
    """

    round: int
    step: str
    usage: Usage


def _checked(name: str, usage: Usage, output: Path, fine: Sequence[int] = (0,)) -> Usage:
    if usage.status not in fine:
        errors = Path(f"{output}.err").read_text("utf-8", "replace")[-2000:]
        raise SystemExit(f"{name} ended with {usage.status}: {errors}")
    return usage


# ---- Nutch


def nutch_site(settings: dict[str, str]) -> str:
    """`nutch-site.xml` of some properties."""
    rows = "".join(
        f"<property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>{rows}</configuration>\n'


class NutchRounds:
    """Nutch in local mode.

    Args:
        home: What `tools.nutch` made.
        folder: An empty folder for its data.
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self._home = home.absolute()
        self._folder = folder
        (folder / "conf").mkdir(parents=True)
        settings = {
            "http.agent.name": "bench",
            "plugin.folders": str(self._home / "plugins"),
            "plugin.includes": _PLUGINS,
            "hadoop.tmp.dir": str(folder / "tmp"),
            "fetcher.server.delay": "0.0",
            "fetcher.server.min.delay": "0.0",
            "fetcher.threads.per.queue": "10",
            "fetcher.threads.fetch": "50",
        }
        (folder / "conf" / "nutch-site.xml").write_text(nutch_site(settings))

    def run(self, tool: str, *words: str, fine: Sequence[int] = (0,)) -> Usage:
        """Run one of its tools."""
        classes = f"{self._folder / 'conf'}:{self._home / 'conf'}:{self._home / 'lib'}/*"
        command = ["java", "-Xmx1000m", "-cp", classes, f"org.apache.nutch.{tool}", *words]
        output = self._folder / tool.rpartition(".")[2]
        return _checked(tool, measured(command, output, cwd=self._folder), output, fine)

    def rounds(self, seeds: Sequence[str], rounds: int) -> Iterator[StepUsage]:
        """Run all steps; those of the seeds first."""
        (self._folder / "urls").mkdir()
        (self._folder / "urls" / "seeds.txt").write_text("".join(f"{seed}\n" for seed in seeds))
        yield StepUsage(0, "inject", self.run("crawl.Injector", "crawldb", "urls"))
        for number in range(1, rounds + 1):
            used = self.run(
                "crawl.Generator", "crawldb", "segments", "-topN", "50000", "-numFetchers", "1",
                fine=(0, _NO_SEGMENT),
            )  # fmt: skip
            yield StepUsage(number, "generate", used)
            if used.status:
                return
            segment = str(max((self._folder / "segments").iterdir()))
            yield StepUsage(number, "fetch", self.run("fetcher.Fetcher", segment))
            yield StepUsage(number, "parse", self.run("parse.ParseSegment", segment))
            yield StepUsage(number, "update", self.run("crawl.CrawlDb", "crawldb", segment))
            used = self.run("crawl.LinkDb", "linkdb", segment, "-noNormalize", "-noFilter")
            yield StepUsage(number, "links", used)
            yield StepUsage(number, "dedup", self.run("crawl.DeduplicationJob", "crawldb"))

    def fetched(self) -> int:
        """Pages that it knows as fetched or as copies of one."""
        self.run("crawl.CrawlDbReader", "crawldb", "-stats")
        reports = (self._folder / "CrawlDbReader").read_text() + (
            self._folder / "CrawlDbReader.err"
        ).read_text()
        rows = [line.rpartition(":")[2] for line in reports.splitlines() if "(db_fetched)" in line]
        copies = [
            line.rpartition(":")[2] for line in reports.splitlines() if "(db_duplicate)" in line
        ]
        return sum(int(text) for text in [*rows, *copies])


# ---- Nacre


class NacreRounds:
    """Nacre's batch rounds.

    Args:
        folder: An empty folder for its data.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._job = folder / "job"

    def run(self, name: str, *words: str, fine: Sequence[int] = (0,)) -> Usage:
        """Run one of its commands."""
        output = self._folder / name
        command = [sys.executable, "-m", "nacre", *words]
        return _checked(name, measured(command, output), output, fine)

    def rounds(self, seeds: Sequence[str], rounds: int) -> Iterator[StepUsage]:
        """Run all steps; those of the seeds first."""
        job = str(self._job)
        options = [
            "--delay",
            "0",
            "--set",
            "politeness.in_flight=10",
            "--set",
            "engine.parallel=50",
        ]
        self.run("new", "new", job, *seeds, *options)
        yield StepUsage(0, "inject", self.run("inject", "cycle", job, "inject", *seeds))
        for number in range(1, rounds + 1):
            words = ("cycle", job, "generate", "--units", "1", *_NACRE)
            used = self.run("generate", *words, fine=(0, ExitCode.NOTHING_DUE))
            yield StepUsage(number, "generate", used)
            if used.status:
                return
            for step in ("fetch", "update", "links", "dedup"):
                yield StepUsage(number, step, self.run(step, "cycle", job, step))

    def fetched(self) -> int:
        """Pages that it knows as fetched or as copies of one."""
        self.run("stats", "cycle", str(self._job), "readdb", "--stats", "--json")
        stats = json.loads((self._folder / "stats").read_text())
        statuses = stats["statuses"]
        return sum(statuses.get(name, 0) for name in ("db_fetched", "db_duplicate"))


# ---- both


def compare(home: Path, pages: int, rounds: int) -> None:
    """Run the rounds of both, and print their tables."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        port = free_port(HOSTS, 8080)
        for host in HOSTS:
            write_site(folder / host, pages)
        servers = [Server(host, port, folder / host) for host in HOSTS]
        seeds = [f"http://{host}:{port}/" for host in HOSTS]
        with serving(servers, folder / "nginx", core=_CORE):
            for crawl in (NacreRounds(folder / "nacre"), NutchRounds(home, folder / "nutch")):
                _print(type(crawl).__name__, list(crawl.rounds(seeds, rounds)), crawl.fetched())


def _print(name: str, steps: Sequence[StepUsage], fetched: int) -> None:
    total: Counter[str] = Counter()
    print(f"{name}: {fetched:,} pages fetched")
    for step in steps:
        used = {"wall_s": step.usage.wall, "cpu_s": step.usage.cpu, "mb": step.usage.written / 1e6}
        total.update(used)
        columns = "  ".join(f"{key} {value:8.2f}" for key, value in used.items())
        print(f"  {step.round} {step.step:10}{columns}")
    columns = "  ".join(f"{key} {value:8.2f}" for key, value in total.items())
    print(
        f"    {'all':10}{columns}; {total['cpu_s'] / max(fetched, 1) * 1000:.1f} ms of CPU a page"
    )
