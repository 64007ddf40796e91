"""Batch rounds over many URLs: `python -m bench.cycle --urls 20000000 --facts 10000000`.

A table of so many known URLs is made, half of them due. Then `generate` lists `--top` of them, a
fetch is made up (a visit for each listed URL and so many links summed by target), and `update`
brings it in. Each step runs in a separate process as in `nacre cycle`. Printed are wall time, CPU,
the greatest resident size of a process and of all together, and bytes written. `--grow 20,40`
(millions) compares sizes with the same facts. `--small` tells what a round of a small site takes
beyond its fetch (`bench.small`). `--nutch DIR` compares rounds with those of Nutch (`bench.nutch`).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from bench.nutch import compare
from bench.process import family
from bench.small import PAGES, small_rounds
from nacre.crawldb import facts as schemas
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import ADD_COLUMNS, COLUMNS, bucket_of_host
from nacre.rounds.opening import StepSetup, open_step
from nacre.rounds.segments.compaction import FILE_ROWS
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.judging import rules_of_step
from nacre.rounds.steps.update import UpdateOptions, update
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, publish
from nacre.rounds.tables.versions import Cycle, CycleChanges, TableFile

NOW = 1_800_000_000_000
DAY = 86_400_000
DOMAINS = 20_000
SETTINGS = "name: bench\nseeds: []\nscope: [accept]\npoliteness: {delay: 1}\n"


# ---- a table


def domains(buckets: int) -> dict[int, list[str]]:
    """Made-up domains by their buckets."""
    by_bucket: dict[int, list[str]] = {}
    for number in range(DOMAINS):
        name = f"site{number}.example"
        by_bucket.setdefault(bucket_of_host(name, buckets), []).append(name)
    return by_bucket


def _literal(names: list[str]) -> str:
    return ", ".join(f"('{name}')" for name in names)


def known_rows(names: list[str], per_domain: int, rules: int) -> str:
    """SQL of the rows of a bucket: visited pages, half of them due, let in by the rules of now."""
    values = {
        "key": "'http://' || d || '/page/' || n || '.html'",
        "status": "2",
        "fetch_time": f"{NOW} + ((hash(d, n, 1) % 1000)::BIGINT - 500) * {DAY // 10}",
        "interval": "2592000",
        "retries": "0",
        "modified": f"{NOW - 30 * DAY}",
        "last_status": "200",
        "last_time": f"({NOW - 30 * DAY} + (hash(d, n, 4) % {20 * DAY})::BIGINT) * 1000",
        "signature": "unhex(md5(d || n))",
        "digest": "'sha1:' || md5(d || n)",
        "record_id": "md5(n || d)",
        "length": "10000",
        "mime": "'text/html'",
        "judged": f"{rules}",
        "path": "'LL'",
        "source": "'http://' || d || '/'",
        "score": "(hash(d, n, 2) % 1000000)",
        "cash": "(hash(d, n, 3) % 1000000)",
        "inlinks": "3",
        "depth": "3",
        "first_seen": f"{NOW - 90 * DAY}",
        "last_inlink": f"{NOW - 30 * DAY}",
    }
    columns = ", ".join(
        f'{values.get(column.name, "null")}::{column.type} as "{column.name}"' for column in COLUMNS
    )
    # What is sorted is narrow; with one thread the other columns are made in that order.
    keys = (
        f"select d, n, {values['key']} as key from (values {_literal(names)}) v(d), "
        f"range({per_domain}) r(n) order by key"
    )
    return f"select {columns} from ({keys})"


def _shares(names: list[str], per_domain: int) -> list[list[str]]:
    """The domains of a bucket by base files: a large bucket has several, by ranges of the keys."""
    ordered = sorted(names, key=lambda name: f"{name}/")
    files = -(-len(ordered) * per_domain // FILE_ROWS)
    size = -(-len(ordered) // max(1, files))
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]


def _make_base(spec: tuple[str, int, list[str], int, int]) -> TableFile | None:
    place, bucket, names, per_domain, rules = spec
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "base.parquet"
        with Kernel(600 * 10**6, 1, scratch=scratch) as kernel:
            kernel.write(known_rows(names, per_domain, rules), str(path))
        return publish(open_storage(place), path, FilePlan(CRAWLDB, bucket, "base", 1))


def make_table(root: Path, urls: int, buckets: int) -> int:
    """Return a job whose table knows so many URLs; their number."""
    root.mkdir(parents=True)
    (root / "crawl.yaml").write_text(SETTINGS)
    cycle = Cycle.open(root)
    with open_step(root, StepSetup(clock=NOW)) as context:
        rules = rules_of_step(context, cycle.newest()).hash
    per_domain = max(1, urls // DOMAINS)
    specs = [
        (cycle.storage.place, bucket, share, per_domain, rules)
        for bucket, names in sorted(domains(buckets).items())
        for share in _shares(names, per_domain)
    ]
    with ProcessPoolExecutor(2) as pool:
        files = [table_file for table_file in pool.map(_make_base, specs) if table_file is not None]
    changes = CycleChanges(
        step="inject", clock=NOW, added={CRAWLDB: files}, buckets={CRAWLDB: buckets}
    )
    cycle.commit(cycle.newest(), changes)
    return sum(file.rows for file in files)


# ---- a fetch that is made up


def make_facts(root: Path, segment: str, facts: int, buckets: int) -> None:
    """Let a segment have been fetched: a visit for each URL, and links to known and new ones."""
    folder = root / "cycle" / "segments" / segment
    part = folder / "parts" / "u0001" / "1-001"
    part.mkdir(parents=True)
    lists = [str(path) for path in sorted((folder / "lists").iterdir())]
    by_host = {name: bucket for bucket, names in domains(buckets).items() for name in names}
    rows = ", ".join(f"('{name}', {bucket})" for name, bucket in by_host.items())
    visit_values = {
        "bucket": "b.bucket",
        "key": "l.key",
        "status": "case when hash(l.key) % 20 = 0 then 404 else 200 end",
        "time": f"{NOW * 1000}",
        "path": "l.path",
        "source": "l.source",
        "signature": "case when hash(l.key) % 3 = 0 then l.signature else unhex(md5(l.key)) end",
        "mime": "'text/html'",
        "digest": "l.digest",
        "record_id": "md5(l.key)",
        "length": "10000",
        "warc_date": f"{NOW * 1000}",
    }
    visits = ", ".join(
        f'{visit_values.get(name, "null")} as "{name}"' for name in schemas.VISITS.names
    )
    per_domain = max(1, facts // DOMAINS)
    adds = _link_columns()
    listed = ", ".join(f"'{path}'" for path in lists)
    with (
        tempfile.TemporaryDirectory() as scratch,
        Kernel(2 * 10**9, 2, scratch=scratch, directories=[str(root)]) as kernel,
    ):
        kernel.execute(f"create temp table hosts as select * from (values {rows}) v(d, bucket)")
        kernel.write(
            f"select {visits} from read_parquet([{listed}]) l join hosts b on b.d = "
            "split_part(l.key, '/', 3) order by bucket, key",
            str(part / "visits.parquet"),
        )
        kernel.write(
            f"select bucket::INTEGER as bucket, {adds} from hosts, range({per_domain}) r(n) "
            "order by bucket, key",
            str(part / "adds.parquet"),
        )
    cycle = Cycle.open(root)
    version = cycle.newest()
    state = msgspec.structs.replace(
        version.segments[segment],
        state="fetched",
        parts={"u0001": [f"segments/{segment}/parts/u0001/1-001"]},
    )
    cycle.commit(version, CycleChanges(step="fetch", clock=NOW, segments={segment: state}))


def _link_columns() -> str:
    """Return the columns of a link in SQL."""
    links = {
        # Three of four lead to known pages.
        "key": "'http://' || d || case when n % 4 = 0 then '/new/' else '/page/' end || n",
        "via": "'http://' || d || '/'",
        "path": "'LLL'",
        "source": "'http://' || d || '/'",
        "judged": "7",
        "score": "5000",
        "cash": "5000",
        "inlinks": "2",
        "depth": "4",
        "first_seen": f"{NOW}",
        "last_inlink": f"{NOW}",
    }
    return ", ".join(
        f'{links.get(column.name, "null")}::{column.type} as "{column.name}"'
        for column in ADD_COLUMNS
    )


# ---- the measure


def step_main(
    root: Path, step: str, top: int, tasks: int, engine: str, master: str = ""
) -> dict[str, Any]:
    """Run a step in this process; return its counts."""
    with open_step(root, StepSetup(engine, master, tasks, NOW)) as context:
        if step == "generate":
            generated = generate(context, GenerateOptions(top=top, units=2))
            return {
                "known": generated.known,
                "selected": generated.selected,
                "segments": generated.segments,
            }
        updated = update(context, UpdateOptions())
        return {"visits": updated.visits, "links": updated.links, "targets": updated.targets}


class Watch(threading.Thread):
    """The greatest resident size of a process and of all below it, MB, and their CPU seconds.

    Processes that end were killed by an engine, so that their parents never receive their CPU time;
    their value at the last sample, three times a second, is counted.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self.single = self.together = 0.0
        self._cpu: dict[int, float] = {}

    @property
    def cpu(self) -> float:
        return sum(self._cpu.values())

    def run(self) -> None:
        while not self._over.wait(0.3):
            pids = family(self._pid)
            self._cpu |= {pid: _cpu_of(pid, self._cpu.get(pid, 0.0)) for pid in pids}
            sizes = [_resident(pid) for pid in pids]
            self.single = max(self.single, *sizes, 0.0)
            self.together = max(self.together, sum(sizes))

    def stop(self) -> None:
        self._over.set()


