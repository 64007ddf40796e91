"""The seeds that a command line names: URLs, files, standard input, `--set seeds=`."""

import io
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from nacre.config.seed_file import (
    UNREADABLE,
    UTF_8,
    coding_name,
    coding_of,
    decode_lines,
    file_coding,
    lines_in,
    of_a_text,
    open_bytes,
    unreadable,
    why_unreadable,
)
from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import why_not_ordinary
from nacre.messages import message
from nacre.scope.seeds import BadSeed, Seed, SeedList, read_seeds

STDIN = Path("-")
_STDIN_NAME = "standard input"
_MOST = 512_000_000
"""Bytes of a list that is not a regular file."""
_LIST_NAMES = frozenset((".txt", ".csv", ".lst", ".list", ".seeds", ".gz", ".xml"))
"""Suffixes that mark a name as a file, not as a host."""
_METADATA = re.compile(r"[\w.-]+=")


class SeedInput(NamedTuple):
    """Seeds as they were given.

    Attributes:
        lists: What was typed, then each file.
        notes: What to tell of them, a line each.
    """

    lists: Sequence[SeedList]
    notes: Sequence[str]

    @property
    def lines(self) -> list[str]:
        """All lines, for the seed list of the job."""
        return [line for seed_list in self.lists for line in seed_list.lines]


def seed_input(
    urls: Sequence[str], files: Sequence[Path], more: Sequence[str], noun: str = "seed"
) -> SeedInput:
    """The seeds that were named.

    Args:
        urls: Arguments. One that is the name of a file is replaced by its lines.
        files: Of `--seeds`; `-`: standard input.
        more: Of `--set seeds=`: URLs or files.
        noun: The word for one of them in notes.

    Raises:
        ConfigError: There are none, or a file cannot be read.
    """
    typed: list[str] = []
    named = list(files)
    notes: list[str] = []
    for text in (*urls, *more):
        if is_list := _is_file(text):
            named.append(Path(text))
            notes.append(f"{text} is a file: its lines are the {noun}s")
        if not is_list:
            typed.append(_no_missing_file(text))
    if not typed and not named:
        raise ConfigError([_NONE])
    lists = [SeedList("", typed)] if typed else []
    for path in named:
        read, note = _read(path, noun)
        lists.append(read)
        notes.append(note)
    return SeedInput(lists, notes)


_SCHEMES = frozenset(("http", "https", "ftp", "ftps"))
_NONE = Problem(
    "",
    message("ops.no-seeds", "there are no seeds"),
    message("ops.urls-or-seeds-file", "URLs, or --seeds FILE (`-`: standard input)"),
    "https://example.org/",
)


_EMPTY = Problem("", message("ops.empty-seed", "a seed is empty"), _NONE.expected, _NONE.sample)


def set_seeds(values: dict[str, object]) -> list[str]:
    """Take the value of `--set seeds=` out of the settings: a file, a URL or a list of URLs.

    Raises:
        ConfigError: It says something else.
    """
    text = values.pop("seeds", None)
    if text is None:
        return []
    if isinstance(text, str):
        return [text]
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        return text
    raise ConfigError(
        [
            Problem(
                "seeds",
                message("ops.set-seeds", "--set seeds={text!r}: no seeds", text=text),
                message("ops.file-or-urls", "a file, a URL or a list of URLs"),
            )
        ]
    )


def streamed_input(texts: Sequence[str]) -> SeedInput:
    """Seeds as `seed_input` returns them; a file of any length is read while its lines are taken.

    Its seeds are not counted: who takes the lines does that.

    Args:
        texts: Arguments: URLs, and names of files.

    Raises:
        ConfigError: A file cannot be read; of a damaged one while its lines are taken.
    """
    notes: list[str] = []
    lists: list[SeedList] = []
    typed: list[str] = []
    for text in texts:
        if not _is_file(text):
            typed.append(_no_missing_file(text))
            continue
        notes.append(f"{text} is a file: its lines are the seeds")
        try:
            codec = file_coding(Path(text))
        except UNREADABLE as error:
            raise unreadable(text, why_unreadable(error)) from error
        if codec != UTF_8:
            notes.append(f"{text}: read as {coding_name(codec)}")
        lists.append(SeedList(text, lines_in(Path(text), text, codec)))
    return SeedInput([*([SeedList("", typed)] if typed else []), *lists], notes)


