"""What to do after a run: commands that a shell takes as they are printed."""

import re
from collections.abc import Iterator
from typing import Any

from nacre.cli.output import program, say, say_json, shown, typed
from nacre.cli.running import Result
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.states import ExitCode, ExitStatus, SeedsEnd
from nacre.report.units import share

_MOSTLY = 0.5
"""Share of noise from which on another way of keeping is pointed to."""
_LIMITS: dict[ExitStatus, tuple[tuple[str, str], ...]] = {
    ExitStatus.TIME_LIMIT: (("limits.time", "0"), ("limits.runtime.after", "0")),
    ExitStatus.DATA_LIMIT: (("limits.bytes", "0"), ("limits.novel_bytes", "0")),
    ExitStatus.DOCUMENT_LIMIT: (("limits.documents", "0"), ("limits.novel_documents", "0")),
    ExitStatus.WRITE_LIMIT: (("limits.warc_bytes", "0"), ("archive.max_total", "0")),
    ExitStatus.QUEUE_BUDGET: (("frontier.queue_total_budget", "-1"),),
}
"""What may have ended the run, and the value that lifts it, for the command that goes on."""


def next_steps(
    layout: Layout, settings: JobSettings, result: Result, *, again: bool, noise: float = 0.0
) -> Iterator[str]:
    """One command a line.

    Args:
        layout: The job's directories.
        settings: Its settings.
        result: How the run ended.
        again: It was a recrawl.
        noise: Share of what that stored that differs in noise alone.
    """
    nacre, job = program(), typed(layout.root)
    if result.exit is not ExitStatus.FINISHED:
        yield from _going_on(f"{nacre} run {job}", f"{nacre} frontier {job}", settings, result)
    elif result.counts.seeds is not SeedsEnd.GOT:
        first = result.seeds.not_got[0].url if result.seeds.not_got else "URL"
        yield f"Why:       {nacre} explain {job} {typed(first)}"
        if not result.fetched:
            return
    yield f"Look:      {nacre} report {job}"
    yield f"           {nacre} explain {job} URL"
    if result.exit is ExitStatus.FINISHED:
        yield f"Hand on:   {nacre} report {job} run --html run.html"
    if again:
        yield f"Worth:     {nacre} report {job} savings"
    if result.overview and (result.overview.failed_pages or result.overview.refused):
        yield f"Not got:   {nacre} report {job} responsecode"
    yield from _archived(layout, settings, result)
    if result.exit is ExitStatus.FINISHED:
        yield f"Again:     {nacre} recrawl {job}"
    if noise > _MOSTLY:
        yield f"Smaller:   {nacre} recrawl {job} --keep lean"
        yield f"           {share(noise)} of the bytes stored differ in noise only; it keeps notes"


def _archived(layout: Layout, settings: JobSettings, result: Result) -> Iterator[str]:
    """What to do with the archive; where a run has written none, what says why."""
    nacre, job = program(), typed(layout.root)
    if result.code is ExitCode.NOTHING_ARCHIVED:
        yield f"Why:       {nacre} check {job}"
        return
    yield f"Verify:    {nacre} archive {job} check"
    if result.exit is ExitStatus.FINISHED:
        yield from _browsing(layout, settings)


def _going_on(run: str, frontier: str, settings: JobSettings, result: Result) -> Iterator[str]:
    """The command, with what lifts the limit; queues may also rest by quotas or by order."""
    resting = result.exit is ExitStatus.QUEUE_BUDGET
    if resting:
        yield f"Left:      {frontier} queues"
    if resting and settings.frontier.queue_total_budget < 0:
        yield f"Go on:     {frontier} unretire; {run}"
    else:
        yield f"Go on:     {run}{_lifted(settings, result.exit)}"


def _lifted(settings: JobSettings, ended: ExitStatus) -> str:
    """Options that lift the limits that are set; those without a value are no limits."""
    limits = _LIMITS.get(ended, ())
    held = [(path, free) for path, free in limits if _is_set(settings, path, free)]
    return "".join(f" --set {path}={free}" for path, free in held or limits[:1])


def _is_set(settings: JobSettings, path: str, free: str) -> bool:
    found: Any = settings
    for name in path.split("."):
        found = getattr(found, name)
    return bool(found != float(free))


def _browsing(layout: Layout, settings: JobSettings) -> Iterator[str]:
    """Two lines: pywb in an environment of its own, then the collection."""
    name = collection(layout.root.name)
    suffix = ".warc.gz" if settings.archive.compress else ".warc"
    files = " ".join(
        typed(f"{place}/*{suffix}") for place in archives(layout, settings, every=True)
    )
    yield "Browse:    python3 -m venv replay; . replay/bin/activate; pip install pywb"
    yield f"           wb-manager init {name}; wb-manager add {name} {files}; wayback --port 8090"


def collection(name: str) -> str:
    """A name that pywb takes for a collection: letters, digits, `_` and `-`."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "crawl"


def archives(layout: Layout, settings: JobSettings, *, every: bool) -> list[str]:
    """Where the WARCs of the latest run are, or of every run.

    A later run holds only what was new, and refers to those before.
    """
    several = every and len(list((layout.root / "runs").iterdir())) > 1
    run = "*" if several else layout.latest.resolve().name
    base = layout.root / "runs" / run if several else layout.latest
    named = settings.archive.directories
    return [shown(base / name.replace("${launchId}", run)) for name in named]


def say_finished(layout: Layout, *, as_json: bool) -> None:
    """`nacre run` on a finished job changes nothing."""
    nacre, job = program(), typed(layout.root)
    if as_json:
        say_json({"exit": "FINISHED", "exit_code": 0, "changed": False, "job": str(layout.root)})
        return
    say(f"{shown(layout.root)} is finished; nothing was changed.")
    say(f"Look:      {nacre} report {job}")
    say(f"Again:     {nacre} recrawl {job}")
