"""Precedences of URIs that a file gives: lines of a URL, spaces, and a number from 0 to 127.

Source: Heritrix's PreloadedUriPrecedencePolicy and its PrecedenceLoader.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nacre.errors import ConfigError, Problem, URIError
from nacre.frontier.precedence import MAX_PRECEDENCE
from nacre.uri.canonical import Canonicalizer, seen_key
from nacre.uri.parse import parse

_MOST_PROBLEMS = 20

Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its name, relative to the job; raises OSError."""


class Preloaded:
    """Files of precedences, each read when it is first asked for and kept in memory.

    A URL takes about 150 bytes.

    Args:
        canonicalizer: For the seen key: a URL is found in whatever form it is met.
        read_lines: Reads a file.
    """

    def __init__(self, canonicalizer: Canonicalizer, read_lines: Lines) -> None:
        self._canonicalizer = canonicalizer
        self._read_lines = read_lines
        self._files: dict[str, Mapping[bytes, int]] = {}

    def __call__(self, file: str, key: bytes) -> int | None:
        """The precedence that a file gives a seen key; None when it gives none.

        Raises:
            ConfigError: The file cannot be read, or lines are no precedence.
        """
        if file not in self._files:
            self._files[file] = self.load(file)
        return self._files[file].get(key)

    def load(self, file: str) -> Mapping[bytes, int]:
        """All precedences of a file, by seen key.

        Raises:
            ConfigError: As above; the first 20 problems, each with its line.
        """
        try:
            lines = self._read_lines(file)
        except OSError as error:
            problem = Problem("", f"cannot be read: {error.strerror or error}", file=file)
            raise ConfigError([problem]) from error
        found: dict[bytes, int] = {}
        problems: list[Problem] = []
        for number, text in _told(lines):
            entry = self._entry(text)
            if isinstance(entry, str):
                problems.append(
                    Problem(
                        "",
                        f"{text[:80]!r}: {entry}",
                        f"a URL and a number from 0 to {MAX_PRECEDENCE}",
                        "http://example.org/ 2",
                        file,
                        number,
                    )
                )
            else:
                found[entry[0]] = entry[1]
            if len(problems) >= _MOST_PROBLEMS:
                break
        if problems:
            raise ConfigError(problems)
        return found

    def _entry(self, text: str) -> tuple[bytes, int] | str:
        """Seen key and precedence of a line; or what is wrong with it."""
        url, _, number = text.rpartition(" ")
        if not number.isascii() or not number.isdigit() or int(number) > MAX_PRECEDENCE:
            return "no precedence stands at its end"
        try:
            return seen_key(self._canonicalizer.canonical(parse(url.strip()))), int(number)
        except URIError as error:
            return f"not a URL: {error}"


def _told(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = " ".join(line.split())
        if text and not text.startswith("#"):
            yield number, text
