"""The rule files of Nutch, the ruling of a filter, and the protocol of filters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from nacre.errors import ConfigError, Problem


class Ruling(NamedTuple):
    """The answer of a filter.

    Attributes:
        passes: The URL is kept.
        line: The line of the rule that decided; 0 if none did.
        file: The file of that rule; "" for none.
    """

    passes: bool
    line: int = 0
    file: str = ""

    @property
    def place(self) -> str:
        """`file:line`, as far as it is known."""
        return f"{self.file}:{self.line}" if self.line else self.file


class URLFilter(Protocol):
    """Says of any text whether it is a URL to keep; never raises."""

    @property
    def notes(self) -> Sequence[Problem]:
        """Lines to report to the operator: slow patterns, and lines that are ignored."""
        ...

    def judge(self, url: str) -> Ruling:
        """Return the answer, and the rule that gave it."""
        ...

    def timeouts(self) -> int:
        """Matches that were given up."""
        ...


class RuleSource(NamedTuple):
    """The text of a rule file.

    Attributes:
        lines: Its lines, without their ends.
        file: Its name, for messages; "" for rules in the configuration.
    """

    lines: Sequence[str]
    file: str = ""

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers from 1; a byte order mark is left out."""
        for number, line in enumerate(self.lines, 1):
            yield number, line.removeprefix("\ufeff") if number == 1 else line

    def problem(self, line: int, message: str, expected: str = "") -> Problem:
        """Return a finding about a line."""
        return Problem("", message, expected, file=self.file or "rules", line=line)


_LINE_END = re.compile(r"\r\n|\n|\r")


def lines_of(text: str) -> list[str]:
    """The lines of a text, as Java reads them: LF, CR and CRLF end one, and nothing else does."""
    lines = _LINE_END.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def require(problems: Iterable[Problem]) -> None:
    """Raise ConfigError with all problems, if there are any."""
    problem_list = list(problems)
    if problem_list:
        raise ConfigError(problem_list)
