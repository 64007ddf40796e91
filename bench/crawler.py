"""Nacre's own runs: their jobs, processes and results."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.process import Usage, measured, written

PARALLEL = 32


@dataclass(frozen=True)
class Found:
    """What a crawl fetched, by its crawl.log.

    Attributes:
        fetched: URIs with a reply, robots.txt included.
        linked: Those that a link led to: without robots.txt, favicon.ico and mere guesses.
        statuses: How many of those had which status.
    """

    fetched: int
    linked: int
    statuses: Mapping[str, int]


@dataclass(frozen=True)
class CrawlRun:
    """One run.

    Attributes:
        usage: What it used.
        found: Its fetches.
        written: Bytes of all its files.
        seen: Figures of the sampler and the watchdog, if they were requested.
    """

    usage: Usage
    found: Found
    written: int
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def per_url(self) -> float:
        """CPU ms per URL that a link led to."""
        return self.usage.cpu / max(self.found.linked, 1) * 1000

    @property
    def rate(self) -> float:
        """URLs that a link led to per second."""
        return self.found.linked / self.usage.wall


def settings(
    seeds: Sequence[str], prefixes: Sequence[str], hosts: Mapping[str, str]
) -> dict[str, Any]:
    """Return a job with politeness off, kept to its sites: no embeds from elsewhere, so no DNS."""
    scope = [
        {"rule": "reject"},
        {"rule": "surt-prefixed", "seeds_as_prefixes": False, "prefixes": list(prefixes)},
        {"rule": "too-many-hops"},
        {"rule": "surt-prefixed", "decision": "REJECT", "seeds_as_prefixes": False},
        {"rule": "matches-list-regex", "decision": "REJECT"},
        {"rule": "pathological-path"},
        {"rule": "too-many-path-segments"},
        {"rule": "prerequisite-accept"},
        {"rule": "scheme-not-in-set"},
    ]
    return {
        "name": "bench",
        "seeds": list(seeds),
        "scope": scope,
        "politeness": {"delay": 0, "in_flight": PARALLEL},
        "engine": {"parallel": PARALLEL},
        "frontier": {"max_retries": 1},
        "network": {"allow": ["127.0.0.0/8"]},
        "dns": {"hosts": dict(hosts)},
    }


def crawl(job: Mapping[str, Any], folder: Path, *, watch: bool = False) -> CrawlRun:
    """Run one crawl in a separate process.

    Raises:
        RuntimeError: It did not end well.
    """
    out = folder / "job"
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"out": str(out), "settings": job, "watch": watch}))
    output = folder / "output"
    usage = measured([sys.executable, "-m", "bench.crawl", str(spec)], output)
    if usage.status:
        raise RuntimeError(f"the crawl failed: {Path(f'{output}.err').read_text()[-2000:]}")
    watched = json.loads(output.read_text()) if watch else {}
    return CrawlRun(usage, found(crawl_log(out)), written(out), watched)


def crawl_log(out: Path) -> Path:
    """Return the crawl.log of a job's only run."""
    return next(out.glob("runs/*/logs/crawl.log"))


def found(log: Path) -> Found:
    """Read a crawl.log."""
    fetched = 0
    statuses: Counter[str] = Counter()
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            _, status, _, url, path, *_ = line.split()
            if status.startswith("-") or url.startswith("dns:"):
                continue
            fetched += 1
            if not path.endswith(("X", "P")) and not url.endswith("/favicon.ico"):
                statuses[status] += 1
    return Found(fetched, statuses.total(), dict(statuses))
