"""A helper process that reads hostile data; it is killed when it uses too much."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import msgspec

from nacre.engine.helper_loop import FOLDER, LENGTH

T = TypeVar("T")

_DYING = 10.0
"""Seconds for a helper whose pipe is closed to end by itself."""
_DRAINING = 1.0
"""Seconds for the rest of its output; a child process that lives on may hold the pipe."""
_CHUNK = 1 << 16
_TRIES = 3
"""Helpers that a message may have, one after the other, while each dies over it. What has killed
one need not be the message: the kernel kills for lack of memory, which may soon be there again."""


class HelperFailedError(Exception):
    """The helper died over a message, or its answer makes no sense."""


_GONE = (OSError, asyncio.IncompleteReadError, RuntimeError, msgspec.MsgspecError)
"""Raised over a helper that died. RuntimeError: uvloop's, for a pipe that it has closed already,
because the helper died before the message."""


class HelperProcess:
    """A helper process: a message goes in, its answer comes out.

    It starts when it is first needed, and again after any end. Each has a separate folder for
    temporary files: libraries put code there, which another user must not be able to replace.

    Args:
        module: The module that it runs, whose `main` calls `helper_loop.serve`.
        time_limit: Longest time for one message, s.
    """

    def __init__(self, module: str, time_limit: float) -> None:
        self._module = module
        self._time = time_limit
        self._process: Process | None = None
        self._folder = ""
        self._turn = asyncio.Lock()

    async def ask(self, message: bytes, decode: Callable[[bytes], T]) -> T:
        """Return the answer to a message; if a helper dies, another one is tried, three in all.

        Raises:
            TimeoutError: It took too long, or more of the processor than the helper may have.
            HelperFailedError: Each helper died, as when it had no more memory.
        """
        async with self._turn:
            for _ in range(_TRIES - 1):
                with suppress(HelperFailedError):
                    return await self._exchange(message, decode)
            return await self._exchange(message, decode)

    async def _exchange(self, message: bytes, decode: Callable[[bytes], T]) -> T:
        """Return the answer of the helper that is there, or of a new one."""
        try:
            async with asyncio.timeout(self._time):
                return decode(await self._ask(message))
        except TimeoutError:
            await self._kill()
            raise
        except _GONE as error:
            if await self._kill(patience=_DYING) == -signal.SIGXCPU:
                raise TimeoutError from error
            raise HelperFailedError(str(error)) from error
        except BaseException:  # it is in the middle of an answer that the next message would get
            await self._kill()
            raise

    async def close(self) -> None:
        """End the helper."""
        async with self._turn:
            await self._kill()

    async def abandon(self) -> None:
        """End the helper at the end of the program, when no thread can begin any more."""
        process, self._process = self._process, None
        await self._wait_for_end(process, 0.0)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _ask(self, message: bytes) -> bytes:
        process = self._process or await self._start()
        if process.stdin is None or process.stdout is None:
            raise OSError("the helper has no pipes")
        process.stdin.write(LENGTH.pack(len(message)) + message)
        await process.stdin.drain()
        (size,) = LENGTH.unpack(await process.stdout.readexactly(4))
        return await process.stdout.readexactly(size)

    async def _start(self) -> Process:
        self._folder = tempfile.mkdtemp(prefix="nacre-helper-")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", self._module, stdin=PIPE, stdout=PIPE, start_new_session=True,
            env={**os.environ, "TMPDIR": self._folder, FOLDER: self._folder},
        )  # fmt: skip
        return self._process

    async def _kill(self, patience: float = 0.0) -> int | None:
        """End the helper; return its exit code, None if there is none.

        Args:
            patience: Seconds in which it may end by itself.
        """
        process, self._process = self._process, None
        folder, self._folder = self._folder, ""
        try:
            return await self._wait_for_end(process, patience)
        finally:
            if folder:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    @staticmethod
    async def _wait_for_end(process: Process | None, patience: float) -> int | None:
        if process is None:
            return None
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(patience):
                return await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                # `Process.kill` polls the exit code first, which asyncio would lose then.
                os.kill(process.pid, signal.SIGKILL)
            return await process.wait()
        finally:
            # asyncio closes its end when both the process and its output have ended.
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_DRAINING):
                    while process.stdout is not None and await process.stdout.read(_CHUNK):
                        pass
            if process.stdin is not None:  # else asyncio reports an error of the pipe on stderr
                with suppress(TimeoutError, OSError):
                    async with asyncio.timeout(_DRAINING):
                        await process.stdin.wait_closed()
