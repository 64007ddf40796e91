"""Files of the archive that a job knows and that are not there, for `nacre archive DIR check`."""

from collections.abc import Iterator

from nacre.errors import NacreError
from nacre.job.layout import Layout
from nacre.job.offline import reading
from nacre.job.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.examine import Found, look
from nacre.store.files import FileKind


def missing_files(layout: Layout, settings: JobSettings) -> Iterator[Found]:
    """WARCs that are gone or shorter than what was committed, and indexes that are gone.

    Nothing is known of them where the store is absent or cannot be read: an archive may be checked
    without it.
    """
    try:
        with reading(layout, settings) as view:
            found = look(view.store, RealDisk(), str(layout.root))
    except NacreError:
        return
    for file in found:
        if (file.row.kind == FileKind.WARC and file.short) or (
            file.row.kind == FileKind.INDEX and file.size is None
        ):
            yield file
