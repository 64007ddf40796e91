"""Seed lists of Nutch: files with one URL a line, metadata behind tabs.

The metadata stay behind the URLs: batch rounds read them as Nutch does, and the continuous crawl
does not look at them. Intervals become sheets as well, which the continuous crawl obeys.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, JobError, Problem
from nacre.machine.local_files import read_ordinary
from nacre.scope.seeds import own_scope_words
from nacre_migrate.files import read_lines
from nacre_migrate.nutch.conf import Conf
from nacre_migrate.report import FileNote, MigrationReport

_MAX_BYTES = 512_000_000
_NAMED = 10
"""Keys of metadata that a note names."""
_MOST_SECONDS = 2**31 - 1
"""Nutch keeps intervals in 32 bits."""
_INSIDE = ("urls", "seeds", "seed.txt")
_INTERVAL, _FIXED = "nutch.fetchInterval", "nutch.fetchInterval.fixed"


class SeedInterval(NamedTuple):
    """The interval between visits that a line gives its URL.

    Attributes:
        seconds: Interval, s, at least 1.
        fixed: An adaptive schedule keeps it (`nutch.fetchInterval.fixed`).
    """

    seconds: int
    fixed: bool


@dataclass
class Seeds:
    """The contents of the seed lists of a configuration.

    Attributes:
        lines: Lines of the new seed list, comments and metadata included.
        intervals: Intervals that lines give, by URL as written.
    """

    lines: list[str] = field(default_factory=list)
    intervals: dict[str, SeedInterval] = field(default_factory=dict)


def read_seeds(conf: Conf, named: Path | None, report: MigrationReport) -> Seeds:
    """The seeds; without lines if there are none.

    Args:
        conf: The configuration; `urls`, `seeds` and `seed.txt` in it are looked at, and then
            those next to it, as in Nutch's tutorial.
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
    seeds = Seeds()
    for folder in (conf.directory, conf.directory.resolve().parent):
        places = [named] if named else [folder / name for name in _INSIDE]
        for path in (file for place in places for file in _files(place)):
            _read(path, seeds, report)
        if seeds.lines or named:
            break
    return seeds


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from sorted(
            path for path in place.iterdir() if path.is_file() and path.name[0] not in "._"
        )


def _read(path: Path, seeds: Seeds, report: MigrationReport) -> None:
    try:
        read, encoding = read_lines(read_ordinary(path, _MAX_BYTES))
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from error
    other_keys: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for line in read:
        text, _, metadata = line.strip().partition("\t")
        url = text.strip()
        if not metadata or url.startswith("#"):
            seeds.lines.append(url)
            continue
        values = dict(_pairs(metadata))
        if interval := _interval(values):
            seeds.intervals[url] = interval
        unread.update(
            key for key in (_FIXED, _INTERVAL) if key in values and not _seconds(values[key])
        )
        pairs = {key: f"{key}={value}" for key, value in values.items()}
        # Words for the scope of one seed mean nothing to Nutch.
        own = [key for key, pair in pairs.items() if own_scope_words(pair)]
        left_out.update(own)
        other_keys.update(key for key in pairs if key not in own)
        seeds.lines.append("\t".join([url, *(pairs[key] for key in pairs if key not in own)]))
    note = f"seeds, read as {encoding}" if encoding else "seeds"
    note += f"; metadata kept for `nacre cycle`: {_counts(other_keys)}" if other_keys else ""
    note += f"; left out of their metadata: {_counts(left_out)}" if left_out else ""
    note += f"; no seconds of 1 to 2^31-1, to be corrected: {_counts(unread)}" if unread else ""
    report.files.append(FileNote(path.name, note, check=bool(left_out or unread or encoding)))


def _counts(keys: Counter[str]) -> str:
    counts = ", ".join(f"{key} ({count})" for key, count in keys.most_common(_NAMED))
    return f"{counts}, …" if len(keys) > _NAMED else counts


def _pairs(metadata: str) -> Iterator[tuple[str, str]]:
    for pair in metadata.split("\t"):
        key, _, value = pair.partition("=")
        if key.strip():
            yield key.strip(), value.strip()


def _interval(values: dict[str, str]) -> SeedInterval | None:
    """What metadata say of the interval; None for nothing that can be read."""
    for key in (_FIXED, _INTERVAL):
        if seconds := _seconds(values.get(key, "")):
            return SeedInterval(seconds, fixed=key == _FIXED)
    return None


def _seconds(digits: str) -> int:
    """Seconds of an interval; 0 if it is no number of seconds that Nutch could store."""
    if digits.isascii() and digits.isdecimal() and len(digits) <= len(str(_MOST_SECONDS)):
        return int(digits) if int(digits) <= _MOST_SECONDS else 0
    return 0
