"""Large records: compressed into a file by a thread, appended by the writer thread."""

import tempfile
from pathlib import Path

from nacre.archive.packed import PackedMember, pack_to_file
from nacre.archive.record import Record
from nacre.errors import StorageError


def pack_in(scratch: Path | None, record: Record, level: int) -> PackedMember:
    """The member of a large record, in an unnamed file. Runs in a thread.

    Raises:
        StorageError: The scratch folder cannot take it.
    """
    try:
        # The member owns the file and closes it.
        file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115
        try:
            return pack_to_file(record, level, file)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise StorageError(
            f"a large record cannot be compressed in {scratch}: {error.strerror}; free space there"
        ) from error
