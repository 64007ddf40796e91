"""Pages of log files: some lines before or behind a byte, of a file of any size."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from nacre.fleet.refusals import not_found
from nacre.machine.layout import Layout
from nacre.scope.patterns.matching import Matcher

BUDGET: Final = 16 << 20
"""Bytes that one question looks through: some tenths of a second of a reader process."""
_BLOCK: Final = 1 << 18
_LONGEST: Final = 1 << 20
"""Bytes of a line; a longer one is shown in pieces."""
_UNTIMED: Final = 1 << 18
"""The search for a time ends after this number of bytes without one."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,60}(\.log\.cp\d{5}-\d{14})?")
_RUN: Final = re.compile(r"\d{8}T\d{6}Z")
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?")
_FILE: Final = re.compile(r"([a-z][a-z0-9-]{0,60})\.log(\.cp\d{5}-\d{14})?")


class LogLine(msgspec.Struct, frozen=True):
    """A line of a log.

    Attributes:
        offset: Byte at which it begins.
        text: It, without its end.
    """

    offset: int
    text: str


class LogPage(msgspec.Struct, frozen=True):
    """Some lines of a log.

    Attributes:
        lines: They, in the order of the file.
        start: Byte offset before which the older lines are.
        end: Byte offset after which the newer lines are.
        size: Bytes of the file.
        searched: Bytes that were searched.
        is_cut: The search stopped before the page was full and before the end of the file; it
            resumes at `start` or `end`.
        stamp: Changes when the file is replaced.
    """

    lines: tuple[LogLine, ...]
    start: int
    end: int
    size: int
    searched: int = 0
    is_cut: bool = False
    stamp: str = ""


class LogQuestion(NamedTuple):
    """The part of a log to read.

    Attributes:
        after: Byte offset after which lines are read; None for none.
        before: Byte offset before which lines are read; None for the end of the file.
        limit: Number of lines.
        wants: Whether a line matches the filter.
        budget: Bytes that may be searched.
    """

    after: int | None
    before: int | None
    limit: int
    wants: Matcher
    budget: int = BUDGET


def is_log_name(name: str) -> bool:
    """Whether a log may have this name."""
    return _NAME.fullmatch(name) is not None


def log_path(layout: Layout, name: str, run: str = "") -> Path:
    """The file of a log.

    Args:
        layout: The job's directories.
        name: Its name without `.log`, such as `crawl`; hostile.
        run: Name of the run; "" for the last one.

    Raises:
        RefusedRequestError: There is none of that name (404).
    """
    if not is_log_name(name) or not (run == "" or _RUN.fullmatch(run)):
        raise not_found("log", name)
    folder = _logs(layout, run)
    path = folder / (name if ".log." in name else f"{name}.log")
    if not path.is_file() or path.is_symlink():
        raise not_found("log", name)
    return path


def _logs(layout: Layout, run: str) -> Path:
    """The folder of a run's logs, below the job's directory."""
    folder = ((layout.run(run) if run else layout.latest) / "logs").resolve()
    if not folder.is_relative_to(layout.root.resolve()):
        raise not_found("run")
    return folder