def _cpu_of(pid: int, before: float) -> float:
    """CPU seconds of a process; as before when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return before
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    """Return the memory of a process without shared pages, MB."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measured_process(module: str, step: str, words: list[str]) -> dict[str, Any]:
    """Run a step of a benchmark in a separate process, and measure it.

    Args:
        module: The benchmark; its JSON output is added to the figures.
        step: The step, for the figures.
        words: Its arguments.
    """
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", module, *words], stdout=subprocess.PIPE)
    watch = Watch(child.pid)
    watch.start()
    out, _ = child.communicate()
    watch.stop()
    if child.returncode:
        raise SystemExit(f"{step} ended with {child.returncode}")
    return {
        "step": step,
        "wall_s": round(time.monotonic() - began, 1),
        "cpu_s": round(watch.cpu, 1),
        "rss_mb": round(watch.together),
        "rss_one_mb": round(watch.single),
        **json.loads(out),
    }


def measured(root: Path, step: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run a step in a separate process, and measure it and the bytes written."""
    size = _size(root)
    words = ["step", str(root), step, str(args.top), str(args.tasks), args.engine, args.master]
    figures = measured_process("bench.cycle", step, words)
    return {**figures, "written_mb": round((_size(root) - size) / 1e6, 1)}


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def cycle_of(urls: int, args: argparse.Namespace, home: Path) -> list[dict[str, Any]]:
    """One cycle at a size."""
    root = home / f"urls-{urls}"
    began = time.monotonic()
    urls_made = make_table(root, urls, args.buckets)
    print(
        f"{urls_made:,} URLs made in {time.monotonic() - began:.0f} s, {_size(root) / 1e6:,.0f} MB"
    )
    rows = [measured(root, "generate", args)]
    make_facts(root, rows[0]["segments"][0], args.facts, args.buckets)
    rows.append(measured(root, "update", args))
    for row in rows:
        print(json.dumps({"urls": urls_made, **row}))
    total = Counter({"wall_s": 0.0})
    for row in rows:
        total["wall_s"] += row["wall_s"]
    print(f"{urls_made:,} URLs: generate and update {total['wall_s']:.1f} s")
    shutil.rmtree(root)
    return rows


def main() -> None:
    """Measure."""
    if sys.argv[1:2] == ["step"]:
        root, step, top, tasks, engine, master = sys.argv[2:]
        print(json.dumps(step_main(Path(root), step, int(top), int(tasks), engine, master)))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=20_000_000)
    parser.add_argument("--facts", type=int, default=10_000_000)
    parser.add_argument("--top", type=int, default=1_000_000)
    parser.add_argument("--buckets", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--engine", default="local", choices=("local", "spark"))
    parser.add_argument("--master", default="", help="of Spark, such as local-cluster[2,1,700]")
    parser.add_argument("--grow", default="", help="sizes in millions, such as 20,40")
    parser.add_argument("--nutch", type=Path, help="rounds beside Nutch; made by tools.nutch")
    parser.add_argument(
        "--small", type=int, nargs="?", const=PAGES, help="rounds of a site of so many pages"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs, with --small")
    parser.add_argument("--pages", type=int, default=200, help="pages of a host, with --nutch")
    parser.add_argument("--rounds", type=int, default=4, help="rounds, with --nutch")
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()))
    args = parser.parse_args()
    if args.nutch:
        compare(args.nutch, args.pages, args.rounds)
        return
    if args.small:
        small_rounds(args.small, args.runs)
        return
    sizes = [int(float(millions) * 1e6) for millions in args.grow.split(",") if millions] or [
        args.urls
    ]
    with tempfile.TemporaryDirectory(dir=args.home) as home:
        results = {size: cycle_of(size, args, Path(home)) for size in sizes}
    first = results[sizes[0]]
    for size in sizes[1:]:
        for before, after in zip(first, results[size], strict=True):
            share = after["wall_s"] / before["wall_s"]
            cpu = after["cpu_s"] / before["cpu_s"]
            print(f"{after['step']} at {size:,}: {share:.2f} times the wall, {cpu:.2f} the CPU")


if __name__ == "__main__":
    main()
