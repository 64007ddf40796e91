"""The Python API over operations: a job by its directory, whoever runs it.

`open`, `new` and `rounds` of the package `nacre` are the functions of this module.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import uvloop

from nacre.config.facts import value_at
from nacre.core.crawluri import CrawlURI
from nacre.core.events import Captured, Event
from nacre.core.message_data import to_json
from nacre.core.states import ExitStatus
from nacre.errors import ConfigError, JobError
from nacre.inspect.explain.answers import Explanation
from nacre.job.api import explain_url, new_job, open_job, read_report, schedule_urls, waiting_urls
from nacre.job.apply_change import Changed, ChangeRequest
from nacre.job.commands import serve_commands
from nacre.job.frontier_edits import Imported
from nacre.job.job import Job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.frontier import (
    DELETE,
    EXCLUDE,
    FIRST,
    FORGET,
    INCLUDE,
    RECONSIDER,
    RETIRE,
    UNRETIRE,
    WAKE,
    ExcludeRequest,
    FirstRequest,
    FrontierChange,
    IncludeRequest,
    QueueRequest,
    ScopeChange,
    UriRequest,
)
from nacre.ops.lifecycle import (
    CHECKPOINT,
    END,
    PAUSE,
    RESUME,
    STOP,
    CheckpointRequest,
    CheckpointResult,
    EndRequest,
    EndResult,
    PauseRequest,
    PauseResult,
    ResumeRequest,
    ResumeResult,
    StopRequest,
    StopResult,
)
from nacre.ops.operation import Operation, OperationContext, Q, R
from nacre.ops.round_requests import RoundsRequest
from nacre.ops.rounds import run_rounds
from nacre.ops.search import search_words
from nacre.ops.settings import change_settings
from nacre.ops.status import StatusAnswer, read_status
from nacre.settings.load import load_job

if TYPE_CHECKING:  # extras, which not every program has
    from nacre.rounds.runner import RoundsListener, RoundsResult
    from nacre.search.local_index import SearchAnswer

PathText = str | PathLike[str]
T = TypeVar("T")


Listener = Callable[[Event], None]
"""Receives events in the thread of the job; it must not block."""


class HostedJob:
    """A job that runs in a separate thread.

    Args:
        job: The job.
        listener: Receives its events; None for no listener. The job answers commands from the first
            change of state on.
        captures: The listener receives `Captured` events, too.
    """

    def __init__(
        self, job: Job, listener: Listener | None = None, *, captures: bool = False
    ) -> None:
        self._job = job
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener = listener
        self._early: list[Event] = []
        self._is_served = False
        self._opened = asyncio.Event()
        job.events.subscribe(self._receive, captures=captures)

    async def run(self) -> ExitStatus:
        """Run the job to its end.

        If the task that waits is cancelled, the job is interrupted: it finishes the fetches in
        process, and can be resumed.
        """
        with ThreadPoolExecutor(1, "job") as pool:
            finished = asyncio.get_running_loop().run_in_executor(pool, uvloop.run, self._main())
            try:
                return await asyncio.shield(finished)
            except asyncio.CancelledError:
                if self._loop is not None:
                    # The loop of the job may have ended meanwhile.
                    with contextlib.suppress(RuntimeError):
                        self._loop.call_soon_threadsafe(self._interrupt)
                await asyncio.wait([finished])
                raise

    def _receive(self, event: Event) -> None:
        if self._job.session is not None:
            self._opened.set()
        if self._listener is None:
            return
        # The body of a capture is closed after its event.
        if self._is_served or isinstance(event, Captured):
            self._listener(event)
        else:
            self._early.append(event)

    def _release(self) -> None:
        """Hand out the events that came before the job answered commands."""
        self._is_served = True
        events, self._early = self._early, []
        for event in events:
            self._receive(event)

    def _interrupt(self) -> None:
        session = self._job.session
        if session is not None:
            session.stop(ExitStatus.INTERRUPTED)
        else:
            self._job.stop_waiting()

    async def _main(self) -> ExitStatus:
        self._loop = asyncio.get_running_loop()
        try:
            async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
                work = group.create_task(self._job.run(), name="job")
                server = group.create_task(self._serve(stack), name="commands")
                work.add_done_callback(lambda _: server.cancel())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._release()
        return work.result()

    async def _serve(self, stack: AsyncExitStack) -> None:
        """Serve commands when the session holds the lock of the store."""
        await self._opened.wait()
        await stack.enter_async_context(serve_commands(self._job))
        self._release()


def open(directory: PathText) -> "JobHandle":  # noqa: A001 - `nacre.open`
    """Open a job by its directory: at rest, or running in this or in another process.

    Args:
        directory: The job.

    Raises:
        JobError: The directory is not a job.
    """
    layout = Layout(Path(directory))
    layout.require()
    return JobHandle(layout)


def new(  # noqa: PLR0913 - what `nacre new` has as options
    directory: PathText,
    seeds: str | Sequence[str],
    *,
    scope: str = "prefix",
    depth: int | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    profile: str = "",
    settings: Mapping[str, object] | None = None,
) -> "JobHandle":
    """Write the directory of a new job, and open it; see `new_job` for the arguments.

    Raises:
        ConfigError: With every problem of the settings.
        JobError: There is a job already, or the directory cannot be written.
    """
    job = new_job(
        directory, seeds, scope=scope, depth=depth, include=include, exclude=exclude,
        profile=profile, settings=settings,
    )  # fmt: skip
    return JobHandle(job.layout)


def rounds(directory: PathText) -> "RoundsHandle":
    """Open the directory of a batch crawl, or of a new job that is to be crawled in rounds.

    Args:
        directory: The directory.

    Raises:
        JobError: The directory is not a job, or is a continuous crawl.
    """
    layout = Layout(Path(directory))
    layout.require()
    if layout.has_store and not layout.in_rounds:
        raise JobError(
            message(
                "ops.continuous-crawl",
                "{root} is a continuous crawl: open it with `nacre.open`",
                root=layout.root,
            )
        )
    return RoundsHandle(layout)


def _in_thread(function: Callable[..., T], *arguments: Any, **options: Any) -> T:  # noqa: ANN401 - those of the function
    """Call a function in another thread: it may run an event loop, as the caller may do, too."""
    with ThreadPoolExecutor(1, "operation") as pool:
        return pool.submit(function, *arguments, **options).result()


class _Handle:
    """A directory whose operations block until they are carried out.

    Args:
        layout: Directories of the job.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._context = OperationContext(layout, SystemClock())

    @property
    def directory(self) -> Path:
        """The directory of the job."""
        return self._layout.root

    def _do(self, operation: Operation[Q, R], request: Q) -> R:
        return _in_thread(operation.run, self._context, request)

    def search(
        self, words: str, *, limit: int = 10, offset: int = 0, newest: bool = False,
        facets: Sequence[str] = (),
    ) -> "SearchAnswer":  # fmt: skip
        """Search the words of the crawl, in the index that `nacre index` makes.

        Args:
            words: The query, as of `nacre search`.
            limit: Pages at most.
            offset: Pages to leave out.
            newest: The newest pages first, instead of the best.
            facets: Count the pages by these, too: `site`, `type`, `lang`, `segment`.

        Raises:
            ConfigError: The query or a facet cannot be used.
            JobError: There is no index.
        """
        from nacre.search.local_index import SearchOptions

        options = SearchOptions(limit=limit, offset=offset, newest=newest, facets=tuple(facets))
        return search_words(self._layout, words.split(" "), options)