def runs_with_logs(layout: Layout) -> list[str]:
    """The names of the runs whose logs are there, the newest first."""
    try:
        with os.scandir(layout.root / "runs") as entries:
            names = [
                entry.name
                for entry in entries
                if _RUN.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [name for name in sorted(names, reverse=True) if (layout.run(name) / "logs").is_dir()]


def log_names(layout: Layout, run: str = "") -> list[tuple[str, int]]:
    """The logs of a run with their sizes, by name; those with an older suffix last."""
    logs = []
    try:
        with os.scandir(_logs(layout, run)) as entries:
            for entry in entries:
                match = _FILE.fullmatch(entry.name)
                if match and entry.is_file(follow_symlinks=False):
                    name = entry.name if match[2] else match[1]
                    logs.append((bool(match[2]), name, entry.stat().st_size))
    except OSError:
        return []
    return [(name, size) for _, name, size in sorted(logs)]


def read_page(path: Path, question: LogQuestion) -> LogPage:
    """A page of a file.

    Raises:
        RefusedRequestError: The file is gone (404).
    """
    with open_log(path) as file:
        facts = os.fstat(file.fileno())
        size, stamp = facts.st_size, f"{facts.st_ino:x}"
        if question.after is not None:
            page = _forward(file, min(question.after, size), size, question)
        else:
            before = size if question.before is None else min(question.before, size)
            page = _backward(file, before, size, question)
    return msgspec.structs.replace(page, stamp=stamp)


def place_at(path: Path, moment: str) -> int:
    """The byte of a log at which the lines of a moment begin: about, where times go back.

    Args:
        path: The file, whose lines begin with their times; others belong to the line before.
        moment: The beginning of a time of RFC 3339 in UTC, such as `2026-11-24T02`.

    Raises:
        RefusedRequestError: The file is gone (404).
    """
    with open_log(path) as file:
        size = os.fstat(file.fileno()).st_size
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            timed = _next_time(file, middle, high)
            if timed is not None and timed.time[: len(moment)] < moment:
                low = timed.end
            else:
                high = middle
        at_last = _next_time(file, low, size)
        return low if at_last is None else at_last.start


class _TimedLine(NamedTuple):
    """A line with a time: the time, and the bytes at which it begins and behind its end."""

    time: str
    start: int
    end: int


def _next_time(file: BinaryIO, at: int, end: int) -> _TimedLine | None:
    """The first line between two bytes that has a time; None for none that is near the first."""
    at = _line_start(file, at)
    file.seek(at)
    end = min(end, at + _UNTIMED)
    while at < end and (line := file.readline(_LONGEST)):
        if match := _TIME.match(line):
            return _TimedLine(match[0].decode("ascii"), at, at + len(line))
        at += len(line)
    return None


def open_log(path: Path) -> BinaryIO:
    """A log to read, at its beginning; the caller closes it.

    Raises:
        RefusedRequestError: It is gone, or is no ordinary file (404).
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        raise not_found("log", path.name) from None
    file = os.fdopen(number, "rb")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        file.close()
        raise not_found("log", path.name)
    return file


def _forward(file: BinaryIO, after: int, size: int, question: LogQuestion) -> LogPage:
    """Lines that begin behind a byte; a last one without its end is still being written."""
    at = _line_start(file, after)
    start, lines = at, list[LogLine]()
    file.seek(at)
    while len(lines) < question.limit and at - start < question.budget and at < size:
        line = file.readline(_LONGEST)
        if not line.endswith(b"\n") and len(line) < _LONGEST:
            break
        text = _text(line)
        if question.wants(text):
            lines.append(LogLine(at, text))
        at += len(line)
    is_cut = len(lines) < question.limit and at - start >= question.budget
    return LogPage(tuple(lines), start, at, size, at - start, is_cut)


def _line_start(file: BinaryIO, at: int) -> int:
    """Return the offset if a line begins there, or else the offset of the next line."""
    if at == 0:
        return 0
    file.seek(at - 1)
    return at - 1 + len(file.readline(_LONGEST))


def _backward(file: BinaryIO, before: int, size: int, question: LogQuestion) -> LogPage:
    """Read lines that end before an offset, beginning with the last one."""
    lines, start, end = list[LogLine](), before, before
    for offset, line in _lines_back(file, before):
        if before - start >= question.budget or len(lines) == question.limit:
            break
        start = offset
        if not line.endswith(b"\n") and offset + len(line) == size:
            end = offset
            continue
        text = _text(line)
        if question.wants(text):
            lines.append(LogLine(offset, text))
    searched = before - start
    is_cut = len(lines) < question.limit and searched >= question.budget and start > 0
    return LogPage(tuple(reversed(lines)), start, end, size, searched, is_cut)


def _lines_back(file: BinaryIO, before: int) -> Iterator[tuple[int, bytes]]:
    """Lines with their bytes, from the end towards the beginning."""
    pending, at = b"", before
    while at > 0:
        length = min(_BLOCK, at)
        at -= length
        file.seek(at)
        block = file.read(length) + pending
        # The bytes before the first line feed belong to a line that begins in an earlier block.
        cut = 0 if at == 0 else block.find(b"\n", 0, len(block) - 1) + 1
        if at > 0 and not cut and len(block) < _LONGEST:
            pending = block
            continue
        offset = at + len(block)
        for line in reversed(_split(block[cut:])):
            offset -= len(line)
            yield offset, line
        pending = block[:cut]


def _split(data: bytes) -> Sequence[bytes]:
    """Lines with their line feeds; other ends of lines that `splitlines` knows are none."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\n")
