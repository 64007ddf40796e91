"""What comes into batch rounds, and ranks: `python -m bench.moving --records 1000000`.

`--records N` imports a made-up CrawlDb of Nutch with N records in packed blocks, with the metadata
that Nutch's fetcher leaves. `--pages N --links M` ranks a made-up graph of N pages, level `page`,
10 iterations. Each runs in a separate process, as in `nacre cycle`. Printed are wall time, CPU, and
the greatest resident size of a process and of all together.

With `--keep FOLDER` the graph stays there. A bench that was ended, by Ctrl-C too, takes the graph
that is made, and goes on behind the last iteration; `disk_mb` are all files of FOLDER afterwards,
and `peak_mb` the most of them while it ran. The whole goal: `--pages 10000000 --keep FOLDER`.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.cycle import DOMAINS, NOW, SETTINGS, domains, measured_process
from nacre.crawldb.links import link_schema
from nacre.rounds.moving.nutch import CRAWL_DATUM, TEXT
from nacre.rounds.moving.nutch_import import NutchOptions, import_nutch, nutch_places
from nacre.rounds.opening import StepSetup, clock_of, open_step
from nacre.rounds.steps.rank import RankOptions, rank
from nacre.rounds.steps.rank_tasks import LINKS
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import FilePlan, publish, write_arrow
from nacre.rounds.tables.versions import Cycle, CycleChanges, TableFile

BUCKETS = 64
_BLOCK = 5_000
_SYNC = bytes(range(100, 116))
_STATUS = "org.apache.nutch.protocol.ProtocolStatus"


# ---- a CrawlDb of Nutch


def _varying(value: int) -> bytes:
    if value <= 127:
        return bytes([value])
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([(-112 - len(data)) & 0xFF]) + data


def _text(value: str) -> bytes:
    data = value.encode()
    return _varying(len(data)) + data


def _metadata() -> bytes:
    """What a fetched URL has: a ProtocolStatus, two texts and a number."""
    own = bytes([1, 1]) + struct.pack(">h", len(_STATUS)) + _STATUS.encode()
    texts = {"Content-Type": "text/html", "nutch.protocol.code": "200"}
    body = b"".join(b"\x8c" + _text(key) + b"\x8c" + _text(value) for key, value in texts.items())
    body += b"\x8c" + _text("_rs_") + b"\x85" + struct.pack(">i", 36)
    body += b"\x8c" + _text("_pst_") + b"\1" + struct.pack(">bbqi", 2, 1, 0, 0)
    return b"\1" + own + struct.pack(">i", len(texts) + 2) + body


def records(number: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values; two thirds of the URLs were fetched."""
    metadata = _metadata()
    for at in range(number):
        url = f"http://www.site{at % DOMAINS}.example/path/{at // DOMAINS}/page-{at * 7}.html"
        fetched = at % 3 > 0
        head = struct.pack(">bbqbif", 7, 2 if fetched else 1, NOW + at, 0, 2_592_000, 0.01)
        head += struct.pack(">qb", 0, 16 * fetched) + b"0123456789abcdef" * fetched
        yield _text(url), head + (metadata if fetched else b"\0")


def make_crawldb(folder: Path, number: int) -> None:
    """Write the CrawlDb as one part."""
    path = folder / "crawldb" / "current" / "part-r-00000" / "data"
    path.parent.mkdir(parents=True)
    mark = b"\xff\xff\xff\xff" + _SYNC
    with path.open("wb") as file:
        file.write(b"SEQ\x06" + _text(TEXT) + _text(CRAWL_DATUM) + b"\1\1")
        file.write(_text("org.apache.hadoop.io.compress.DefaultCodec") + b"\0\0\0\0" + _SYNC)
        pending: list[tuple[bytes, bytes]] = []

        def block() -> None:
            file.write(mark + _varying(len(pending)))
            for side in (0, 1):
                lengths = b"".join(_varying(len(row[side])) for row in pending)
                for data in (lengths, b"".join(row[side] for row in pending)):
                    packed = zlib.compress(data, 1)
                    file.write(_varying(len(packed)) + packed)
            pending.clear()

        for record in records(number):
            pending.append(record)
            if len(pending) == _BLOCK:
                block()
        if pending:
            block()


# ---- a graph


