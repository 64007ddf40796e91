"""Seed lists of Nutch: files with one URL a line, metadata behind tabs."""

from collections.abc import Iterator
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.errors import ConfigError, JobError, Problem
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.report import FileNote, Report
from nacre.migrate.texts import read_lines

_MAX_BYTES = 512_000_000
_INSIDE = ("urls", "seeds", "seed.txt")


def seed_lines(conf: Conf, named: Path | None, report: Report) -> list[str]:
    """Lines of the new seed list; none where there are no seeds.

    Args:
        conf: The configuration; `urls`, `seeds` and `seed.txt` in it are looked at, and then
            those beside it, where Nutch's tutorial has them.
        named: The file or directory that the operator named.
        report: Takes notes on the files.

    Raises:
        ConfigError: What the operator named is not there.
        JobError: A file cannot be read.
    """
    if named is not None and not named.exists():
        raise ConfigError(
            [Problem("", "there are no seeds", "a file or a directory", file=str(named))]
        )
    lines: list[str] = []
    for folder in (conf.directory, conf.directory.resolve().parent):
        places = [named] if named else [folder / name for name in _INSIDE]
        for path in (file for place in places for file in _files(place)):
            lines += _lines(path, report)
        if lines or named:
            break
    return lines


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from sorted(
            path for path in place.iterdir() if path.is_file() and path.name[0] not in "._"
        )


def _lines(path: Path, report: Report) -> Iterator[str]:
    try:
        read, encoding = read_lines(read_ordinary(path, _MAX_BYTES))
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from error
    with_data = 0
    lines = []
    for line in read:
        url, tab, _ = line.strip().partition("\t")
        with_data += bool(tab) and not url.startswith("#")
        lines.append(url.strip())
    note = f"seeds, read as {encoding}" if encoding else "seeds"
    note += f"; metadata of {with_data} lines left out" if with_data else ""
    report.files.append(FileNote(path.name, note, check=bool(with_data or encoding)))
    yield from lines
