"""Actions on jobs: start, pause, resume, stop, checkpoint, recrawl, end.

A running job is asked over its socket; a job that rests is started as a process of its own. What
the state of a job does not allow is refused with the reason.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from nacre.config.component import parse_duration
from nacre.console.access.reach import may_name_files
from nacre.console.access.roles import Requester
from nacre.console.fleet.launch import LaunchFacts, lay, lift, lift_pause
from nacre.console.fleet.places import FoundJob
from nacre.console.fleet.quota_book import ALL_JOBS
from nacre.console.problems import RefusedRequestError
from nacre.console.services import ConsoleServices
from nacre.core.clock import iso_millis
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.allowed_actions import OTHER_KIND, JobAction, job_actions
from nacre.job.control import ask_command
from nacre.job.quotas import decide_quota, disk_usage
from nacre.report.escape import flat
from nacre.runs.budget import parse_budget
from nacre.runs.passes import end_passes

_PATIENCE: Final = 60.0
MOST_ROUNDS: Final = 10_000
"""Rounds that one order may ask for."""
_PASS_ENDS: Final = 20.0
_MOMENT: Final = 0.2
_SOON: Final = 60.0
"""Seconds that a look before a start may take."""


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


ACTIONS: Final = ("start", "pause", "resume", "stop", "checkpoint", "recrawl", "end",
                  "run-rounds", "stop-after-step")  # fmt: skip
"""The actions of `/api/v1/jobs/J/…` here."""

WHYS: Final[Mapping[str, str]] = {
    "never-ran": _("it never ran"),
    "preparing": _("it is still preparing"),
    "running": _("it is running"),
    "paused": _("it is paused"),
    "stopping": _("it is stopping; wait until it has"),
    "stopped": _("it was stopped before its end: go on with it, or end it for good"),
    "finished": _("its run is over; recrawl it"),
    "rounds": _("it is crawled in rounds"),
    "rounds-running": _("its rounds are running"),
    "rounds-rest": _("its rounds are not running"),
    "no-rounds": _("it is not crawled in rounds"),
    "problems": _("the check has findings that keep it from starting; Verify shows them"),
    "queued": _("it waits for its start"),
    "starting": _("it is being started"),
}
"""Why an action is not possible now, by the group of states that a job is in."""


class ActionOptions(msgspec.Struct, frozen=True):
    """The options of an action; each takes those that it knows.

    Attributes:
        checkpoint: Start from this checkpoint; `latest` for the last one; "" for none.
        paused: The start waits for `resume`.
        accept_loss: Start though archived data is missing.
        full: A recrawl visits everything.
        budget: What a recrawl may spend, as of `nacre recrawl --budget`; "" for no limit.
        keep: What a recrawl stores in full: `strict`, `lean` or `delta`.
        set: Other settings for this run, `path=value`.
        name: Name of a new checkpoint; "" for one by number and time.
        rounds: Rounds of a batch crawl; 0 for as many as it takes until nothing is due.
        top: URLs of a round, the best first; 0 for all that are due, None as the settings say.
        units: Lists that are fetched at the same time; 0: one for each core.
        time_limit: Longest fetch of a round, such as `2h`; "" as the settings say.
        until_due: Longest wait for something to be due, such as `2h`; "" for none.
        dedup: `none`, `host`, `domain` or `off`; "" as the settings say.
        sitemaps: URLs of sitemaps that rounds read first.
        sitemaps_from_hosts: `never`, `once` or `always`; "" as the settings say.
        index: Whether rounds bring changes into the index of words; None as the settings say.
        engine: `local` or `spark`.
        tasks: Tasks at the same time on this machine; 0: one for each core.
        parallel: Fetches at the same time in a unit; 0: as the settings say.
    """

    checkpoint: str = ""
    paused: bool = False
    accept_loss: bool = False
    full: bool = False
    budget: str = ""
    keep: str = "strict"
    set: tuple[str, ...] = ()
    name: str = ""
    rounds: int = 1
    top: int | None = None
    units: int = 0
    time_limit: str = ""
    until_due: str = ""
    dedup: str = ""
    sitemaps: tuple[str, ...] = ()
    sitemaps_from_hosts: str = ""
    index: bool | None = None
    engine: str = "local"
    tasks: int = 0
    parallel: int = 0


class ActionDone(msgspec.Struct, frozen=True):
    """An action that was taken.

    Attributes:
        job: Id of the job.
        action: Name of the action.
        launch: The start that was ordered; null for an action without one.
        held: Reasons for which a resumed job stays paused.
        busy: Fetches that are finished first.
        name: Name of the checkpoint or run that it made; "" for none.
    """

    job: str
    action: str
    launch: LaunchFacts | None = None
    held: tuple[str, ...] = ()
    busy: int = 0
    name: str = ""


class _Asked(NamedTuple):
    """An action that somebody asks for."""

    services: ConsoleServices
    job: FoundJob
    options: ActionOptions
    by: str


def name_of(identity: Requester) -> str:
    """The name of somebody in job.log."""
    return f"{flat(identity.name)} via console"


async def require_rest(services: ConsoleServices, job: FoundJob) -> None:
    """Refuse a job that a process works on, or soon will.

    Raises:
        RefusedRequestError: It runs, waits for its next pass, or is being started (409).
    """
    await services.poller.look(job)
    seen, launch = services.poller.snapshot(job), services.launcher.facts(job)
    if seen.running:
        raise RefusedRequestError(409, "running", f"{job.id} is running: stop it first")
    if seen.waits:
        raise RefusedRequestError(
            409, "waits", f"{job.id} waits for its next pass ({seen.waits}): stop it first"
        )
    if launch is not None and launch.step != "failed":
        raise RefusedRequestError(409, launch.step, f"{job.id}: {WHYS[launch.step]}")


def allowed_now(services: ConsoleServices, job: FoundJob, command: str) -> tuple[JobAction, ...]:
    """All actions of a job as it was seen last; one that is being started allows none.

    Args:
        services: The parts of the console.
        job: It.
        command: Its directory, as it is typed in a command.
    """
    seen = services.poller.snapshot(job)
    closed = seen.overview is not None and seen.overview.closed
    actions = job_actions(
        seen.state, command, closed=closed, running=seen.running, waits=bool(seen.waits)
    )
    launch = services.launcher.facts(job)
    if seen.running or launch is None or launch.step == "failed":
        return tuple(_unless_red(action, seen.problems) for action in actions)
    stop = "stop" if launch.step == "queued" else ""
    if stop and seen.rounds is not None:
        stop = "stop-after-step"
    return tuple(
        msgspec.structs.replace(
            action, allowed=action.name == stop, why="" if action.name == stop else launch.step
        )
        if action.why not in OTHER_KIND
        else action
        for action in actions
    )


STARTS: Final = frozenset(("start", "start-paused", "go-on", "go-on-checkpoint", "recrawl",
                           "recrawl-full", "run-rounds"))  # fmt: skip
"""Actions that a job with problems in its check cannot take."""


def _unless_red(action: JobAction, problems: int) -> JobAction:
    """An action; one that begins a run is refused while the check has problems."""
    if not problems or not action.allowed or action.name not in STARTS:
        return action
    return msgspec.structs.replace(action, allowed=False, why="problems")


async def act(
    services: ConsoleServices, job: FoundJob, action: str, options: ActionOptions,
    identity: Requester,
) -> ActionDone:  # fmt: skip
    """Take an action.

    Args:
        services: The parts of the console.
        job: The job.
        action: One of `ACTIONS`.
        options: Its options.
        identity: Who asks.

    Raises:
        RefusedRequestError: There is no such action (404), or the state refuses it (409).
        ConfigError: The settings have problems.
        JobError: The job refuses.
    """
    if action not in _HANDLERS:
        raise RefusedRequestError(404, "not-found", f"there is no action {action!r}")
    await services.poller.fresh(job)
    _require(services, job, action, options)
    await _require_settings(services, job, options, identity)
    asked = _Asked(services, job, options, name_of(identity))
    done = await _HANDLERS[action](asked)
    with suppress(JobError):
        await services.poller.look(job)
    return done


def _require(services: ConsoleServices, job: FoundJob, action: str, options: ActionOptions) -> None:
    """Refuse what the state does not allow.

    Raises:
        RefusedRequestError: It does not (409).
    """
    names = {
        "start": ("start-paused" if options.paused else "start", "go-on"),
        "recrawl": ("recrawl-full" if options.full else "recrawl",),
    }.get(action, (action,))
    known = {one.name: one for one in allowed_now(services, job, "")}
    # What the check finds is looked at again before the start, which names each problem.
    if any(known[name].allowed or known[name].why == "problems" for name in names):
        return
    why = known[names[0]].why
    raise RefusedRequestError(409, why, f"{action}: {WHYS[why]} ({job.id})")


async def _require_settings(
    services: ConsoleServices, job: FoundJob, options: ActionOptions, identity: Requester
) -> None:
    """Refuse settings of a start that name files of this machine where only admins may do that.

    Raises:
        RefusedRequestError: They do (403).
        ConfigError: They are none.
    """
    remote = services.reach.is_remote
    if not options.set or may_name_files(identity.role, is_remote=remote, places=identity.places):
        return
    change = {"assignments": list(options.set)}
    named = await services.readers.ask("named-files", job.layout.root, _SOON, change=change)
    if named:
        raise RefusedRequestError(
            403,
            "names-files",
            f"{', '.join(named)}: only an admin may name files, programs, "
            "servers, networks and ports",
        )


# ---- jobs that rest


async def _start(asked: _Asked) -> ActionDone:
    options = asked.options
    await _look_before(asked)
    words = ["run", str(asked.job.layout.root), "--quiet", "--by", asked.by]
    if options.checkpoint:
        words += ["--checkpoint", options.checkpoint]
    if options.accept_loss:
        words.append("--accept-loss")
    return await _launched(asked, "start", words)


async def _recrawl(asked: _Asked) -> ActionDone:
    options = asked.options
    if options.full and options.budget:
        raise ConfigError("a full recrawl visits everything and knows no budget")
    parse_budget(options.budget)
    if options.keep not in {"strict", "lean", "delta"}:
        raise ConfigError("keep is `strict`, `lean` or `delta`")
    await _look_before(asked)
    words = ["recrawl", str(asked.job.layout.root), "--quiet", "--by", asked.by]
    words += ["--keep", options.keep]
    if options.full:
        words.append("--full")
    if options.budget:
        words += ["--budget", options.budget]
    return await _launched(asked, "recrawl", words)


async def _launched(asked: _Asked, action: str, words: Sequence[str]) -> ActionDone:
    settings = [word for text in asked.options.set for word in ("--set", text)]
    words = [*words, *settings]
    # An order without `paused` does not wait, so that what an earlier one left is over.
    facts = await asked.services.launcher.order(asked.job, words, paused=asked.options.paused)
    return ActionDone(asked.job.id, action, facts)


async def _look_before(asked: _Asked) -> None:
    """Refuse a start that would fail.

    Raises:
        ConfigError: The settings have problems.
        RefusedRequestError: Space is missing, or a quota is used up (409).
    """
    await require_quota(asked.services, asked.job)
    found = await asked.services.readers.ask(
        "look-before-start", asked.job.layout.root, _SOON, set=asked.options.set
    )
    if found["problems"]:
        raise ConfigError([Problem(**problem) for problem in found["problems"]])
    if found["space"]:
        raise RefusedRequestError(409, "space", f"{asked.job.id} lacks space: {found['space']}")


async def require_quota(services: ConsoleServices, job: FoundJob) -> None:
    """Refuse a start that would be paused at once: its quota, or that of all jobs, is used up.

    Args:
        services: The parts of the console.
        job: The job.

    Raises:
        RefusedRequestError: It is (409).
    """
    quotas, root = services.quotas, job.layout.root
    own, total = quotas.find(str(root)), quotas.find(ALL_JOBS)
    used = await asyncio.to_thread(disk_usage, root) if own.limit else 0
    for whose, quota, taken in (
        ("its quota", own, used),
        ("the quota of all jobs", total, total.used),
    ):
        if quota.limit and taken >= quota.limit:
            text = decide_quota(taken, quota.limit).text
            raise RefusedRequestError(
                409, "quota",
                f"{job.id} is not started: {whose} of disk space is used up ({text}); "
                "Administration sets another one",
            )  # fmt: skip


async def _end(asked: _Asked) -> ActionDone:
    """End a run for good; in a process of its own, as it opens the store."""
    said = await own_command("end", str(asked.job.layout.root), "--json")
    run = str(msgspec.json.decode(said)["run"])
    _note(asked, f"run {run} ended for good by {asked.by}")
    return ActionDone(asked.job.id, "end", name=run)


async def own_command(*words: str, fine: Sequence[int] = ()) -> str:
    """The output of a command of Nacre that runs in a process of its own.

    Args:
        words: The command with its arguments.
        fine: Exit codes that are an answer too, beside 0.

    Raises:
        JobError: It failed; with what it said.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", *words,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    said, errors = await process.communicate()
    if process.returncode and process.returncode not in fine:
        raise JobError(flat(errors.decode("utf-8", "replace")).removeprefix("nacre: "))
    return said.decode("utf-8", "replace")


