"""Seed lists of Nutch: files with one URL a line, metadata behind tabs."""

from collections.abc import Iterator
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.errors import ConfigError, JobError, Problem
from nacre.migrate.nutch.conf import Conf
from nacre.migrate.report import FileNote, Report

PLACEHOLDER = (
    "# There were no seeds: put yours here, one URL a line.",
    "http://example.test/",
)

_MAX_BYTES = 512_000_000
_INSIDE = ("urls", "seeds", "seed.txt")


def seed_lines(conf: Conf, named: Path | None, report: Report) -> list[str]:
    """Lines of the new seed list; a placeholder where there are no seeds.

    Args:
        conf: The configuration; `urls`, `seeds` and `seed.txt` in it are looked at.
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
    places = [named] if named else [conf.directory / name for name in _INSIDE]
    lines: list[str] = []
    for path in (file for place in places for file in _files(place)):
        lines += _lines(path, report)
    if not any(line and not line.startswith("#") for line in lines):
        report.advice.append("Put your seeds into seeds.txt in place of http://example.test/.")
        return [*lines, *PLACEHOLDER]
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
        text = read_ordinary(path, _MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from error
    with_data = 0
    lines = []
    for line in text.splitlines():
        url, tab, _ = line.strip().partition("\t")
        with_data += bool(tab) and not url.startswith("#")
        lines.append(url.strip())
    note = f"seeds; metadata of {with_data} lines left out" if with_data else "seeds"
    report.files.append(FileNote(path.name, note, check=with_data > 0))
    yield from lines
