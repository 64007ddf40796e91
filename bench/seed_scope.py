"""Seeds of a continuous crawl: `python -m bench.seed_scope --seeds 1000000`.

Made-up seeds on made-up hosts are entered into a store in portions, each with its commit; then a
separate process opens that store, and its scope judges URLs of hosts of which half have a seed.
Printed are CPU for each seed that enters, the time until the scope can be asked, CPU for each
decision of a host that was not asked before and of one that was, and the resident size of the
process. `--loaded` loads all seeds into memory, as it was before they were asked by key.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nacre.engine.seeding.seedbook import SeedBook, seed_rows
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import PrefixLookup
from nacre.scope.seeds import Seed
from nacre.scope.state import ScopeState
from nacre.store.store import Store

_PAGE = 4096
_PORTION = 2_000
_ASKED = 20_000


def resident() -> int:
    """Return the resident size of this process, bytes."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE


def enter(path: Path, seeds: int) -> dict[str, float]:
    """Enter seeds into a new store."""
    with Store.open(str(path)) as store:
        book = SeedBook(store, ScopeState())
        began = time.process_time()
        for first in range(0, seeds, _PORTION):
            urls = (f"https://www.site{n}.example/" for n in range(first, first + _PORTION))
            book.add_all([Seed(url, url) for url in urls])
            store.commit()
        spent = time.process_time() - began
        return {"us_per_seed": spent / seeds * 1e6, "rss_mb": resident() / 1e6}


def decide(path: Path, seeds: int, *, loaded: bool) -> dict[str, float]:
    """Begin with a store, and ask about hosts."""
    with Store.open(str(path)) as store:
        state = ScopeState()
        began, clock = time.process_time(), time.monotonic()
        if loaded:
            hashes = set()
            for row in seed_rows(store):
                hashes.add(hash(row.url))
                state.add_seeds([row.text])
        else:
            SeedBook(store, state).load(writes=True)
        lookup = PrefixLookup([state.seed_prefixes(Coercion.HOST)])
        lookup.hold("https://www.site0.example/")
        start = {"start_s": time.monotonic() - clock, "start_cpu_s": time.process_time() - began}
        step = max(1, 2 * seeds // _ASKED)
        hosts = [f"https://www.site{n * step}.example/" for n in range(_ASKED)]
        began = time.process_time()
        matched = sum(lookup.hold(url) for url in hosts)
        new = time.process_time() - began
        last = hosts[-1]
        began = time.process_time()
        for _ in hosts:
            lookup.hold(last)
        again = time.process_time() - began
        return {
            **start,
            "held": matched,
            "us_new_host": new / _ASKED * 1e6,
            "us_known_host": again / _ASKED * 1e6,
            "rss_mb": resident() / 1e6,
        }


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000_000, help="seeds")
    parser.add_argument("--loaded", action="store_true", help="load them into memory")
    parser.add_argument("--store", type=Path, help="the store of an earlier step")
    parser.add_argument("--step", choices=("enter", "decide"), help="one step only")
    args = parser.parse_args()
    if args.step == "enter":
        print(json.dumps(enter(args.store, args.seeds)))
    elif args.step == "decide":
        print(json.dumps(decide(args.store, args.seeds, loaded=args.loaded)))
    else:
        with tempfile.TemporaryDirectory(prefix="seeds-") as home:
            store = ["--store", f"{home}/store", "--seeds", str(args.seeds)]
            for more in (["enter"], ["decide"], ["decide", "--loaded"]):
                command = [sys.executable, "-m", "bench.seed_scope", *store, "--step", *more]
                print(" ".join(more), flush=True)
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