def _note(asked: _Asked, text: str) -> None:
    """Add a line to the job.log of a job that does not run, which is in its directory."""
    path = asked.job.layout.root / "job.log"
    with suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(f"{iso_millis(asked.services.clock.now())} INFO {text}\n")


# ---- jobs that run


async def _send(asked: _Asked, command: str, **arguments: object) -> dict[str, object]:
    return await ask_command(asked.job.layout.socket, command, _PATIENCE, by=asked.by, **arguments)


async def _pause(asked: _Asked) -> ActionDone:
    return _ending(asked, "pause", await _send(asked, "pause"))


async def _resume(asked: _Asked) -> ActionDone:
    lift_pause(asked.job.layout)
    answer = await _send(asked, "resume")
    held = answer.get("held")
    names = tuple(str(one) for one in held) if isinstance(held, list) else ()
    return ActionDone(asked.job.id, "resume", held=tuple(n for n in names if n != _FILE))


_FILE: Final = "control/pause"
"""The hold of the file that was just removed; the job looks at its files once a second."""


async def _stop(asked: _Asked) -> ActionDone:
    if asked.services.launcher.withdraw(asked.job):
        return ActionDone(asked.job.id, "stop")
    if asked.services.poller.snapshot(asked.job).waits and not asked.services.poller.is_running(
        asked.job
    ):
        return await _stop_between(asked)
    return _ending(asked, "stop", await _send(asked, "stop"))


