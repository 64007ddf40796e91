"""How soon a crawl has the distinct pages of a site that has no end: `make traps`.

Each world is crawled without any exclusion, in two orders: as it comes, and breadth first by cost,
as Heritrix's stock profile does (`traps.learn=false`). Prints the requests that 95 % of the
distinct pages took, in multiples of their number, and draws the curves. What misses the goal ends
it with 1.

`--real` crawls over sockets with the whole crawler, and reads its crawl.log; without it the order
is computed in process (`bench/worlds/replay.py`). Replies that an application gave are kept in
`.cache/traps`, since it takes long for each; with `--fresh` it answers all of them again. `--check`
is for `make test-all`: only the order that has a goal, and only as far as is needed.
"""

import argparse
import inspect
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from matplotlib.figure import Figure

from bench.worlds.calendar import Calendar
from bench.worlds.gitweb import Gitweb
from bench.worlds.mediawiki import MediaWiki
from bench.worlds.replay import Kept, visits
from bench.worlds.shop import Shop
from bench.worlds.world import Reply, World, curve_of, served
from nacre.core.states import ExitCode

GOAL = 1.3
SHARE = 0.95
WORLDS = ("MediaWiki", "gitweb", "calendar", "shop")
ORDERS = {"as it comes": True, "breadth first by cost": False}
_CACHE = Path(__file__).parents[1] / ".cache" / "traps"
_HOST = re.compile(r"https?://[^/]*")
_DRAWN = 4
"""Requests that are followed, in multiples of the distinct pages."""


@contextmanager
def world_of(name: str) -> Iterator[World]:
    """A world, ready to answer."""
    with ExitStack() as stack:
        if name == "MediaWiki":
            yield stack.enter_context(MediaWiki(_CACHE / "mediawiki-600"))
        elif name == "gitweb":
            yield Gitweb(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "world")
        else:
            yield Calendar() if name == "calendar" else Shop()


def needed(curve: Sequence[int], total: int) -> int | None:
    """Requests until 95 % of the pages were shown; None when they never were."""
    return next((at + 1 for at, got in enumerate(curve) if got >= SHARE * total), None)


def judged(name: str, took: int | None, total: int) -> tuple[str, bool]:
    """What is to be said of a world by its goal, and whether it is a failure."""
    if took is not None and took <= GOAL * total:
        return f"{name} meets the goal of {GOAL}", False
    return f"{name} MISSES the goal of {GOAL}", True


def folder_of(world: World, name: str) -> Path:
    """Where its replies are kept: another place for each version of its program."""
    source = Path(inspect.getfile(type(world))).read_bytes()
    return _CACHE / f"{name.lower()}-{len(world.truth)}-{zlib.crc32(source):08x}"


def replayed(world: World, replies: Kept, *, learn: bool, requests: int) -> list[int]:
    """Distinct pages after each request, in process."""
    return curve_of(world, islice(visits(world, replies, learn=learn), requests))


def requested_paths(log: Iterable[str]) -> Iterator[str]:
    """The paths, with queries, that a crawl.log says were asked for; robots.txt and dns are not."""
    for line in log:
        fields = line.split()
        path = _HOST.sub("", fields[3]) or "/"
        if int(fields[1]) > 0 and fields[3].startswith("http") and path != "/robots.txt":
            yield path


def crawled(
    world: World, reply: Callable[[str], Reply], *, learn: bool, requests: int
) -> list[int]:
    """Return the same of a crawl over sockets, from its crawl.log."""
    with served(world, reply) as site, tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [
                sys.executable, "-m", "nacre", "crawl", site.url, "--out", f"{folder}/job",
                "--scope", "host", "--quiet", "--set", "politeness.delay=0",
                "--set", f"traps.learn={learn}",
                "--set", f"limits.documents={requests}",
            ],
            check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        if process.returncode not in {0, ExitCode.LIMIT}:
            raise RuntimeError(f"the crawl of {world.name} ended with {process.returncode}")
        log = Path(folder) / "job/latest/logs/crawl.log"
        return curve_of(world, islice(requested_paths(log.read_text().splitlines()), requests))


def draw(curves: dict[str, dict[str, list[int]]], totals: dict[str, int], file: Path) -> None:
    """One plot for each world: distinct pages against requests, both in multiples."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (name, orders) in zip(figure.subplots(2, 2).flat, curves.items(), strict=False):
        total = totals[name]
        for order, curve in orders.items():
            places = [(at + 1) / total for at in range(len(curve))]
            axes.plot(places, [100 * got / total for got in curve], label=order)
        axes.axvline(GOAL, linestyle=":", color="gray")
        axes.axhline(100 * SHARE, linestyle=":", color="gray")
        axes.set(title=f"{name}, {total} pages", xlabel="requests / pages", ylabel="% of pages")
        axes.legend(loc="lower right")
    figure.savefig(file, metadata={"Date": None})


def measured(name: str, options: argparse.Namespace) -> tuple[int, dict[str, list[int]]]:
    """Return the number of pages of a world, and the curve of each order; print a summary."""
    curves = {}
    with world_of(name) as world:
        total = len(world.truth)
        replies = Kept(world, folder_of(world, name))
        times = GOAL if options.check else _DRAWN
        requests = int(times * total) + 1
        for order, learn in ORDERS.items():
            if options.check and not learn:
                continue
            curve = (
                crawled(
                    world,
                    world.reply if options.fresh else replies.get,
                    learn=learn,
                    requests=requests,
                )
                if options.real
                else replayed(world, replies, learn=learn, requests=requests)
            )
            curves[order] = curve
            took = needed(curve, total)
            within = curve[min(int(GOAL * total), len(curve)) - 1] if curve else 0
            reached = (
                f"after {took / total:.2f}" if took else f"not within {len(curve) / total:.1f}"
            )
            print(
                f"{name:10} {order:22} {total} pages; 95 % {reached} times their number; "
                f"{100 * within / total:.0f} % within {GOAL}; "
                f"{replies.asked} replies were not kept",
                flush=True,
            )
    return total, curves


def main() -> int:
    """Measure; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--real", action="store_true", help="crawl over sockets")
    parser.add_argument("--fresh", action="store_true", help="with --real: keep no replies")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file")
    parser.add_argument("--check", action="store_true", help="only what has a goal")
    options = parser.parse_args()
    if options.check and options.plot:
        parser.error("--check draws nothing: leave out --plot")
    if options.fresh and not options.real:
        parser.error("--fresh is for --real")
    curves: dict[str, dict[str, list[int]]] = {}
    totals: dict[str, int] = {}
    verdicts = []
    for name in options.only:
        totals[name], curves[name] = measured(name, options)
        took = needed(curves[name][next(iter(ORDERS))], totals[name])
        verdicts.append(judged(name, took, totals[name]))
    print(*(text for text, _ in verdicts), sep="\n", flush=True)
    if options.plot:
        draw(curves, totals, options.plot)
    return int(any(failed for _, failed in verdicts))


if __name__ == "__main__":
    sys.exit(main())
