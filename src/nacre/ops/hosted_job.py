"""A job that runs in this program, in a thread of its own.

Commands reach a job by its control socket, which the event loop of the job serves. In a thread of
its own the job answers while the program waits for the answer.
"""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import uvloop

from nacre.core.events import Captured, Event
from nacre.core.states import ExitStatus
from nacre.job.commands import serve_commands
from nacre.job.job import Job

Listener = Callable[[Event], None]
"""Receives events in the thread of the job; it must not block."""


class HostedJob:
    """A job that runs in a thread of its own.

    Args:
        job: The job.
        listener: Receives its events; None: nobody does. When it is called for the first change of
            state, the job answers commands.
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
            done = asyncio.get_running_loop().run_in_executor(pool, uvloop.run, self._main())
            try:
                return await asyncio.shield(done)
            except asyncio.CancelledError:
                if self._loop is not None:
                    # The loop of the job may have ended meanwhile.
                    with contextlib.suppress(RuntimeError):
                        self._loop.call_soon_threadsafe(self._interrupt)
                await asyncio.wait([done])
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
