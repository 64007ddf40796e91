"""How soon a crawl has the distinct pages of a site that has no end: `make traps`.

Each world is crawled without any exclusion, in two orders: as it comes, and breadth first by cost,
as Heritrix's stock profile does (`traps.learn=false`). Prints the requests that 95 % of the
distinct pages took, in multiples of their number, and draws the curves.

The order is computed in process (`bench/worlds/replay.py`) from replies that are kept in
`.cache/traps`, since the applications take long for each; `--real` crawls over sockets.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from matplotlib.figure import Figure

from bench.worlds.calendar import Calendar
from bench.worlds.gitweb import Gitweb
from bench.worlds.mediawiki import MediaWiki
from bench.worlds.replay import Kept, visits
from bench.worlds.shop import Shop
from bench.worlds.world import World, curve_of, served

GOAL = 1.3
SHARE = 0.95
WORLDS = ("MediaWiki", "gitweb", "calendar", "shop")
ORDERS = {"as it comes": True, "breadth first by cost": False}
_CACHE = Path(__file__).parents[1] / ".cache" / "traps"
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


def replayed(world: World, name: str, *, learn: bool) -> list[int]:
    """Distinct pages after each request, in process."""
    kept = Kept(world, _CACHE / f"{name.lower()}-{len(world.truth)}")
    return curve_of(world, islice(visits(world, kept, learn=learn), _DRAWN * len(world.truth)))


def crawled(world: World, *, learn: bool) -> list[int]:
    """The same of a crawl over sockets."""
    with served(world) as site, tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                sys.executable, "-m", "nacre", "crawl", site.url, "--out", f"{folder}/job",
                "--quiet", "--set", "politeness.delay=0", "--set", f"traps.learn={learn}",
                "--set", f"limits.documents={_DRAWN * len(world.truth)}",
            ],
            check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return site.curve()


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


def main() -> int:
    """Measure; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--real", action="store_true", help="crawl over sockets")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file")
    options = parser.parse_args()
    curves: dict[str, dict[str, list[int]]] = {}
    totals: dict[str, int] = {}
    missed = False
    for name in options.only:
        with world_of(name) as world:
            totals[name] = total = len(world.truth)
            curves[name] = {}
            for order, learn in ORDERS.items():
                found = (
                    crawled(world, learn=learn)
                    if options.real
                    else replayed(world, name, learn=learn)
                )
                curves[name][order] = found
                took = needed(found, total)
                within = found[min(int(GOAL * total), len(found)) - 1] if found else 0
                said = (
                    f"after {took / total:.2f}" if took else f"not within {len(found) / total:.0f}"
                )
                print(
                    f"{name:10} {order:22} {total} pages; 95 % {said} times their number; "
                    f"{100 * within / total:.0f} % within {GOAL}",
                    flush=True,
                )
                missed |= learn and (took is None or took > GOAL * total)
    if options.plot:
        draw(curves, totals, options.plot)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
