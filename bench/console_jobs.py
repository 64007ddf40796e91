"""The jobs of `bench.console_load`, and its large one alone.

    python -m bench.console_jobs FOLDER --rows 10000000

A frontier of ten millions takes six minutes of CPU to make, so that it can be made once and be used
by several measurements: `python -m bench.console_load --large FOLDER`. Nothing is crawled in it.
"""

import argparse
import gzip
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.console.stories.running import command, finished_job, new_job

JOBS: Final = 50
"""Jobs in all, the large one included."""
RESTED: Final = 12
"""Jobs that are over; the rest never ran."""
RUNNING: Final = ("idle", "busy-1", "busy-2")
"""Jobs that crawl."""
LARGE: Final = "large"
"""Name of the job with the large frontier."""
HOSTS: Final = 20_000
"""Hosts of the large frontier."""


def make_large(folder: Path, rows: int) -> Path:
    """Make the job with a large frontier, by `nacre frontier import`.

    Args:
        folder: Where it is made, as `large`.
        rows: URIs that wait, in the queues of `HOSTS` hosts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    large = new_job(folder / LARGE, "http://127.0.0.1:9/", "politeness.delay=60s")
    urls = folder / "urls.txt.gz"
    with gzip.open(urls, "wt", compresslevel=1) as file:
        file.writelines(f"http://host-{n * HOSTS // rows}.test/page/{n}\n" for n in range(rows))
    command("frontier", large, "import", urls)
    urls.unlink()
    return large


def make_small(crawls: Path, url: str) -> None:
    """Make the other jobs: those that are over, those to be run, those that never ran.

    Args:
        crawls: Their folder.
        url: A site on the loopback.
    """
    first = finished_job(crawls / "over-00", url)
    for number in range(1, RESTED):
        shutil.copytree(first, crawls / f"over-{number:02}", symlinks=True)
    for name in RUNNING:
        new_job(crawls / name, url, "politeness.delay=0.3s")
    for number in range(JOBS - RESTED - len(RUNNING) - 1):
        target = crawls / f"new-{number:02}"
        target.mkdir()
        for name in ("crawl.yaml", "seeds.txt"):
            shutil.copy(crawls / RUNNING[0] / name, target / name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point: make the large job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where it is made")
    parser.add_argument("--rows", type=int, default=10_000_000, help="URIs that wait in it")
    options = parser.parse_args(arguments)
    print(make_large(options.folder, options.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
