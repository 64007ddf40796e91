"""The exceptions of Nacre. What goes wrong on the web is never one of them: it is a status.

NacreError
├── URIError            a text that is not a URI
├── ConfigError         the operator's configuration or arguments: all problems at once
├── JobError            a command that does not fit the state of the job
└── StorageError        a disk that failed, filled up, or holds something unexpected
    ├── DamageError     stored data that contradicts itself; the message has place and remedy └──
    OldLayoutError  a store of an older Nacre that was opened for reading only
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.messages import LINES, error_text, join, message


class NacreError(Exception):
    """Base of all errors that Nacre raises on purpose."""

    @property
    def message(self) -> str:
        """The text; a `Message` if the error was raised with one."""
        return error_text(self)


class URIError(NacreError):
    """A text is not a URI that Nacre can identify; the message says why."""


class Problem(NamedTuple):
    """One finding of a configuration check.

    Attributes:
        path: Dotted path of the property, such as `frontier.max_retries`; "" for the whole.
        message: What is wrong.
        expected: What was expected, with its unit; "" where the message says all.
        sample: A correct line to copy; "" where none helps.
        file: The file that it is in; "" for the command line or the environment.
        line: Line number from 1; 0 when unknown.
    """

    path: str
    message: str
    expected: str = ""
    sample: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """One paragraph for the operator."""
        return str(self.text)

    @property
    def text(self) -> str:
        """The same; a `Message` if a part of it is a message."""
        place = (
            f"{self.file}:{self.line}: " if self.line else (f"{self.file}: " if self.file else "")
        )
        name = place + (self.path and f"{self.path}: ")
        text = self.message
        if name:
            text = message("problem.place", "{name}{text}", name=name, text=text)
        if self.expected:
            text = message(
                "problem.expected", "{problem}\n    expected: {expected}",
                problem=text, expected=self.expected,
            )  # fmt: skip
        if self.sample:
            text = message(
                "problem.sample", "{problem}\n    for example: {sample}",
                problem=text, sample=self.sample,
            )  # fmt: skip
        return text


class ConfigError(NacreError):
    """The configuration cannot be used; `problems` holds every finding, in file order."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        problem_list = [Problem("", problems)] if isinstance(problems, str) else list(problems)
        self.problems: tuple[Problem, ...] = tuple(problem_list)
        super().__init__(join([p.text for p in problem_list], *LINES))


class JobError(NacreError):
    """A command does not fit the job or its state; the message contains the remedy."""


class ConflictError(JobError):
    """Another command changed the same thing meanwhile; nothing was changed by this one."""


class StorageError(NacreError):
    """A file operation failed (ENOSPC, EIO, read-only …); the message names path and remedy."""


class BrowserError(NacreError):
    """No browser can be started, or none replaces one that ended; the message has the remedy."""


class DamageError(StorageError):
    """Stored data is missing, shortened or contradicts itself; the crawl must not go on over it."""


class OldLayoutError(StorageError):
    """A store was made by an older Nacre and may only be read; opening it for work updates it."""
