"""Large documents are parsed in a helper process, so that neither time nor memory is lost on them.

The parser holds the interpreter lock: in the process of the crawl, a document of some megabytes
would stop everything else. The helper has limits of memory and time; past them it is killed, and
the document is annotated. `job.extracting.parsing` is the helper.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

import msgspec

from nacre.extract.document import Document, Extraction
from nacre.extract.settings import ExtractSettings
from nacre.job.extracting import parsing
from nacre.job.extracting.parsing import LENGTH, Job

TIME = 30.0
"""Longest time for one document, seconds."""


class ParserProcess:
    """The helper, started when it is first needed and again after it was killed."""

    def __init__(self, time_limit: float = TIME) -> None:
        self._time = time_limit
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Extraction)

    async def extract(self, document: Document, settings: ExtractSettings) -> Extraction:
        """The links of a document; none and an annotation when it took too much."""
        job = self._encoder.encode(Job(document, settings.model_dump()))
        async with self._turn:
            try:
                async with asyncio.timeout(self._time):
                    return self._decoder.decode(await self._ask(job))
            except TimeoutError:
                reason = "parserTimeout"
            except (OSError, asyncio.IncompleteReadError, msgspec.MsgspecError):
                reason = "parserFailed"
            await self._kill()
        return Extraction(annotations=[reason], claimed=True)

    async def close(self) -> None:
        """End the helper."""
        async with self._turn:
            await self._kill()

    async def _ask(self, job: bytes) -> bytes:
        process = self._process or await self._start()
        if process.stdin is None or process.stdout is None:
            raise OSError("the helper has no pipes")
        process.stdin.write(LENGTH.pack(len(job)) + job)
        await process.stdin.drain()
        (size,) = LENGTH.unpack(await process.stdout.readexactly(4))
        return await process.stdout.readexactly(size)

    async def _start(self) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", parsing.__name__, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        return self._process

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