async def _stop_between(asked: _Asked) -> ActionDone:
    """End the process that waits for the next pass; it looks once a second.

    Raises:
        JobError: It did not end in time; the request stays.
    """
    ends = time.monotonic() + _PASS_ENDS

    def patience() -> bool:
        time.sleep(_MOMENT)
        return time.monotonic() < ends

    if not await asyncio.to_thread(end_passes, asked.job.layout, patience):
        raise JobError(f"{asked.job.id} was asked to end its passes, and has not ended them yet")
    _note(asked, f"no further pass begins: stopped by {asked.by}")
    return ActionDone(asked.job.id, "stop-passes")


async def _run_rounds(asked: _Asked) -> ActionDone:
    """Order rounds; a wish to stop that is older than this one is over."""
    rounds = asked.options.rounds
    if not 0 <= rounds <= MOST_ROUNDS:
        raise ConfigError(f"rounds is {rounds}: give 0 (until nothing is due) to {MOST_ROUNDS}")
    words = ["cycle", str(asked.job.layout.root), "--rounds", str(rounds), "--quiet"]
    words += _of_rounds(asked.options)
    await _look_before(asked)
    lift(asked.job.layout, "stop")
    done = await _launched(asked, "run-rounds", words)
    _note(asked, f"{rounds or 'all'} rounds ordered by {asked.by}")
    return done


