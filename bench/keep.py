"""What `--keep strict|lean|delta` writes of the same visits: bytes of WARC, and records by kind.

    python -m bench.keep docs                      # a documentation site that a script edits
    python -m bench.keep world culture --seed 3    # a simulated world, over real HTTP

Each way has a separate job: one full run, then incremental runs at the same moments. All pages are
visited each time (`recrawl.recall: 1`), so that the ways differ only in their storage.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import uvloop

from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from nacre.archive.restoring import is_delta
from nacre.job.job import Job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.packing.expand_warcs import expand
from nacre.recrawl.pagestore import fetch_rows
from nacre.runs.runs import plan_run
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre_simweb.archetypes import archetype
from nacre_simweb.calendar import DAY
from nacre_simweb.serve import Hands, serving
from nacre_simweb.world import World
from tools import debs, nginx

WAYS = ("strict", "lean", "delta")
ADDRESS = "127.0.9.61"
PACKAGE, ROOT = "postfix-doc", "usr/share/doc/postfix/html"


class Later(SystemClock):
    """The machine's clock, some days ahead."""

    def __init__(self, days: float) -> None:
        super().__init__()
        self._ahead = days * DAY

    def now(self) -> float:
        return super().now() + self._ahead


def settings(seeds: list[str], hosts: dict[str, str]) -> JobSettings:
    plan = {
        "seeds": seeds,
        "scope": [rule.model_dump() for rule in rules_for(ScopeKind.HOST)],
        "politeness": {"delay": 0, "in_flight": 4, "group_by": "none"},
        "frontier": {"max_retries": 1},
        "network": {"allow": ["127.0.0.0/8"]},
        "dns": {"hosts": hosts, "ipv6": False},
        "recrawl": {"recall": 1.0, "least": 0.0, "lots": 0.0, "probes": 0, "audits": 0.0},
    }
    return JobSettings.model_validate(plan)


async def crawl(root: Path, job_settings: JobSettings, day: float, keep: str) -> None:
    clock = Later(day)
    if day:
        with Store.open(str(Layout(root).store)) as store:
            plan_run(store, Layout(root), clock.now(), mode="incremental", keep=keep)
    ended = await Job(root, job_settings, clock=clock).run()
    assert str(ended) == "FINISHED", ended


class Kept(NamedTuple):
    first: int
    later: int
    received: int
    patches: int
    rebuilt: int
    kinds: dict[str, int]
    records: dict[str, int]


def record_bytes(paths: list[Path]) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for path in paths:
        with path.open("rb") as file:
            entries = [(entry, is_delta(entry)) for entry in WarcReader(file)]
        for entry, differs in entries:
            kind = entry.get("WARC-Type") or ""
            sizes["difference" if differs else kind] += entry.size
    return dict(sizes)


def measure(root: Path) -> Kept:
    runs = sorted((root / "runs").iterdir())
    sizes = [sum(p.stat().st_size for p in run.glob("archive/*.warc.gz")) for run in runs]
    kinds: Counter[str] = Counter()
    received = patches = 0
    with Store.open(str(Layout(root).store), read_only=True) as store:
        for row in fetch_rows(store):
            if row.run > 1:
                kinds[row.stored or "nothing"] += 1
                received += row.bytes
                patches += row.patch
    warcs = sorted(root.glob("runs/*/archive/*.warc.gz"))
    checker = Checker()
    for path in warcs:
        checker.file(path)
    damage = [str(finding) for finding in checker.finish()]
    results = list(expand(warcs, root / "expanded"))
    assert not damage, damage[:5]
    assert not [defect for result in results for defect in result.defects]
    records = record_bytes([path for path in warcs if runs[0] not in path.parents])
    rebuilt = checker.summary.rebuilt
    return Kept(sizes[0], sum(sizes[1:]), received, patches, rebuilt, dict(kinds), records)


def touch_up(site: Path, step: int) -> None:
    """A release of the documentation: a date on each page, other text on one page in ten."""
    pages = sorted(site.glob("*.html"))
    for number, path in enumerate(pages):
        text = path.read_text("latin-1")
        text = re.sub(r"(?s)<p>Built on .*?</p>\n", "", text)
        if number % 10 == step % 10:
            text += f"<p>Since release {step}, {path.stem} is described in more detail here.</p>\n"
        text += f"<p>Built on day {step * 7} of the year.</p>\n"
        path.write_text(text, "latin-1")
        os.utime(path, (step * 1000, step * 1000))  # other validators for each release


def documentation(folder: Path, keep: str, days: list[float]) -> Kept:
    site = folder / "site"
    shutil.copytree(debs.ensure(PACKAGE) / ROOT, site)
    port = nginx.free_port((ADDRESS,))
    server = nginx.Server(ADDRESS, port, site, directives="open_file_cache off;")
    job_settings = settings([f"http://{ADDRESS}:{port}/index.html"], {})
    (folder / "job").mkdir()
    with nginx.serving([server], folder / "nginx"):
        for step, day in enumerate(days):
            touch_up(site, step)
            uvloop.run(crawl(folder / "job", job_settings, day, keep))
    return measure(folder / "job")


def simulated(name: str, seed: int, pages: int) -> Callable[[Path, str, list[float]], Kept]:
    def run(folder: Path, keep: str, days: list[float]) -> Kept:
        parameters = archetype(name, "honest")
        shape = parameters.shape.model_copy(update={"pages": min(pages, parameters.shape.pages)})
        update = {"bytes_scale": 0.01, "days": max(parameters.days, days[-1] + 1), "shape": shape}
        world = World(parameters.model_copy(update=update), seed)
        (folder / "job").mkdir()
        return asyncio.run(visit(world, folder, keep, days))

    return run


async def visit(world: World, folder: Path, keep: str, days: list[float]) -> Kept:
    hands = Hands()
    async with serving(world, hands) as (_, port):
        hosts = dict.fromkeys(world.site.hosts, "127.0.0.1")
        job_settings = settings([f"http://{host}:{port}/" for host in hosts], hosts)
        for day in days:
            hands.set(day * DAY)
            await crawl(folder / "job", job_settings, day, keep)
    return measure(folder / "job")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("docs", "world"))
    parser.add_argument("world", nargs="?", default="culture")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--runs", type=int, default=4, help="incremental runs, a week apart")
    options = parser.parse_args()
    days = [7.0 * number for number in range(options.runs + 1)]
    run = (
        documentation
        if options.what == "docs"
        else simulated(options.world, options.seed, options.pages)
    )
    by_keep = {}
    for keep in WAYS:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            by_keep[keep] = run(folder, keep, days)
        print(keep, json.dumps(by_keep[keep]._asdict()), flush=True)
    for keep in WAYS:
        share = by_keep[keep].later / by_keep["strict"].later
        print(f"{keep}: {share:.3f} of the WARC bytes of strict")


if __name__ == "__main__":
    main()
