"""What a unit of batch rounds costs beside the continuous crawler, on the same pages.

    python -m bench.units [PAGES] [RUNS] [PACKAGE]

A site of 1,000 pages with 40 links each on loopback, behind nginx; or the documentation of a Debian
package out of the benchmark site (`bench.sites`), such as python3.11-doc, and then PAGES counts for
nothing. The crawler follows its links from the home page; a unit is given the list of all URLs
that the crawler visits. Both are pinned to one processor, and
what a run of one page costs is left out. Units keep the texts of links, so the crawler does, too:
`cpu` compares equal work on pages; `cpu_plain` is that beside a crawler without them, which is its
default. Then two units at a time on half the list each, beside one
on all of it, by the clock, as processes of the fork server; once without the time of units with a
list of one URL, once with it. The server has no separate processor there: its CPU is printed too,
and with it the bound of two processors. Prints JSON.
"""

import json
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from bench.process import measured
from bench.sites import PARTS
from nacre.config.check import Loaded
from nacre.core.crawluri import Hop
from nacre.crawldb.row import ONE, SCHEMA
from nacre.machine.layout import Layout
from nacre.rounds.segments.frozen_settings import freeze
from nacre.rounds.storage import open_storage
from nacre.rounds.units.unit import UnitSpec
from nacre.rounds.units.unit_process import fetch_here
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from tools import debs
from tools.nginx import Nginx, Server, free_port, serving

TARGETS = {"cpu": 1.15, "two_units": 1.7}
"""CPU of a unit beside the crawler's, at most; throughput of two units beside one, at least."""

_LINKS, _CORE = 40, 1
_PREREQUISITE = Hop.PREREQUISITE.value
_WORDS = ("archive", "crawl", "page", "link", "host", "part", "unit", "round", "table", "fetch")


def write_site(folder: Path, pages: int) -> list[str]:
    """Write a site; the paths of its pages, the home page first."""
    draw = random.Random(1)
    folder.mkdir()
    names = ["index.html", *(f"p{number}.html" for number in range(1, pages))]
    navigation = "".join(f'<a href="{name}">{name}</a> ' for name in names[1:16])
    for number, name in enumerate(names):
        after = range(number * 25 + 1, number * 25 + _LINKS - 14)
        links = "".join(
            f'<a href="{names[target % pages]}">page {target % pages}</a> ' for target in after
        )
        text = " ".join(draw.choices(_WORDS, k=700))
        (folder / name).write_text(f"<title>{name}</title>{navigation}<p>{text}<p>{links}")
    return names


@dataclass(frozen=True)
class _Web:
    """A site on loopback.

    Attributes:
        root: The folder that is served.
        home: Path of its home page.
        names: Paths of its pages, the home page first; None: what a crawl visits.
    """

    root: Path
    home: str = ""
    names: list[str] | None = None

    def urls(self, origin: str, folder: Path) -> list[str]:
        """Return the URLs of a list; a crawl that finds them works in the folder.

        Args:
            origin: Scheme, address and port, with a slash.
            folder: Does not exist yet.
        """
        if self.names is not None:
            return [origin, *(origin + name for name in self.names[1:])]
        cpu_of_crawl(folder, origin + self.home, "host")
        lines = (folder / "job" / "latest" / "logs" / "crawl.log").read_text().splitlines()
        visits = (line.split() for line in lines)
        return [url for _, _, _, url, path, *_ in visits if not path.endswith(_PREREQUISITE)]


def web_of(root: Path, pages: int, package: str) -> _Web:
    """Return the site to measure on.

    Args:
        root: Where a made one is written to.
        pages: Pages of a made one.
        package: A package of the benchmark site; "": the site is made.
    """
    if not package:
        return _Web(root, "", write_site(root, pages))
    parts = {part.package: part for part in PARTS if len(part.starts) == 1 and not part.listed}
    if package not in parts:
        raise SystemExit(f"{package}: one of {', '.join(parts)}")
    part = parts[package]
    return _Web(debs.ensure(package) / part.root, part.starts[0])


def prepare(root: Path, home: str, lists: list[list[str]], **fetch: Any) -> list[UnitSpec]:
    """Return a segment with a unit for each list."""
    settings = JobSettings.model_validate(
        {
            "seeds": [home],
            "scope": [rule.model_dump(mode="json") for rule in rules_for(ScopeKind.HOST)],
            "politeness": {"delay": 0.0, "in_flight": 10},
            **fetch,
        }
    )
    storage = open_storage(str(root / "cycle"))
    freeze(Layout(root), Loaded(settings, {}), [home], storage, "s")
    schema = SCHEMA.append(pa.field("order", pa.int64()))
    common = {"score": 0, "cash": ONE, "inlinks": 1, "depth": 2, "path": "L", "first_seen": 1}
    for number, urls in enumerate(lists):
        rows = [
            {**dict.fromkeys(SCHEMA.names), **common, "key": url, "order": place}
            for place, url in enumerate(urls)
        ]
        path = root / "cycle" / "segments" / "s" / "lists" / f"u{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return [
        UnitSpec(storage=storage.place, segment="s", unit=f"u{number}", scratch=str(root / "units"))
        for number in range(len(lists))
    ]


