"""The commands that a running job answers over its control socket."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from math import isfinite
from typing import Any

import msgspec
from msgspec import structs

from nacre.core.message_data import to_builtins
from nacre.core.processor import Visit
from nacre.core.states import MOST_PARALLEL, ExitStatus, JobState
from nacre.engine.steps.quotas import OPERATOR, RUNTIME
from nacre.errors import JobError, StorageError
from nacre.inspect.reports.run_reports import run_report_data
from nacre.inspect.stored_job import read_only
from nacre.inspect.view import View
from nacre.job.activity import JobPace
from nacre.job.apply_change import change_request, change_running, user_name
from nacre.job.control import BY, PEER, Answer, ControlServer, Handler
from nacre.job.frontier_edits import FrontierEditor
from nacre.job.holds import change_hold
from nacre.job.imports import ImportOptions
from nacre.job.job import Job
from nacre.job.overview import (
    JobOverview,
    live_overview,
    longest_fetches,
    slowest_queues,
    stored_overview,
)
from nacre.job.session import Session
from nacre.messages import message
from nacre.report.escape import flat
from nacre.runs.runs import read_run
from nacre.scope.patterns.matching import matcher

Request = Mapping[str, Any]

ENDED = frozenset((JobState.STOPPING, JobState.FINISHED))
"""States in which a session commits nothing that a command brings."""


class CommandHandlers:
    """The handlers of all commands, for one job.

    Args:
        job: It; between two of its sessions it answers that it is busy.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    def table(self) -> dict[str, Handler]:
        """All handlers by the name of their command."""
        handlers: dict[str, Handler] = {
            "status": self.status,
            "toes": self.toes,
            "pause": self.pause,
            "resume": self.resume,
            "hold": self.hold,
            "release": self.release,
            "stop": self.stop,
            "checkpoint": self.checkpoint,
            "parallel": self.parallel,
            "explain": self.explain,
            "report": self.report,
            "frontier-delete": self.frontier_delete,
            "frontier-import": self.frontier_import,
            "frontier-steer": self.frontier_steer,
            "change": self.change,
        }
        return {name: self._watched(name, handler) for name, handler in handlers.items()}

    def _watched(self, name: str, handler: Handler) -> Handler:
        """Return a handler that the watchdog of the session times."""

        async def answer(request: Request) -> Answer:
            session = self._job.session
            if session is None:
                return await handler(request)
            return await session.watchdog.watch(lambda: handler(request), f"the command {name}")

        return answer

    def fault(self, command: str, error: Exception) -> str:
        """A bug in a command: its traceback goes to runtime-errors.log; the answer.

        What works on a session that ends meanwhile finds its store closed, which is not a bug.
        """
        session = self._job.session
        if session is None or session.state in ENDED:
            return f"the job ended before `{command}` was done; try again when it does not run"
        session.logs.command_error(command, error)
        return f"an error in the crawler, which continues: {type(error).__name__}: {error}"

    async def status(self, _: Request) -> Answer:
        """Numbers, slowest queues, longest fetches."""
        session = self._job.session
        if session is None:
            return self._between_sessions()
        clock, account = self._job.clock, self._job.account
        return {
            "overview": to_builtins(live_overview(session)),
            "paused_by": session.paused_by,
            "slowest": to_builtins(slowest_queues(session.frontier)),
            "fetching": to_builtins(longest_fetches(session.engine, clock)),
            "counts": _finite(session.live.counts()._asdict()),
            "committed": clock.now() - session.storing.commit.age,
            "gap": session.watchdog.recent * 1000.0,
            "pace": to_builtins(account.pace() if account is not None else JobPace()),
            **self._space(),
        }

    async def toes(self, _: Request) -> Answer:
        """The workers, and the step of each; it looks at nothing but them."""
        session = self._session()
        figures = session.live.figures()
        received = {visit.toe: _received(visit) for visit in session.live.in_process()}
        return {
            "parallel": figures.parallel,
            "offset": figures.offset,
            "toes": [{**toe._asdict(), "received": received.get(toe.toe)} for toe in figures.toes],
        }

    async def pause(self, request: Request) -> Answer:
        """Hand out nothing until `resume`."""
        session = self._session()
        _note(session, "pause", request)
        session.hold(OPERATOR, asking(request))
        return {"busy": session.engine.busy, "held": sorted(session.holds)}

    async def resume(self, request: Request) -> Answer:
        """Remove a reason to pause; other reasons stay."""
        session = self._session()
        _note(session, "resume", request)
        session.release(OPERATOR)
        session.release(RUNTIME)
        return {"held": sorted(session.holds)}

    async def hold(self, request: Request) -> Answer:
        """Pause for a reason that the caller gives, also after restarts, until `release`."""
        return self._change_hold("hold", request, str(request.get("note") or ""))

    async def release(self, request: Request) -> Answer:
        """Remove such a reason; other reasons stay."""
        return self._change_hold("release", request, None)

    def _change_hold(self, action: str, request: Request, note: str | None) -> Answer:
        session, reason = self._session(), str(request.get("reason", ""))
        change_hold(self._job.layout.control, reason, note)
        _note(session, f"{action} {reason}", request)
        self._job.look_at_control()
        return {"busy": session.engine.busy, "held": sorted(session.holds)}

    async def stop(self, request: Request) -> Answer:
        """Finish the fetches in process, and end; the run can be resumed."""
        if self._job.session is None and self._job.waits_for_space:
            self._job.stop_waiting()
            return {"busy": 0}
        session = self._session()
        _note(session, "stop", request)
        session.stop(ExitStatus.ABORTED)
        return {"busy": session.engine.busy}

    async def checkpoint(self, request: Request) -> Answer:
        """Make a checkpoint of the store; the crawl continues meanwhile."""
        _note(self._session(), "checkpoint", request)
        service = self._job.checkpoints
        return {"name": await service.make(str(request.get("name") or ""))}

    async def parallel(self, request: Request) -> Answer:
        """Change the number of parallel fetches."""
        session, number = self._session(), request.get("number")
        if not isinstance(number, int) or not 1 <= number <= MOST_PARALLEL:
            raise JobError(
                message(
                    "job.number-of-parallel-fetches-goes",
                    "the number of parallel fetches goes from 1 to {most_parallel}",
                    most_parallel=MOST_PARALLEL,
                )
            )
        before = session.engine.parallel
        session.engine.set_parallel(number)
        by = f" by {asking(request)}" if request.get(BY) else ""
        session.logs.job(f"engine.parallel: {before} -> {number}{by}")
        return {"before": before, "parallel": number}

    async def change(self, request: Request) -> Answer:
        """Change settings, sheets or associations; see `ChangeRequest`."""
        requested = change_request(request)
        session = self._session()
        author = asking(request)
        changed = await change_running(session, requested, self._job.disk, author)
        if not requested.preview:
            in_file = [] if requested.live_only else changed.said
            self._job.changed(session.settings, [path for path, _, _ in in_file])
        return {"changed": to_builtins(changed)}

    async def explain(self, request: Request) -> Answer:
        """Explain why a URL was or was not crawled."""
        # With all that plans incremental runs, which other crawls do without.
        from nacre.inspect.explain.explain import Explainer  # noqa: PLC0415 - slow

        explained = Explainer(self._view()).explain(str(request.get("url", "")))
        return {"explanation": to_builtins(explained)}

    async def report(self, request: Request) -> Answer:
        """The data of a report."""
        return {"report": run_report_data(self._view(), str(request.get("name", "")))}

    async def frontier_delete(self, request: Request) -> Answer:
        """Delete pending URIs."""
        urls, queues = str(request.get("urls", "")), str(request.get("queues", ""))
        editor = self._editor()
        number = await editor.delete(matcher(urls), matcher(queues))
        editor.note("delete", queues, urls, number, _named(request))
        return {"deleted": number}

    async def frontier_import(self, request: Request) -> Answer:
        """Take lines in."""
        editor = self._editor()
        lines = request.get("lines", [])
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise JobError(message("job.not-import", "not an import: `lines` is a list of texts"))
        try:
            options = msgspec.convert(request.get("options", ()), ImportOptions)
        except msgspec.ValidationError as error:
            raise JobError(
                message("job.not-import-2", "not an import: {error}", error=error)
            ) from None
        first = request.get("first", 1)
        if not isinstance(first, int):
            raise JobError(
                message(
                    "job.not-import-first-is-number",
                    "not an import: `first` is the number of a line",
                )
            )
        imported = await editor.import_lines(lines, options, first)
        if request.get(BY):
            scheduled = imported.tally.scheduled
            editor.note(f"import of lines {first} and on", "", "", scheduled, _named(request))
        return {"imported": to_builtins(imported)}

    async def frontier_steer(self, request: Request) -> Answer:
        """Retire, bring back, wake, forget, reconsider, or bring to the front."""
        action, queue, url = (str(request.get(name, "")) for name in ("action", "queue", "url"))
        limit = request.get("limit", 0)
        if not isinstance(limit, int):
            raise JobError(
                message("job.limit-is-number-of-uris", "`limit` is a number of URIs, 0 for all")
            )
        by = _named(request)
        return {"changed": await self._editor().apply(action, queue, url, limit, by)}

    def _space(self) -> Answer:
        """The free space of the job's file system and what of it is kept free, bytes."""
        try:
            facts = os.statvfs(self._job.layout.root)
        except OSError:
            return {}
        free = facts.f_bavail * facts.f_frsize
        return {"free": free, "reserve": self._job.space_needed()}

    def _between_sessions(self) -> Answer:
        """The state of a job whose next session is about to open, or whose last has ended."""
        job, overview = self._job, JobOverview("PREPARING", parallel=1)
        if not job.waits_for_space and job.layout.has_store:
            with suppress(StorageError), read_only(str(job.layout.store)) as store:
                overview = stored_overview(store, read_run(store))
        if not job.is_over:
            overview = structs.replace(overview, state="PREPARING", why=job.trouble)
        return {"overview": to_builtins(overview), "slowest": [], "fetching": []}

    def _session(self) -> Session:
        session = self._job.session
        if session is None:
            raise JobError(
                message(
                    "job.job-is-not-running-now",
                    "the job is not running now: {trouble}",
                    trouble=self._job.trouble,
                )
            )
        return session

    def _editor(self) -> FrontierEditor:
        return self._session().editor

    def _view(self) -> View:
        session = self._session()
        job = self._job
        return View(
            job.layout,
            job.settings,
            session.storing.store,
            job.clock,
            session.live,
            job.origin_now,
            running=True,
        )


