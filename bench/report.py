"""The figures of all runs as medians, and as a table with the targets beside them."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.commands import TARGETS
from bench.crawler import CrawlRun
from bench.process import CLIENT_CORE, Usage
from bench.sites import SERVER_CORE

TARGET, STRETCH = 0.70, 0.55
WGET, SCRAPY = 1.23, 6.13
RSS_MB, SCOPE_S = 300, 2.0
SHEETS_PERCENT = 5.0
EXPECTED_URLS = 22_044
BUSY = 0.5
"""Load of the machine before the run, above which its figures are too high."""


def machine() -> dict[str, Any]:
    """What it ran on, and how busy that was before."""
    model = ""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "client_core": CLIENT_CORE,
        "server_core": SERVER_CORE,
    }


def crawls(runs: Sequence[CrawlRun]) -> dict[str, Any]:
    """Medians of our crawls."""
    first = runs[0].found
    return {
        "urls": first.linked,
        "fetched": first.fetched,
        "statuses": first.statuses,
        "cpu_ms_per_url": round(median(run.per_url for run in runs), 3),
        "cpu_ms_per_fetch": round(
            median(run.usage.cpu / run.found.fetched * 1000 for run in runs), 3
        ),
        "urls_per_s": round(median(run.rate for run in runs)),
        "rss_mb": round(median(run.usage.rss for run in runs) / 1e6),
        "written_mb": round(median(run.written for run in runs) / 1e6),
        "runs_cpu_s": [round(run.usage.cpu, 2) for run in runs],
        "runs_wall_s": [round(run.usage.wall, 2) for run in runs],
    }


def others(runs: Sequence[tuple[Usage, int, int]]) -> dict[str, Any]:
    """Medians of another crawler's runs: usage, replies, bytes written."""
    return {
        "urls": runs[0][1],
        "cpu_ms_per_url": round(median(usage.cpu / urls * 1000 for usage, urls, _ in runs), 3),
        "urls_per_s": round(median(urls / usage.wall for usage, urls, _ in runs)),
        "rss_mb": round(median(usage.rss for usage, _, _ in runs) / 1e6),
        "written_mb": round(median(size for _, _, size in runs) / 1e6),
        "runs_cpu_s": [round(usage.cpu, 2) for usage, _, _ in runs],
        "runs_wall_s": [round(usage.wall, 2) for usage, _, _ in runs],
    }


def table(results: dict[str, Any]) -> str:
    """Return all of it for people."""
    lines = [f"{results['processor']}, load before {results['load_before']:.2f}", ""]
    lines += _crawlers(results)
    lines += _targets(results)
    if "stages" in results:
        lines += ["", *_stages(results["stages"])]
    if "comparison" in results:
        lines += ["", *_comparison(results["comparison"])]
    if "frontier" in results:
        lines += ["", *_frontier(results["frontier"])]
    return "\n".join(lines)


_LABELS = {
    "crawl": "nacre",
    "wget": "wget with WARC",
    "scrapy": "Scrapy without WARC",
    "tls": "nacre, TLS",
    "hosts": "nacre, TLS, 1,000 hosts of 5 pages",
}


def _crawlers(results: dict[str, Any]) -> Iterator[str]:
    yield f"{'':36}{'URLs':>8}{'CPU ms/URL':>12}{'URLs/s':>8}{'RSS MB':>8}{'written MB':>12}"
    for name, label in _LABELS.items():
        crawler = results.get(name)
        if crawler is None:
            continue
        if "skipped" in crawler:
            yield f"{label:36}skipped: {crawler['skipped']}"
            continue
        yield (
            f"{label:36}{crawler['urls']:>8,}{crawler['cpu_ms_per_url']:>12.3f}"
            f"{crawler['urls_per_s']:>8,}{crawler['rss_mb']:>8}{crawler['written_mb']:>12}"
        )


def _targets(results: dict[str, Any]) -> Iterator[str]:
    yield ""
    if crawl := results.get("crawl"):
        yield (
            f"URLs that links lead to: {crawl['urls']:,}, expected {EXPECTED_URLS:,}; "
            f"fetched, guesses and robots.txt included: {crawl['fetched']:,}, "
            f"{crawl['cpu_ms_per_fetch']:.3f} ms each"
        )
        yield str(Goal("CPU ms per URL, stretch", crawl["cpu_ms_per_url"], STRETCH))
        yield from _factors(results, crawl["cpu_ms_per_url"])
    yield from map(str, goals(results))