def unit_command(spec: UnitSpec, parent: int) -> list[str]:
    """Return the command of a unit."""
    text = msgspec.json.encode(spec).decode()
    return [sys.executable, "-m", "nacre.rounds.units.unit", text, str(parent)]


def cpu_of_units(folder: Path, home: str, urls: list[str]) -> float:
    """CPU seconds of a unit."""
    (spec,) = prepare(folder, home, [urls])
    used = measured(unit_command(spec, os.getpid()), folder / "out")
    if used.status:
        raise SystemExit((folder / "out.err").read_text())
    return used.cpu


def cpu_of_crawl(folder: Path, home: str, scope: str, *, texts: bool = True) -> float:
    """CPU seconds of a crawl, which keeps the texts of links or does not."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "nacre", "crawl", home, "--scope", scope, "--delay", "0"]
    command += ["--set", "politeness.in_flight=10", "--quiet", "--out", str(folder / "job")]
    command += ["--set", f"extract.anchor_text={str(texts).lower()}"]
    used = measured(command, folder / "out")
    if used.status:
        raise SystemExit((folder / "out.err").read_text())
    return used.cpu


def cpu_of_server(server: Nginx) -> float:
    """CPU seconds of the server and its workers so far."""
    master = server.pid
    workers = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    ticks = 0
    for pid in (master, *workers):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wall_of_units(folder: Path, home: str, lists: list[list[str]]) -> float:
    """Seconds until units that begin together have all ended, as the step `fetch` runs them.

    The fork server has begun by then, as it has beside `generate` when a round comes to `fetch`.
    """
    specs = prepare(folder, home, lists)
    began = time.perf_counter()
    fetch_here(specs, len(specs))
    return time.perf_counter() - began


def measure(root: Path, runs: int, web: _Web) -> dict[str, Any]:
    """Measure both in turn."""
    port = free_port(("127.0.0.1",), 8080)
    origin = f"http://127.0.0.1:{port}/"
    home = origin + web.home
    crawls: list[float] = []
    plain: list[float] = []
    units: list[float] = []
    walls: dict[int, list[float]] = {1: [], 2: []}
    starts: dict[int, list[float]] = {1: [], 2: []}
    served: list[float] = []
    with serving([Server("127.0.0.1", port, web.root)], root / "nginx", core=_CORE) as server:
        urls = web.urls(origin, root / "first")
        pages = len(urls)
        wall_of_units(root / "warm", home, [urls[:1]])
        for number in range(runs):
            own = root / str(number)
            crawl = cpu_of_crawl(own / "crawl", home, "host")
            start = cpu_of_crawl(own / "crawl-1", home, "page")
            crawls.append(crawl - start)
            plain.append(cpu_of_crawl(own / "plain", home, "host", texts=False) - start)
            before = cpu_of_server(server)
            unit = cpu_of_units(own / "unit", home, urls)
            served.append(cpu_of_server(server) - before)
            units.append(unit - cpu_of_units(own / "unit-1", home, urls[:1]))
            for count, lists in ((1, [urls]), (2, [urls[::2], urls[1::2]])):
                single_urls = [wall_1[:1] for wall_1 in lists]
                starts[count].append(wall_of_units(own / f"start-{count}", home, single_urls))
                walls[count].append(wall_of_units(own / f"wall-{count}", home, lists))
    per_page = (median(walls_of) / pages * 1000 for walls_of in (crawls, plain, units, served))
    crawl, bare, unit, serve = per_page
    wall_1, wall_2 = (median(walls[count]) - median(starts[count]) for count in (1, 2))
    return {
        "pages": pages,
        "crawl_ms": round(crawl, 3),
        "crawl_plain_ms": round(bare, 3),
        "unit_ms": round(unit, 3),
        "cpu": round(unit / crawl, 3),
        "cpu_plain": round(unit / bare, 3),
        "two_units": round(wall_1 / wall_2, 2),
        "two_units_with_start": round(median(walls[1]) / median(walls[2]), 2),
        "server_ms": round(serve, 3),
        "two_units_at_most": round(wall_1 / pages * 1000 / ((unit + serve) / 2), 2),
        "runs": {"crawl": crawls, "plain": plain, "unit": units, "walls": walls, "starts": starts},
    }


def main() -> None:
    """Measure, and say whether the targets are met."""
    words = [*sys.argv[1:], *("1000", "3", "")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        figures = measure(root, int(words[1]), web_of(root / "site", int(words[0]), words[2]))
    figures["targets"] = TARGETS
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