class JobHandle(_Handle):
    """A job by its directory: at rest, running in this program, or in another process.

    Methods other than `run` block until the job has answered; every state allows to read. Errors
    are `NacreError`s: `JobError` if the state of the job refuses.

    Attributes:
        frontier: Changes of the frontier.
        settings: The settings.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.frontier = FrontierHandle(layout)
        self.settings = SettingsHandle(layout)

    async def run(
        self, assignments: Iterable[str] = (), *, listener: Listener | None = None,
        captures: bool = False,
    ) -> ExitStatus:  # fmt: skip
        """Run or resume the job, in a thread of this program, and wait for its end.

        Args:
            assignments: `path=value` texts, as of `--set`.
            listener: Receives the events, in that thread; it must not block.
            captures: The listener receives `Captured` events, too.

        Raises:
            ConfigError: With every problem of the settings.
            StorageError: The job runs already, or its store cannot be opened.
        """
        job = open_job(self._layout.root, assignments)
        return await HostedJob(job, listener, captures=captures).run()

    def pause(self, reason: str = "", note: str = "") -> PauseResult:
        """Pause the job until `resume`; fetches in process are finished.

        Args:
            reason: A reason of your own, which holds over restarts; "" for the pause of `nacre
                pause`.
            note: More about it, for job.log.
        """
        return self._do(PAUSE, PauseRequest(reason, note))

    def resume(self, reason: str = "") -> ResumeResult:
        """Resume the job after a pause; `reason`: remove only this reason."""
        return self._do(RESUME, ResumeRequest(reason))

    def stop(self) -> StopResult:
        """Stop the job cleanly; it can be resumed."""
        return self._do(STOP, StopRequest())

    def end(self) -> EndResult:
        """End a stopped run for good, so that a new run can begin."""
        return self._do(END, EndRequest())

    def checkpoint(self, name: str = "") -> CheckpointResult:
        """Save the present state of a running job."""
        return self._do(CHECKPOINT, CheckpointRequest(name))

    def status(self) -> StatusAnswer:
        """Return the state of the job: `numbers` as `nacre status --json` prints them."""
        return _in_thread(read_status, self._layout, SystemClock(), policy=False)

    def explain(self, url: str) -> Explanation:
        """Explain why a URL was or was not crawled, and which rule decided.

        Raises:
            URIError: The text is not a URL.
        """
        return _in_thread(explain_url, self._layout.root, url)

    def report(self, name: str = "crawl-summary", url: str = "") -> dict[str, Any]:
        """Return a report as data; `url`: the page, for a report of one page."""
        return _in_thread(read_report, self._layout.root, name, url)


class FrontierHandle(_Handle):
    """The frontier of a job: expressions select URLs and keys of queues; "" selects all."""

    def waiting(self, urls: str = "", queues: str = "") -> Iterator[CrawlURI]:
        """Return the queued URIs, queue by queue, in their order."""
        return waiting_urls(self._layout.root, urls, queues)

    def schedule(
        self, urls: Iterable[str], *, scoped: bool = False, force: bool = False
    ) -> Imported:
        """Add URLs to the frontier.

        Args:
            urls: Absolute URLs.
            scoped: Add only those in scope.
            force: Add also those that were fetched or deleted before.
        """

        async def schedule() -> Imported:
            return await schedule_urls(self._layout.root, urls, scoped=scoped, force=force)

        return _in_thread(lambda: asyncio.run(schedule()))

    def exclude(self, urls: str) -> ScopeChange:
        """Exclude URLs from the scope, and delete those that wait."""
        return self._do(EXCLUDE, ExcludeRequest(urls))

    def include(self, urls: str) -> ScopeChange:
        """Undo an exclusion; `urls`: the expression as it was excluded."""
        return self._do(INCLUDE, IncludeRequest(urls))

    def delete(self, urls: str = "", queues: str = "", *, everything: bool = False) -> int:
        """Delete queued URIs; return their number. Without expressions `everything` is needed."""
        return self._do(DELETE, UriRequest(urls, queues, everything)).changed

    def forget(self, urls: str = "", queues: str = "", *, everything: bool = False) -> int:
        """Forget that URIs were crawled; return their number."""
        return self._do(FORGET, UriRequest(urls, queues, everything)).changed

    def first(self, urls: str = "", queues: str = "", *, limit: int = 0) -> int:
        """Move queued URIs to the front; `limit`: at most this many, 0 for all."""
        return self._do(FIRST, FirstRequest(urls, queues, limit=limit)).changed

    def retire(self, queues: str = "") -> int:
        """Hand out no URIs of queues until `unretire`; return the number of queues."""
        return self._queues(RETIRE, queues)

    def unretire(self, queues: str = "") -> int:
        """Hand out URIs of retired queues again."""
        return self._queues(UNRETIRE, queues)

    def wake(self, queues: str = "") -> int:
        """End the wait of queues."""
        return self._queues(WAKE, queues)

    def reconsider(self, queues: str = "") -> int:
        """Check the budgets, the quotas and the order of queues again."""
        return self._queues(RECONSIDER, queues)

    def _queues(self, operation: Operation[QueueRequest, FrontierChange], queues: str) -> int:
        return self._do(operation, QueueRequest(queues)).changed


class SettingsHandle(_Handle):
    """The settings of a job: of its process and its file."""

    def get(self, path: str) -> object:
        """Return the value of a setting, such as `politeness.delay`.

        Raises:
            ConfigError: There is no such setting.
        """
        return value_at(load_job(self._layout).settings, path)

    def set(self, path: str, value: object) -> Changed:
        """Change a setting, at once if the job runs.

        Args:
            path: Dotted path, such as `politeness.delay`.
            value: A text as of `nacre set`, or a value that JSON can hold.

        Raises:
            ConfigError: There is no such setting, or the value does not fit.
        """
        text = value if isinstance(value, str) else to_json(value).decode()
        request = ChangeRequest(assignments=[f"{path}={text}"])
        return _in_thread(change_settings, self._context, request)[1]


class RoundsHandle(_Handle):
    """A batch crawl by its directory."""

    def run(
        self, rounds: int = 1, *, seeds: Sequence[str] | None = None,
        listener: "RoundsListener | None" = None, **options: object,
    ) -> "RoundsResult":  # fmt: skip
        """Run rounds, and wait for their end.

        Before the first round of a new directory, its seed list is injected.

        Args:
            rounds: Rounds; 0: until nothing is due.
            seeds: URLs, and files of them, to inject first; () for the job's own list.
            listener: Receives the progress; None for no listener.
            options: Other options of rounds, by the names of the REST API, such as `top=100`.

        Raises:
            ConfigError: An option, a setting or a library is missing or wrong.
            JobError: The job runs as a continuous crawl, or the file `control/stop` exists.
        """
        try:
            request = msgspec.convert({"rounds": rounds, **options}, RoundsRequest)
        except msgspec.ValidationError as error:
            raise ConfigError(
                message("ops.options-of-rounds", "options of rounds: {error}", error=error)
            ) from None
        if seeds is None and not self._layout.in_rounds:
            seeds = ()
        return _in_thread(
            run_rounds, self._context, request, listener=listener, seeds=seeds
        )  # fmt: skip
