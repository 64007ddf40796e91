"""Large records: compressed into a spool by a thread, appended by the writer thread."""

from nacre.archive.member import pack_chunks
from nacre.archive.record import Record
from nacre.core.capture import Body
from nacre.fetch.spool import Spool


def pack_to_spool(record: Record, level: int, spool: Spool) -> Body:
    """The bytes of a record in its file, in a spool of their own. Runs in a thread."""
    sink = spool.sink()
    for chunk in pack_chunks(record, level):
        sink.write(chunk)
    return sink.finish()