_LONGEST_NAME = 100


def asking(request: Request) -> str:
    """Return the name of the caller: the user of the process, or the user that it acts for (`BY`).

    Only a process of the job's own user can act for another user.
    """
    user, named = request.get(PEER), request.get(BY)
    if isinstance(named, str) and named.strip() and user == os.getuid():
        return f"{flat(named)[:_LONGEST_NAME]} (uid {user})"
    return user_name(user)


def _named(request: Request) -> str:
    """Return the name of the user that the caller acts for; "" if it acts for itself."""
    return asking(request) if request.get(BY) else ""


def _note(session: Session, action: str, request: Request) -> None:
    """Note in job.log the user who requested an action."""
    session.logs.job(f"{action} by {asking(request)}")


def _finite(counts: Mapping[str, float]) -> dict[str, float | None]:
    """Counts for JSON, which has no infinite number and no `NaN`."""
    return {name: value if isfinite(value) else None for name, value in counts.items()}


def _received(visit: Visit) -> int | None:
    """Bytes of the reply to a visit; None until the reply is complete."""
    capture = visit.capture
    return None if capture is None else len(capture.head) + capture.body.length


@asynccontextmanager
async def serve_commands(job: Job) -> AsyncIterator[None]:
    """Answer commands while the block runs; the job must hold its store's lock by then."""
    commands = CommandHandlers(job)
    server = ControlServer(job.layout.socket, commands.table(), commands.fault)
    await server.start()
    try:
        yield
    finally:
        await server.close()
