"""Drive Nacre over a served history: a first crawl, and incremental runs by `--now`."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.histories.repositories import ever_named, find_repository
from bench.histories.worlds import (
    DAY,
    HistoryWorld,
    RunPlan,
    addresses,
    is_run,
    service_folders,
    step_times,
    write_plan,
)
from nacre.core.clock import iso

CHECKOUT = Path(__file__).parents[2]
_ENDED = frozenset((0, 4))
"""Exit codes of a run that ended: to its end, or at a limit."""
_EVERY_PAGE = ("recrawl.recall=1", "recrawl.least=0", "recrawl.least_file=0")
_REPORTS = (("report", "savings"), ("report", "deletions"), ("history", "runs"))


class RunOptions(NamedTuple):
    """Options of a run.

    Attributes:
        budget: Percent of the pages of the first crawl, `none` for the planner's own end, `all`
            for every page.
        keep: `strict`, `lean` or `delta`.
        validators: See `RunPlan`; so are `pairs` and `plain`.
        steps: Incremental runs; None: all of the world.
        bind: First address.
        port: Port of all addresses.
        assignments: Settings of Nacre, `PATH=VALUE`.
    """

    budget: str = "none"
    keep: str = "strict"
    validators: str = "none"
    pairs: str = "same"
    plain: bool = False
    steps: int | None = None
    bind: str = "127.0.49.1"
    port: int = 8491
    assignments: Sequence[str] = ()


class MissingRepositoryError(Exception):
    """A public repository is not in `$HISTORIES`; the message contains its name."""


def make_plan(world: HistoryWorld, options: RunOptions, out: Path, folders: list[Path]) -> RunPlan:
    """Return the plan of a run.

    Raises:
        MissingRepositoryError: A repository is missing, or ends before the commit of the world.
        ValueError: There are too few addresses.
    """
    repo = _require(world.repository, world.branch, world.commit, folders)
    versions = None
    if world.versions:
        versions = _require(world.versions, "main", world.versions_commit, folders)
    times = step_times(world, options.steps)
    roots = [world.root] if world.root else []
    if world.versions:
        roots = service_folders(ever_named(repo, world.branch))
    return RunPlan(
        repo=str(repo),
        versions=str(versions) if versions else None,
        branch=world.branch,
        times=times,
        start=times[0],
        end=times[-1] + 2 * DAY,
        bind=options.bind,
        port=options.port,
        clock=str(out / "clock"),
        log=str(out / "server.tsv"),
        days=world.days,
        ssi=world.ssi,
        only=world.only or None,
        index=world.index,
        disallow=list(world.disallow),
        hosts=addresses(options.bind, roots) if roots else {},
        validators=options.validators,
        pairs=options.pairs,
        plain=options.plain,
    )


def _require(url: str, branch: str, commit: str, folders: list[Path]) -> Path:
    place = find_repository(url, branch, folders)
    if place is None:
        raise MissingRepositoryError(f"{url}, branch {branch}, at {commit or 'its tip'}")
    look = ["git", f"--git-dir={place}", "cat-file", "-e", f"{commit}^{{commit}}"]
    if commit and subprocess.run(look, capture_output=True).returncode:
        raise MissingRepositoryError(f"{url}: {place} does not have commit {commit}; fetch it")
    return place


def job_settings(name: str, hops: int) -> dict[str, object]:
    """Return the settings of the job: the hosts of its seeds, nothing from elsewhere, no delay."""
    return {
        "name": name,
        "seeds": "seeds.txt",
        "politeness": {"delay": 0, "in_flight": 8},
        "keep": {"confirmations": 0},
        "extract": {"infer_favicon": False, "extract_javascript": False},
        "scope": [
            {"rule": "reject"},
            {"rule": "surt-prefixed", "coerce": "host"},
            {"rule": "too-many-hops", "max_hops": hops},
            {"rule": "prerequisite-accept"},
            {"rule": "scheme-not-in-set"},
        ],
    }


def is_page(path: str) -> bool:
    """Return whether a path looks like that of a page: HTML, PDF, or no ending."""
    return path.endswith((".html", ".pdf")) or "." not in path.rpartition("/")[2]


def count_pages(log: Iterable[str]) -> int:
    """Different pages with status 200 in the server's log."""
    rows = (line.rstrip("\n").split("\t") for line in log)
    return len({row[4] for row in rows if row[1] == "200" and is_page(row[4])})


