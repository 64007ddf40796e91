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

from nacre.core.events import Event
from nacre.core.states import ExitStatus
from nacre.job.commands import serve_commands
from nacre.job.job import Job

Listener = Callable[[Event], None]
"""Receives events in the thread of the job; it must not block."""


class HostedJob:
    """A job that runs in a thread of its own.

    Args:
        job: The job.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._loop: asyncio.AbstractEventLoop | None = None

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
        return work.result()

    async def _serve(self, stack: AsyncExitStack) -> None:
        """Serve commands when the session holds the lock of the store."""
        opened = asyncio.Event()
        unsubscribe = self._job.events.subscribe(
            lambda _: opened.set() if self._job.session is not None else None
        )
        await opened.wait()
        unsubscribe()
        await stack.enter_async_context(serve_commands(self._job))
