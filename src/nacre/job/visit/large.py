"""Large records: compressed into a file by a thread, appended by the writer thread."""

import asyncio
import tempfile
from pathlib import Path

from nacre.archive.packed import PackedMember, pack_to_file
from nacre.archive.record import Record
from nacre.errors import StorageError


async def pack_apart(scratch: Path | None, record: Record, level: int) -> PackedMember:
    """`pack_in` in a thread. Who is cancelled meanwhile waits for it, for it reads the body.

    Raises:
        StorageError: The scratch folder cannot take it.
    """
    loop = asyncio.get_running_loop()
    work = loop.run_in_executor(None, pack_in, scratch, record, level)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        if work.exception() is None:
            work.result().close()
        raise


def pack_in(scratch: Path | None, record: Record, level: int) -> PackedMember:
    """The member of a large record, in an unnamed file. Runs in a thread.

    Raises:
        StorageError: The scratch folder cannot take it.
    """
    try:
        file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - closed by its owner
        try:
            return pack_to_file(record, level, file)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise StorageError(
            f"a large record cannot be compressed in {scratch}: {error.strerror}; free space there"
        ) from error