def recrawl_options(options: RunOptions, pages: int, seeds: int) -> list[str]:
    """Options of each incremental run; a budget in percent comes on top of the seeds."""
    sets = list(options.assignments)
    words = ["--keep", options.keep]
    if options.budget == "all":
        sets += _EVERY_PAGE
    elif options.budget != "none":
        requests = seeds + math.ceil(pages * float(options.budget) / 100)
        words += ["--budget", str(requests)]
    return words + [word for text in sets for word in ("--set", text)]


@contextmanager
def served(plan_file: Path) -> Iterator[None]:
    """The server's process.

    Raises:
        RuntimeError: It did not start.
    """
    command = [sys.executable, "-m", "bench.histories.serving", str(plan_file)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=CHECKOUT)
    assert server.stdout is not None
    try:
        if not server.stdout.readline():
            raise RuntimeError("the server of the history did not start; its error is above")
        yield
    finally:
        server.terminate()
        server.communicate()


class Crawler:
    """Runs commands of Nacre on one job; the server has the same time."""

    def __init__(self, job: Path, clock: Path) -> None:
        self._job = job
        self._clock = clock

    def crawl(self, command: str, now: int, *options: str) -> None:
        """A run at a time.

        Raises:
            RuntimeError: It failed.
        """
        self._clock.write_text(str(now))
        self.ask(command, "--quiet", "--now", iso(now), *options)

    def ask(self, command: str, *words: str) -> str:
        """Run another command; return its output.

        Raises:
            RuntimeError: It failed.
        """
        line = [sys.executable, "-m", "nacre", command, str(self._job), *words]
        paths = os.pathsep.join((str(CHECKOUT / "src"), os.environ.get("PYTHONPATH", "")))
        environment = {**os.environ, "PYTHONPATH": paths, "TZ": "UTC"}
        process = subprocess.run(line, capture_output=True, text=True, env=environment)
        if process.returncode not in _ENDED:
            text = f"{process.stdout[-2000:]}\n{process.stderr[-2000:]}"
            raise RuntimeError(f"nacre {command} {words} ended with {process.returncode}\n{text}")
        return process.stdout


def remove_run(out: Path) -> None:
    """Remove the folder of an earlier run.

    Raises:
        ValueError: It has files, and is no folder of a run.
    """
    if out.is_dir() and not is_run(out) and any(out.iterdir()):
        raise ValueError(f"{out} has files that no run wrote: name an empty or a new folder")
    shutil.rmtree(out, ignore_errors=True)


def drive(name: str, world: HistoryWorld, options: RunOptions, plan: RunPlan, out: Path) -> int:
    """Make all runs of a plan in a new folder; return the pages of the first crawl.

    Raises:
        RuntimeError: A run failed.
        ValueError: The folder has files of something else.
    """
    remove_run(out)
    job = out / "job"
    job.mkdir(parents=True)
    plan_file = write_plan(out, plan)
    (job / "seeds.txt").write_text("".join(f"{seed}\n" for seed in plan.seeds))
    (job / "crawl.yaml").write_text(json.dumps(job_settings(name, world.hops)))
    crawler = Crawler(job, Path(plan.clock))
    Path(plan.clock).write_text(str(plan.start))
    with served(plan_file):
        crawler.crawl("run", plan.start)
        with Path(plan.log).open() as log:
            pages = count_pages(log)
        words = recrawl_options(options, pages, len(plan.seeds))
        for now in plan.times[1:]:
            crawler.crawl("recrawl", now, *words)
    crawler.ask("history", "export", str(out / "history"))
    (out / "changes.json").write_text(crawler.ask("changes", "--json", "--most", "1000"))
    for command, report_name in _REPORTS:
        (out / f"{report_name}.txt").write_text(crawler.ask(command, report_name))
    return pages
