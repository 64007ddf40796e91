"""Import of lines into the frontier of a job: lists of URLs, recovery journals, crawl logs."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nacre.core.message_data import to_plain
from nacre.errors import ConfigError
from nacre.messages import message
from nacre.ops.operation import OperationContext, requester_of

if TYPE_CHECKING:
    from nacre.job.frontier_edits import Imported
    from nacre.job.imports import ImportOptions

Lines = Callable[[], AbstractContextManager[Iterable[str]]]
"""Opens lines."""
_LINES: Final = 1000
"""Lines that are sent to a running job at a time."""
LONGEST: Final = 65_536
"""Characters of a line; a longer line is not a URL."""


def import_lines(
    context: OperationContext, lines: Lines, options: "ImportOptions"
) -> "Iterator[Imported]":
    """Import lines: into a running job in portions, each of which is a result.

    Args:
        context: The job, and for whom.
        lines: Opens the lines.
        options: How the lines are read.

    Raises:
        ConfigError: The lines cannot be read.
        JobError: The run of the job is over, or the job refuses.
        StorageError: The store cannot be written.
    """
    import asyncio

    import msgspec

    from nacre.job.control import BY, is_running, send_command
    from nacre.job.frontier_edits import Imported
    from nacre.job.stopped_job import open_stopped
    from nacre.settings.load import load_job

    layout, settings = context.layout, load_job(context.layout).settings
    if is_running(layout.socket):
        user = {BY: context.by} if context.by else {}
        plain = to_plain(options)
        with lines() as texts:
            for first, chunk in _chunks(texts):
                answer = send_command(
                    layout.socket, "frontier-import", context.patience, lines=chunk, first=first,
                    options=plain, **user,
                )  # fmt: skip
                yield msgspec.convert(answer["imported"], Imported)
        return

    async def change() -> Imported:
        with lines() as texts:
            async with open_stopped(layout, settings, new=True) as editor:
                imported = await editor.import_lines(texts, options)
                if context.by:
                    number = imported.tally.scheduled
                    editor.note(f"import ({options.way})", "", "", number, requester_of(context))
                return imported

    yield asyncio.run(change())


@contextmanager
def file_lines(path: Path, name: str = "") -> Iterator[Iterable[str]]:
    """Open the lines of a file, compressed or not, in any encoding that a seed list may have.

    Args:
        path: The file.
        name: Its name in errors; "" for its path.

    Raises:
        ConfigError: It cannot be read.
    """
    from nacre.config.seed_file import WIDE, decode_lines, file_coding, open_bytes

    name = name or str(path)
    try:
        with open_bytes(path) as packed:
            codec = file_coding(path)
            if not codec.startswith(WIDE) and b"\0" in packed.peek(LONGEST):
                raise ConfigError(
                    message(
                        "ops.binary-file",
                        "{name} cannot be read: it is not text: there are NUL bytes in it",
                        name=name,
                    )
                )
            yield decode_lines(packed, codec)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            message("ops.cannot-be-read", "{name} cannot be read: {why}", name=name, why=reason)
        ) from error


def _chunks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Chunks of lines, each with the number of its first line."""
    first, tail = 1, iter(lines)
    while chunk := list(islice(tail, _LINES)):
        yield first, chunk
        first += len(chunk)