def _of_rounds(options: ActionOptions) -> list[str]:
    """The options of `nacre cycle` for rounds.

    Raises:
        ConfigError: One is none.
    """
    words = [] if options.top is None else ["--top", str(options.top)]
    words += [f"--{name}={value}" for name, value in _given(options) if value]
    if options.index is not None:
        words.append("--index" if options.index else "--no-index")
    for url in options.sitemaps:
        # A path would have a file of this machine read for somebody of another one.
        if not url.startswith(("http://", "https://")):
            said = "a sitemap is named by its URL here, which begins with http:// or https://"
            raise ConfigError([Problem("sitemaps", said, "", "https://example.org/sitemap.xml")])
        words.append(f"--sitemaps={url}")
    for name, text in (("time-limit", options.time_limit), ("until-due", options.until_due)):
        if not text:
            continue
        try:
            parse_duration(text)
        except ValueError as error:
            raise ConfigError([Problem(name, str(error), "a time", "2h")]) from None
        words += [f"--{name}", text]
    return words


CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "dedup": ("none", "host", "domain", "off"),
    "sitemaps_from_hosts": ("never", "once", "always"),
    "engine": ("local", "spark"),
}
"""The values of options of rounds that are one of a few words."""


def _given(options: ActionOptions) -> Sequence[tuple[str, object]]:
    """Options of `nacre cycle` that are left out where they are empty.

    Raises:
        ConfigError: One has no such value.
    """
    for name, known in CHOICES.items():
        value = getattr(options, name)
        if value and value not in known:
            said = f"{value[:60]!r} is none of {', '.join(known)}"
            raise ConfigError([Problem(name, said, "", known[0])])
    engine = options.engine if options.engine != "local" else ""
    return (
        ("units", options.units), ("dedup", options.dedup), ("engine", engine),
        ("sitemaps-from-hosts", options.sitemaps_from_hosts), ("tasks", options.tasks),
        ("parallel", options.parallel),
    )  # fmt: skip


async def _stop_after_step(asked: _Asked) -> ActionDone:
    if not asked.services.launcher.withdraw(asked.job):
        lay(asked.job.layout, "stop")
    _note(asked, f"stop after the step asked for by {asked.by}")
    return ActionDone(asked.job.id, "stop-after-step")


def _ending(asked: _Asked, action: str, answer: Mapping[str, object]) -> ActionDone:
    busy = answer.get("busy")
    return ActionDone(asked.job.id, action, busy=busy if isinstance(busy, int) else 0)


async def _checkpoint(asked: _Asked) -> ActionDone:
    answer = await _send(asked, "checkpoint", name=asked.options.name)
    return ActionDone(asked.job.id, "checkpoint", name=str(answer.get("name") or ""))


_HANDLERS: Final[Mapping[str, Callable[[_Asked], Awaitable[ActionDone]]]] = {
    "start": _start,
    "pause": _pause,
    "resume": _resume,
    "stop": _stop,
    "checkpoint": _checkpoint,
    "recrawl": _recrawl,
    "end": _end,
    "run-rounds": _run_rounds,
    "stop-after-step": _stop_after_step,
}
