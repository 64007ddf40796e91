"""The WARCs of a job and their indexes, over all of its runs."""

from collections.abc import Iterator
from pathlib import Path

from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.variables import for_run, known_part
from nacre.job.layout import Layout

_SUFFIXES = (".warc", ".warc.gz", ".warc.open", ".warc.gz.open")


def warc_files(layout: Layout, settings: JobSettings) -> Iterator[tuple[Path, Path | None]]:
    """Every WARC with its index (None where there is none), in order of runs and names."""
    for directory in archive_directories(layout, settings):
        for path in sorted(directory.iterdir()):
            if path.name.endswith(_SUFFIXES):
                yield path, index_of(path)


def archive_directories(layout: Layout, settings: JobSettings) -> Iterator[Path]:
    """Directories that hold WARCs."""
    runs = layout.root / "runs"
    found = sorted(runs.iterdir()) if runs.is_dir() else []
    named = {
        Path(run, directory): None
        for run in found
        for directory in for_run(settings, run.name).archive.directories
    }
    if not found:
        named = {Path(known_part(name)): None for name in settings.archive.directories}
    yield from (place for place in named if place.is_absolute() and place.is_dir())


def index_of(warc: Path) -> Path | None:
    """The index beside a WARC: closed, or still open."""
    closed = warc.with_name(index_name(warc.name))
    for path in (closed, closed.with_name(closed.name + ".open")):
        if path.is_file():
            return path
    return None


def index_name(warc: str) -> str:
    """Name of the index of a WARC, with its folders if it has some."""
    return warc.removesuffix(".open").removesuffix(".gz").removesuffix(".warc") + ".cdxj"