class Goal(NamedTuple):
    """A figure that should be small.

    Attributes:
        label: What was measured, with its unit.
        value: What came out.
        target: The most that it may be.
    """

    label: str
    value: float
    target: float

    @property
    def met(self) -> bool:
        """It is small enough."""
        return self.value <= self.target

    def __str__(self) -> str:
        word = "met" if self.met else "not met"
        return f"{self.label}: {self.value:g}, target {self.target:g}: {word}"


def goals(results: dict[str, Any]) -> Iterator[Goal]:
    """Yield the targets that this run can tell of."""
    if crawl := results.get("crawl"):
        yield Goal("CPU ms per URL", crawl["cpu_ms_per_url"], TARGET)
        yield Goal("RSS, MB", crawl["rss_mb"], RSS_MB)
    if sheets := results.get("sheets"):
        label = (
            f"{sheets['sheets']} sheets over {sheets['prefixes']:,} prefixes, % more CPU per URL"
        )
        yield Goal(label, sheets["more_percent"], SHEETS_PERCENT)
    if scope := results.get("scope"):
        yield Goal("scope, CPU s per million decisions", scope["cpu_s_per_million"], SCOPE_S)
    if commands := results.get("commands"):
        for name, target in TARGETS.items():
            if name in commands:
                yield Goal(f"{_COMMANDS[name]}, CPU s", commands[name], target)


_COMMANDS = {
    "help": "nacre --help",
    "status": "nacre status",
    "one_page": "a crawl of one page",
    "cycle_help": "nacre cycle --help",
    "cycle_versions": "nacre cycle DIR versions",
    "cycle_readdb": "nacre cycle DIR readdb --stats",
}


def verdict(results: dict[str, Any]) -> str:
    """What the run came to, in one line: the last one that is printed."""
    all_goals = list(goals(results))
    if not all_goals:
        return "Result: no part with a target was run."
    missed = [f"{g.label} {g.value:g} (target {g.target:g})" for g in all_goals if not g.met]
    text = f"Result: {len(all_goals) - len(missed)} of {len(all_goals)} targets met"
    if missed:
        text += f"; not met: {', '.join(missed)}"
    busy = results["load_before"] > BUSY
    return f"{text}. The machine was busy before: figures are too high." if busy else f"{text}."


def _factors(results: dict[str, Any], cost: float) -> Iterator[str]:
    for name, reference in (("wget", WGET), ("scrapy", SCRAPY)):
        theirs = results.get(name, {}).get("cpu_ms_per_url")
        if theirs:
            yield (
                f"{name}: {theirs / cost:.1f} times our CPU per URL here "
                f"({reference} ms on the reference machine)"
            )


def _stages(figures: dict[str, Any]) -> Iterator[str]:
    gaps = figures["gaps"]
    yield (
        f"event loop gaps: p99 {gaps['p99_ms']} ms (aim 10), maximum {gaps['max_ms']} ms (aim 50); "
        f"by our own CPU time p99 {gaps['busy_p99_ms']} ms, maximum {gaps['busy_max_ms']} ms"
    )
    yield f"stages, CPU ms per URL (a watched run: {figures['cpu_ms_per_url']:.3f} in all)"
    for name, cost in figures["stages_ms"].items():
        yield f"  {name:44}{cost:8.4f}"


def _comparison(figures: dict[str, Any]) -> Iterator[str]:
    yield (
        f"comparing two versions of a page, from its second visit on: {figures['all_ms']} ms of "
        f"CPU ({figures['pages']:,} pages of {figures['kb_each']} kB)"
    )
    yield (
        f"  taking one apart {figures['apart_ms']} ms, comparing {figures['compare_ms']}, "
        f"learning {figures['learn_ms']}; {figures['found_changed']:,} of one added "
        "sentence each found"
    )


def _frontier(figures: dict[str, Any]) -> Iterator[str]:
    last = figures["last"]
    yield f"frontier: {figures['urls']:,} URLs in {figures['queues']:,} queues"
    yield (
        f"  at the end {last['us_per_visit']} µs per visit of 16 links, "
        f"{last['decisions_per_s']:,} decisions/s; {figures['growth']} times the cost of a fifth"
    )
    yield (
        f"  per URL {figures['disk_bytes_per_url']} bytes on disk, "
        f"{figures['memory_bytes_per_url']} in memory; "
        f"resumed in {figures['resume']['cpu_s']} s of CPU"
    )