def _is_file(text: str) -> bool:
    if "://" in text:
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _no_missing_file(text: str) -> str:
    """A URL as it is; an error for what can only be meant for a file."""
    if "://" in text:
        return text
    if not text.strip():
        raise ConfigError([_EMPTY])
    scheme, slashes, tail = text.partition("//")
    if slashes and scheme.rstrip(":").lower() in _SCHEMES:
        meant = f"{scheme.rstrip(':')}://{tail}"
        detail = f"`://` is misspelt; did you mean {meant!r}?"
        raise ConfigError(
            [
                Problem(
                    "",
                    message(
                        "ops.is-not-seed", "{text!r} is not a seed: {why}", text=text, why=detail
                    ),
                )
            ]
        )
    if pair := _METADATA.match(text):
        detail = f"no host has a name such as {pair[0]!r}"
        expected = message("ops.seed-metadata", "metadata behind a tab, in a file of seeds")
        raise ConfigError(
            [
                Problem(
                    "",
                    message(
                        "ops.is-not-seed", "{text!r} is not a seed: {why}", text=text, why=detail
                    ),
                    expected,
                )
            ]
        )
    path = Path(text.partition("?")[0])
    first, behind, _ = text.partition("/")
    # No host of the web has a name without a dot; `lists/seeds.txt` is a file of a folder.
    is_host = behind and ("." in first or ":" in first or first == "localhost")
    named = text.startswith((".", "/", "~")) or (path.suffix in _LIST_NAMES and not is_host)
    if named or ("." not in text and text != "localhost" and _exists(path)):
        detail = why_not_ordinary(path) or "there is no such file"
        expected = message(
            "ops.seed-url", "a URL, which begins with http:// or https://, or a file of URLs"
        )
        raise ConfigError(
            [
                Problem(
                    "",
                    message(
                        "ops.is-not-seed", "{text!r} is not a seed: {why}", text=text, why=detail
                    ),
                    expected,
                )
            ]
        )
    return text


def _read(path: Path, noun: str) -> tuple[SeedList, str]:
    """The lines of a list, and what to tell of it."""
    name = _STDIN_NAME if path == STDIN else str(path)
    try:
        with _opened(path) as file:
            codec = coding_of(file)
            file.seek(0)
            lines = list(of_a_text(decode_lines(file, codec)))
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise unreadable(name, reason) from error
    if lines and not lines[-1]:
        lines.pop()
    seeds, bad = _counts(read_seeds(lines, name))
    text = f"{name}: {counted(seeds, noun)}"
    if codec != UTF_8:
        text += f", read as {coding_name(codec)}"
    if bad:
        text += (
            f"; {counted(bad, f'line is not a {noun} and is', f'lines are not {noun}s and are')} "
            "skipped"
        )
    return SeedList(name, lines), text


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, or its plural: `1 page`, `1,234 pages`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def _counts(entries: Iterable[object]) -> tuple[int, int]:
    seeds = bad = 0
    for entry in entries:
        seeds += isinstance(entry, Seed)
        bad += isinstance(entry, BadSeed)
    return seeds, bad


def _opened(path: Path) -> BinaryIO | Any:  # noqa: ANN401 - gzip's file is not a BinaryIO
    """A list that can be read twice: what cannot (a pipe) is read at once."""
    if path == STDIN:
        return io.BytesIO(_bounded(sys.stdin.buffer))
    if path.is_fifo():
        with path.open("rb") as file:
            return io.BytesIO(_bounded(file))
    return open_bytes(path)


def _bounded(file: BinaryIO) -> bytes:
    data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError(0, f"it has over {_MOST:,} bytes; save it as a file first")
    return data


def first_url(lines: Iterable[str]) -> str:
    """Return the URL of the first seed; "" if there is none."""
    seeds = (entry.url for entry in read_seeds(lines) if isinstance(entry, Seed))
    return next(seeds, "")


def decode_list(data: bytes) -> str:
    """Return the text of a seed list in any encoding, with LF after each line."""
    lines = decode_lines(io.BytesIO(data), coding_of(io.BytesIO(data)))
    return "".join(f"{line}\n" for line in lines)
