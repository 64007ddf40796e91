"""What `dedup` takes to choose the best of very many equal pages: time, CPU and memory of its task.

    python -m bench.dedup [PAGES]

All pages have one signature, as the same error page of a thousand hosts has: the largest group
that can be. The task of the last pass runs in a separate process. Prints JSON.
"""

import json
import sys
import tempfile
from pathlib import Path

import msgspec

from bench.process import measured
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.steps.dedup import ChooseSpec, choose_task
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.tables import TaskPlace

MOST_MEMORY = 600_000_000
"""Bytes that a task may have."""

_SOURCE = "exchange/confirmed.parquet"
_HOSTS = 1_000


def write_pages(root: Path, pages: int) -> None:
    """Write equal pages as the second pass of `dedup` does."""
    storage = open_storage(str(root / "cycle"))
    path = root / "confirmed.parquet"
    with Kernel(scratch=str(root), directories=[str(root)]) as kernel:
        kernel.write(
            "select 'same'::BLOB as signature, "
            f"'http://h' || (n % {_HOSTS}) || '.example.org/section/page-' || n || '.html' as key, "
            "((n * 7919) % 100003)::DECIMAL(38,0) as score, 1700000000000 + n % 1000 as time, "
            f"null::VARCHAR as dup_of, (n % 64)::INTEGER as bucket from range({pages}) t(n)",
            str(path),
        )
    storage.upload(path, _SOURCE)


def choose(root: Path) -> None:
    """Choose duplicates, in this process; print the counts."""
    place = TaskPlace(str(root / "cycle"), scratch=str(root))
    spec = ChooseSpec(place, 1, (_SOURCE,), (), "", CycleDedupSettings(), 64)
    chosen, files = choose_task(spec)
    counts = {"pages": chosen.pages, "groups": chosen.groups, "marked": chosen.marked}
    rows = sum(file.rows for written in files.values() for file in written)
    sys.stdout.buffer.write(msgspec.json.encode({**counts, "rows": rows}))


def main() -> None:
    """Measure, and say whether the task keeps to its memory."""
    if sys.argv[1:2] == ["--choose"]:
        choose(Path(sys.argv[2]))
        return
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_pages(root, pages)
        used = measured([sys.executable, "-m", "bench.dedup", "--choose", folder], root / "out")
        if used.status:
            raise SystemExit((root / "out.err").read_text())
        counts = json.loads((root / "out").read_text())
    figures = {
        "seconds": round(used.wall, 1),
        "cpu": round(used.cpu, 1),
        "memory_mb": round(used.rss / 1e6),
    }
    print(json.dumps({**counts, **figures, "most_memory_mb": MOST_MEMORY // 10**6}, indent=2))


if __name__ == "__main__":
    main()
