"""The command line: `python -m bench.histories run|judge|feed|rates|worlds`; see `--help`."""

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.histories import feed, ota, rates, site
from bench.histories.driver import MissingRepositoryError, RunOptions, drive, make_plan
from bench.histories.loading import load_site
from bench.histories.repositories import find_repository, folders_of
from bench.histories.truth import Truth
from bench.histories.worlds import OWN, HistoryWorld, RunPlan, read_plan, read_worlds


def needed(worlds: Mapping[str, HistoryWorld]) -> Iterator[str]:
    """Yield the public repositories of worlds, a line each."""
    for name, world in worlds.items():
        tip = "the tip"
        yield f"  {name}: {world.repository} (branch {world.branch}, {world.commit or tip})"
        if world.versions:
            yield f"  {name}: {world.versions} (branch main, {world.versions_commit or tip})"


def parse_budget(text: str) -> str:
    """Return a budget as it was typed.

    Raises:
        ArgumentTypeError: It is neither `none`, nor `all`, nor a positive percentage.
    """
    try:
        is_budget = text in {"none", "all"} or 0 < float(text) < math.inf
    except ValueError:
        is_budget = False
    if not is_budget:
        raise argparse.ArgumentTypeError(f"{text!r} is no budget: none, all, or percent, such as 5")
    return text


def _options(arguments: argparse.Namespace) -> RunOptions:
    values = vars(arguments)
    return RunOptions(**{name: values[name] for name in RunOptions._fields})


def _plan(arguments: argparse.Namespace, world: HistoryWorld) -> RunPlan | None:
    """Return the plan of a world. If a repository is missing, print it and return None."""
    folders = folders_of(os.environ.get("HISTORIES"))
    try:
        return make_plan(world, _options(arguments), arguments.out.absolute(), folders)
    except MissingRepositoryError as missing:
        print("skipped: $HISTORIES has to name a folder of repositories or bundles, such as")
        print("OWNER+NAME, OWNER/NAME, NAME or OWNER+NAME.bundle. Needed are:")
        print("\n".join(needed({arguments.world: world})))
        print(f"Missing: {missing}")
        return None


def run(arguments: argparse.Namespace, world: HistoryWorld) -> int:
    """Drive a world, and judge it."""
    plan, out = _plan(arguments, world), arguments.out.absolute()
    if plan is None:
        return 0
    began = time.monotonic()
    pages = drive(arguments.world, world, _options(arguments), plan, out)
    print(f"{out}: {pages} pages, {len(plan.times) - 1} steps, {time.monotonic() - began:.0f} s")
    return judge([out])


def show_rates(arguments: argparse.Namespace, world: HistoryWorld) -> int:
    """Print how often pages of a world change, and by what."""
    plan = _plan(arguments, world)
    if plan is not None:
        with load_site(plan) as pages:
            print("\n".join(rates.lines(plan, Truth(plan, pages), pages)))
    return 0


def judge(outs: Sequence[Path]) -> int:
    """Print the figures of runs; those of a site have to be of one world."""
    if read_plan(outs[0]).versions is None:
        print("\n".join(site.lines(outs)))
    else:
        for out in outs:
            print("\n".join(ota.lines(out, ota.judge(out))))
        judge_feeds([out for out in outs if (out / feed.FILE).is_file()])
    return 0


def judge_feeds(outs: Sequence[Path]) -> int:
    """Print the figures of the change feeds of runs over archived terms."""
    for out in outs:
        print("\n".join(feed.feed_lines(out, feed.judge_feed(out))))
    return 0


def list_worlds(worlds: Mapping[str, HistoryWorld]) -> int:
    """Print the worlds, and which of their repositories are here."""
    folders = folders_of(os.environ.get("HISTORIES"))
    if not folders:
        print("skipped: $HISTORIES names no folder. The public repositories are:")
        print("\n".join(needed(worlds)))
        return 0
    for name, world in worlds.items():
        place = find_repository(world.repository, world.branch, folders)
        print(f"{name:10} {world.steps} steps of {world.days} days from {world.start}: ", end="")
        print(place or f"missing: {world.repository}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    whole = argparse.ArgumentParser(prog="python -m bench.histories", description=__doc__)
    whole.add_argument("--worlds", type=Path, default=OWN, help="TOML file of worlds")
    parts = whole.add_subparsers(dest="command", required=True)
    parts.add_parser("worlds", help="list the worlds, and the public repositories they need")
    judging = parts.add_parser("judge", help="print the figures of runs that were made")
    judging.add_argument("outs", nargs="+", type=Path, metavar="OUT")
    feeding = parts.add_parser("feed", help="print the figures of the change feeds of runs")
    feeding.add_argument("outs", nargs="+", type=Path, metavar="OUT")
    running = parts.add_parser("run", help="drive Nacre over a world, and judge it")
    running.add_argument("world")
    rating = parts.add_parser("rates", help="print how often pages change, and by what")
    rating.add_argument("world")
    rating.add_argument("--steps", type=int, help="steps; default: as the world says")
    rating.set_defaults(**{**RunOptions()._asdict(), "steps": None}, out=Path())
    running.add_argument(
        "out", type=Path, help="folder of the run; an earlier run in it is removed"
    )
    usual = RunOptions()
    running.add_argument(
        "--budget", default=usual.budget, type=parse_budget,
        help="percent of the pages of the first crawl in a step, on top of the seeds; none: the "
        "planner's own end; all: every page",
    )  # fmt: skip
    running.add_argument("--keep", default=usual.keep, choices=["strict", "lean", "delta"])
    running.add_argument(
        "--validators", default=usual.validators, choices=["none", "etag", "date", "both"]
    )
    running.add_argument("--pairs", default=usual.pairs, choices=["same", "other"])
    running.add_argument("--plain", action="store_true", help="links of javadoc without queries")
    running.add_argument("--steps", type=int, help="incremental runs; default: as the world says")
    running.add_argument("--bind", default=usual.bind, help="first address, on loopback")
    running.add_argument("--port", type=int, default=usual.port)
    running.add_argument(
        "--set", action="append", default=[], dest="assignments", metavar="PATH=VALUE"
    )
    return whole


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    whole = parser()
    arguments = whole.parse_args(words)
    try:
        worlds = read_worlds(arguments.worlds)
        if arguments.command == "judge":
            return judge(arguments.outs)
        if arguments.command == "feed":
            return judge_feeds(arguments.outs)
        if arguments.command == "worlds":
            return list_worlds(worlds)
        if arguments.world not in worlds:
            whole.error(f"no world {arguments.world!r}; there are: {', '.join(worlds)}")
        act = show_rates if arguments.command == "rates" else run
        return act(arguments, worlds[arguments.world])
    except (OSError, ValueError, RuntimeError) as error:
        print(f"bench.histories: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
