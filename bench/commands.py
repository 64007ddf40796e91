"""What a person waits for: CPU time of `--help`, of `status`, of a crawl of one page, of rounds.

    python -m bench.commands [RUNS]

The commands of batch rounds look at a small one; they need the extra `cycle`. Prints JSON: medians
in seconds, with all runs, and by the clock. A part of `bench.run`, too.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from bench.process import measured

TARGETS = {
    "help": 0.3,
    "status": 0.4,
    "one_page": 0.6,
    "cycle_help": 0.6,
    "cycle_versions": 0.6,
    "cycle_readdb": 0.6,
}
"""CPU seconds that each may take."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def _page(folder: Path) -> Iterator[str]:
    """One page on loopback; its URL."""
    folder.mkdir()
    (folder / "index.html").write_text("<title>A page</title><p>One page.")
    handler = partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def measure(folder: Path, runs: int) -> dict[str, Any]:
    """Run each command several times, in turn; the medians of its CPU time and its time, s."""
    nacre = [sys.executable, "-m", "nacre"]
    cpu_times: dict[str, list[float]] = {name: [] for name in TARGETS}
    walls: dict[str, list[float]] = {name: [] for name in TARGETS}
    rounds = str(folder / "rounds")
    with _page(folder / "site") as url:
        crawl = [*nacre, "crawl", url, "--scope", "page", "--delay", "0", "--quiet", "--out"]
        _require(measured([*crawl, str(folder / "job")], folder / "first").status)
        round_command = [*nacre, "cycle", rounds, "-s", url, "--delay", "0", "--quiet"]
        _require(measured(round_command, folder / "first").status)
        for number in range(runs):
            commands = {
                "help": [*nacre, "--help"],
                "status": [*nacre, "status", str(folder / "job")],
                "one_page": [*crawl, str(folder / f"job-{number}")],
                "cycle_help": [*nacre, "cycle", "--help"],
                "cycle_versions": [*nacre, "cycle", rounds, "versions"],
                "cycle_readdb": [*nacre, "cycle", rounds, "readdb", "--stats"],
            }
            for name, command in commands.items():
                usage = measured(command, folder / name)
                _require(usage.status)
                cpu_times[name].append(usage.cpu)
                walls[name].append(usage.wall)
    medians = {name: round(median(seconds), 3) for name, seconds in cpu_times.items()}
    return {
        **medians,
        "walls": {name: round(median(seconds), 3) for name, seconds in walls.items()},
        "runs": {n: [round(cpu, 3) for cpu in seconds] for n, seconds in cpu_times.items()},
    }


def _require(status: int) -> None:
    if status:
        raise RuntimeError(f"a command ended with status {status}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(measure(Path(place), int(sys.argv[1]) if len(sys.argv) > 1 else 9)))