def _urls(numbers: Any) -> pa.Array:
    """Return the URLs of pages; their order is that of domain and page."""
    texts = [pa.array(part).cast(pa.string()) for part in (numbers % DOMAINS, numbers // DOMAINS)]
    page = pc.utf8_lpad(texts[1], 6, "0")
    parts = ["http://site", texts[0], ".example/page/", page, ".html", ""]
    return pc.binary_join_element_wise(*parts)


def _make_links(spec: tuple[str, int, list[str], int, int]) -> TableFile | None:
    """Return the links to the pages of some domains: a file of a bucket."""
    place, bucket, names, pages, per_page = spec
    chance = np.random.default_rng(bucket)
    own = np.array([int(name[4:-8]) for name in sorted(names)])
    of_domain = max(1, pages // DOMAINS)
    # The order of pages by their URLs: domains by name, then numbers of as many digits.
    place_of = np.empty(DOMAINS, np.int64)
    ordered = np.array(sorted(range(DOMAINS), key=lambda n: f"site{n}."))
    place_of[ordered] = np.arange(DOMAINS)
    targets = np.repeat((own[:, None] + DOMAINS * np.arange(of_domain)).ravel(), per_page)
    sources = chance.integers(0, of_domain * DOMAINS, len(targets))
    keys = [
        place_of[values % DOMAINS] * of_domain + values // DOMAINS for values in (targets, sources)
    ]
    pairs = np.unique((keys[0] << 32) | keys[1])
    numbers = [
        ordered[values // of_domain] + DOMAINS * (values % of_domain)
        for values in (pairs >> 32, pairs & (2**32 - 1))
    ]
    nothing = {name: pa.nulls(len(pairs), pa.string()) for name in ("anchor", "rel", "context")}
    columns = {
        "dst": _urls(numbers[0]), "src": _urls(numbers[1]), **nothing,
        "hop": pa.repeat("L", len(pairs)), "score": pa.nulls(len(pairs), pa.int64()),
        "first": pa.repeat(NOW, len(pairs)), "last": pa.repeat(NOW, len(pairs)),
    }  # fmt: skip
    storage = open_storage(place)
    with tempfile.TemporaryDirectory(dir=place.rpartition("/")[0]) as scratch:
        path = Path(scratch) / f"{bucket}.parquet"
        schema = link_schema()
        write_arrow(pa.table([columns[values.name] for values in schema], schema=schema), path)
        return publish(storage, path, FilePlan(LINKS, bucket, "base", 1))


def make_links(root: Path, pages: int, links: int) -> None:
    """Commit a table of links."""
    cycle = Cycle.open(root)
    place = cycle.storage.place
    specs = [
        (place, bucket, names, pages, links // pages)
        for bucket, names in sorted(domains(BUCKETS).items())
    ]
    with ProcessPoolExecutor(2) as pool:
        files = [file for file in pool.map(_make_links, specs) if file is not None]
    changes = CycleChanges(step="links", clock=NOW, added={LINKS: files}, buckets={LINKS: BUCKETS})
    cycle.commit(cycle.newest(), changes)


# ---- steps


def step_main(root: Path, step: str, source: str) -> None:
    """Run a step, and print its counts."""
    with open_step(root, StepSetup(tasks=2, clock=clock_of("2027-01-01T00:00:00Z"))) as context:
        if step == "import":
            result = import_nutch(context, nutch_places(Path(source)), NutchOptions())
            print(json.dumps({"records": result.records, "new": result.taken.new}))
            return
        ranked = rank(context, RankOptions("page"))
        print(json.dumps({"nodes": ranked.nodes, "edges": ranked.edges}))


def measured(root: Path, step: str, source: str = "") -> dict[str, Any]:
    """Run a step in a separate process, and measure it."""
    return measured_process("bench.moving", step, ["step", str(root), step, source])


def ranked(root: Path, pages: int, links: int) -> None:
    """Make a graph if there is none, and rank it."""
    begun = time.monotonic()
    if LINKS not in Cycle.open(root).newest().tables:
        make_links(root, pages, links)
        print(json.dumps({"step": "graph", "wall_s": round(time.monotonic() - begun, 1)}))
    with Peak(root) as peak:
        figures = measured(root, "rank")
    print(json.dumps({**figures, "disk_mb": disk_mb(root), "peak_mb": peak.most}))


def disk_mb(root: Path) -> int:
    """Return the size of the files of a folder, MB; those that go meanwhile are not counted."""
    process = subprocess.run(["du", "-sm", root], capture_output=True, text=True, check=False)
    return int(process.stdout.split()[0]) if process.stdout else 0


class Peak:
    """Samples the size of a folder repeatedly, on a separate thread.

    Args:
        root: The folder.

    Attributes:
        most: The greatest size so far, MB.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most = 0

    def _look(self) -> None:
        while not self._over.wait(2):
            self.most = max(self.most, disk_mb(self._root))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()


def main() -> None:
    """Measure."""
    if sys.argv[1:2] == ["step"]:
        step_main(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=0, help="records of a CrawlDb")
    parser.add_argument("--pages", type=int, default=0, help="pages of a graph")
    parser.add_argument("--links", type=int, default=0, help="its links; default: 10 a page")
    parser.add_argument("--work", type=Path, help="folder for the data; default: a temporary one")
    parser.add_argument("--keep", type=Path, help="folder of a graph that stays")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        root = Path(folder) / "job"
        root.mkdir()
        (root / "crawl.yaml").write_text(SETTINGS)
        if args.records:
            make_crawldb(Path(folder), args.records)
            figures = measured(root, "import", folder)
            rate = figures["records"] / max(figures["cpu_s"], 0.01)
            print(json.dumps({**figures, "records_per_cpu_s": round(rate)}))
        if args.pages and not args.keep:
            ranked(root, args.pages, args.links or args.pages * 10)
    if args.pages and args.keep:
        links = args.links or args.pages * 10
        root = args.keep / f"graph-{args.pages}-{links}"
        root.mkdir(parents=True, exist_ok=True)
        (root / "crawl.yaml").write_text(SETTINGS)
        ranked(root, args.pages, links)


if __name__ == "__main__":
    main()
