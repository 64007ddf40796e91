"""Text of documents, made in a helper process with limits of memory and time.

A page that takes too much is taken apart once more in linear time; other documents are not.
"""

import asyncio
import atexit
import os
from collections.abc import Sequence
from functools import cache

import msgspec

from nacre.config.extras import MissingExtraError
from nacre.engine.helper_process import HelperFailedError, HelperProcess
from nacre.extract.fulltext.job import HTML, PageText, TextJob
from nacre.indexing import text_main

TIME = 200.0
"""Longest time for one document, s. What it may have of the processor is far less
(`text_main.CPU`): on a busy machine a document waits, and the first one for the libraries."""


class TextProcess:
    """Reads documents, one after another, from code that is not asynchronous.

    Args:
        time_limit: Longest time for one document, s.

    Raises:
        MissingExtraError: The extra `search` is not installed.
    """

    def __init__(self, time_limit: float = TIME) -> None:
        try:
            import resiliparse  # noqa: F401, PLC0415 - an extra
        except ImportError:
            raise MissingExtraError("the text of pages needs", "search") from None
        self._helper = HelperProcess(text_main.__name__, time_limit)
        self._runner = asyncio.Runner()
        self._owner = os.getpid()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[PageText])

    def texts(self, jobs: Sequence[TextJob]) -> list[PageText]:
        """Return the texts of documents; `problem` is why a text is missing: `time`, `crash`.

        One request for all costs less. If it fails, each document is sent separately.
        """
        if not jobs:
            return []
        if len(jobs) > 1:
            try:
                return self._ask(jobs)
            except (TimeoutError, HelperFailedError):
                return [self.text(job) for job in jobs]
        return [self.text(jobs[0])]

    def text(self, job: TextJob) -> PageText:
        """Return the text of a document; see `texts`."""
        page_text = self._try(job)
        if page_text.problem in {"time", "crash", "memory"} and job.document.mime in HTML:
            return self._try(msgspec.structs.replace(job, linear=True))
        return page_text

    def close(self) -> None:
        """End the helper."""
        self._runner.run(self._helper.close())
        self._runner.close()

    def abandon(self) -> None:
        """End the helper, and close the loop, at the end of the program.

        A fork of the process that made it leaves it alone. `Runner.close` would begin a thread.
        """
        if os.getpid() == self._owner:
            self._runner.run(self._helper.abandon())
            self._runner.get_loop().close()

    def _try(self, job: TextJob) -> PageText:
        try:
            return self._ask([job])[0]
        except TimeoutError:
            return PageText(problem="time")
        except HelperFailedError:
            return PageText(problem="crash")

    def _ask(self, jobs: Sequence[TextJob]) -> list[PageText]:
        return self._runner.run(self._helper.ask(self._encoder.encode(jobs), self._decoder.decode))


@cache
def shared_texts() -> TextProcess:
    """Return the reader of this process for one task after another; its helper starts once.

    Raises:
        MissingExtraError: The extra `search` is not installed.
    """
    texts = TextProcess()
    atexit.register(texts.abandon)
    return texts
