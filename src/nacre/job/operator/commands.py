"""What a running job can be asked over its socket."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from nacre.errors import JobError
from nacre.job.intake.edits import bring_in, delete, matcher
from nacre.job.intake.intake import Options
from nacre.job.job import Job
from nacre.job.offline import View
from nacre.job.operator.changing import change_running, user, wish_of
from nacre.job.operator.control import PEER, Answer, ControlServer, Handler
from nacre.job.operator.overview import (
    Overview,
    live_overview,
    longest_fetches,
    slowest_queues,
)
from nacre.job.operator.steer import steer
from nacre.job.reports.material import live_facts
from nacre.job.reports.reporting import make_report
from nacre.job.session import Session
from nacre.job.states import ExitStatus, JobState
from nacre.job.visit.runtime import OPERATOR, RUNTIME

Request = Mapping[str, Any]

MOST_PARALLEL = 10_000

ENDED = frozenset((JobState.STOPPING, JobState.FINISHED))
"""States in which a session commits nothing that a command brings."""


class Commands:
    """Handlers for one job.

    Args:
        job: It; between two of its sessions it answers that it is busy.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    def table(self) -> dict[str, Handler]:
        """All handlers by the name of their command."""
        return {
            "status": self.status,
            "pause": self.pause,
            "resume": self.resume,
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

    def fault(self, command: str, error: Exception) -> str:
        """A bug in a command: its traceback goes to runtime-errors.log; the answer.

        What works on a session that ends meanwhile finds its store closed, which is no bug.
        """
        session = self._job.session
        if session is None or session.state in ENDED:
            return f"the job ended before `{command}` was done; try again when it does not run"
        session.parts.logs.command_error(command, error)
        return f"a fault of the crawler, which goes on: {type(error).__name__}: {error}"

    async def status(self, _: Request) -> Answer:
        """Numbers, slowest queues, longest fetches."""
        if self._job.session is None and self._job.waits_for_space:
            waiting = Overview("PREPARING", self._job.trouble, parallel=1)
            return {"overview": msgspec.to_builtins(waiting), "slowest": [], "fetching": []}
        session = self._session()
        clock = self._job.clock
        return {
            "overview": msgspec.to_builtins(live_overview(session)),
            "slowest": [queue._asdict() for queue in slowest_queues(session.parts)],
            "fetching": [f._asdict() for f in longest_fetches(session.parts, clock)],
        }

    async def pause(self, _: Request) -> Answer:
        """Hand out nothing until `resume`."""
        session = self._session()
        session.hold(OPERATOR)
        return {"busy": session.parts.engine.busy}

    async def resume(self, _: Request) -> Answer:
        """Go on; other reasons to pause stay."""
        session = self._session()
        session.release(OPERATOR)
        session.release(RUNTIME)
        return {"held": sorted(session.held)}

    async def stop(self, _: Request) -> Answer:
        """Finish what is in process, and end; the run can go on later."""
        if self._job.session is None and self._job.waits_for_space:
            self._job.stop_waiting()
            return {"busy": 0}
        session = self._session()
        session.stop(ExitStatus.ABORTED)
        return {"busy": session.parts.engine.busy}

    async def checkpoint(self, request: Request) -> Answer:
        """Make a checkpoint of the store; the crawl goes on meanwhile."""
        self._session()
        return {"name": await self._job.checkpoints.make(str(request.get("name") or ""))}

    async def parallel(self, request: Request) -> Answer:
        """Change the number of parallel fetches."""
        session, number = self._session(), request.get("number")
        if not isinstance(number, int) or not 1 <= number <= MOST_PARALLEL:
            raise JobError(f"the number of parallel fetches goes from 1 to {MOST_PARALLEL}")
        before = session.parts.engine.parallel
        session.parts.engine.parallel = number
        session.parts.logs.job(f"engine.parallel: {before} -> {number}")
        return {"before": before, "parallel": number}

    async def change(self, request: Request) -> Answer:
        """Other settings, sheets or associations; see `changing.Wish`."""
        wish = wish_of(request)
        session = self._session()
        who = user(request.get(PEER))
        changed = await change_running(session, wish, self._job.disk, who)
        if not wish.preview:
            self._job.changed(session.settings, [path for path, _, _ in changed.said])
        return {"changed": msgspec.to_builtins(changed)}

    async def explain(self, request: Request) -> Answer:
        """Why a URL was or was not crawled."""
        # With all that plans incremental runs, which other crawls do without.
        from nacre.job.explaining.explain import Explainer  # noqa: PLC0415 - slow

        explained = Explainer(self._view()).explain(str(request.get("url", "")))
        return {"explanation": msgspec.to_builtins(explained)}

    async def report(self, request: Request) -> Answer:
        """The data of a report."""
        return {"report": report_of(self._view(), str(request.get("name", "")))}

    async def frontier_delete(self, request: Request) -> Answer:
        """Delete pending URIs."""
        urls = matcher(str(request.get("urls", "")))
        queues = matcher(str(request.get("queues", "")))
        return {"deleted": await delete(self._session().parts, urls, queues)}

    async def frontier_import(self, request: Request) -> Answer:
        """Take lines in."""
        parts = self._session().parts
        lines = request.get("lines", [])
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise JobError("not an import: `lines` is a list of texts")
        try:
            options = msgspec.convert(request.get("options", ()), Options)
        except msgspec.ValidationError as error:
            raise JobError(f"not an import: {error}") from None
        first = request.get("first", 1)
        if not isinstance(first, int):
            raise JobError("not an import: `first` is the number of a line")
        imported = await bring_in(parts, lines, options, first)
        return {"imported": msgspec.to_builtins(imported)}

    async def frontier_steer(self, request: Request) -> Answer:
        """Retire, bring back, wake, forget or reconsider."""
        action, queue, url = (str(request.get(name, "")) for name in ("action", "queue", "url"))
        return {"changed": await steer(self._session().parts, action, queue, url)}

    def _session(self) -> Session:
        session = self._job.session
        if session is None:
            raise JobError(f"the job is not at work now: {self._job.trouble}")
        return session

    def _view(self) -> View:
        session = self._session()
        job = self._job
        return View(
            job.layout, job.settings, session.parts.store, job.clock, session, job.origin_now
        )


def report_of(view: View, name: str) -> dict[str, Any]:
    """The data of a report.

    Raises:
        JobError: There is none of that name, or the job never ran.
    """
    live = live_facts(view.session.parts) if view.session else None
    return make_report(name, view.store, view.layout, view.settings, live)


@asynccontextmanager
async def serving(job: Job) -> AsyncIterator[None]:
    """Answer commands while the block runs; the job must hold its store's lock by then."""
    commands = Commands(job)
    server = ControlServer(job.layout.socket, commands.table(), commands.fault)
    await server.start()
    try:
        yield
    finally:
        await server.close()
