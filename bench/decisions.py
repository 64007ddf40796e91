"""What a million scope decisions cost: `python -m bench.decisions CRAWL_LOG [HOST...]`.

Each line of a crawl.log is asked about as if it had just been found: the stock scope with a seed,
which has to look at the SURT, the hops and the path. Prints CPU seconds as JSON.
"""

import json
import sys
from itertools import cycle, islice
from pathlib import Path
from time import process_time

from nacre.scope.compile import compile_scope
from nacre.scope.rules.stock import stock_rules
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject

DECISIONS = 1_000_000


def read(log: Path) -> list[tuple[str, str, str]]:
    """URL, hop path and via of each line."""
    decisions = []
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            fields = line.split()
            path, via = fields[4].replace("-", ""), fields[5].replace("-", "", fields[5] == "-")
            decisions.append((fields[3], path, via))
    return decisions


def main(log: Path, seeds: list[str]) -> None:
    """Decide, and print the costs."""
    state = ScopeState()
    for seed in seeds:
        state.add_seed(seed)
    scope = compile_scope(stock_rules(), state)
    links = read(log)
    todo = list(islice(cycle(links), DECISIONS))
    began = process_time()
    accepted = sum(
        scope.decide(Subject(url, path, via, "a/@href")).accepted for url, path, via in todo
    )
    used = process_time() - began
    print(json.dumps({"cpu_s": used, "decisions": len(todo), "accepted": accepted}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
