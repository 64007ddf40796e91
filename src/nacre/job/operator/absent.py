"""What a job knows of the files of its archive, for `nacre archive DIR check`."""

from collections.abc import Iterator, Sequence

from nacre.errors import NacreError
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.offline import reading
from nacre.store.disk import RealDisk
from nacre.store.examine import Found, look
from nacre.store.files import FileKind, FileState


def known_files(layout: Layout, settings: JobSettings) -> list[Found]:
    """The files that the store knows, as they are; none where it is absent or cannot be read.

    An archive may be checked without it.
    """
    try:
        with reading(layout, settings) as view:
            return look(view.store, RealDisk(), str(layout.root))
    except NacreError:
        return []


def missing_files(known: Sequence[Found]) -> Iterator[Found]:
    """WARCs that are gone or shorter than what was committed, and indexes that are gone."""
    for file in known:
        if (file.row.kind == FileKind.WARC and file.short) or (
            file.row.kind == FileKind.INDEX and file.size is None
        ):
            yield file


def committed_sizes(known: Sequence[Found]) -> dict[str, int]:
    """Committed bytes of the WARCs that are being written, by path."""
    return {
        file.path: file.row.size
        for file in known
        if file.row.kind == FileKind.WARC and file.row.state == FileState.OPEN
    }
