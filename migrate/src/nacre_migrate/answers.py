"""Answers of the operator about unknown classes, and the questions that ask for them."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import read_ordinary
from nacre_migrate.files import read_lines

DROP = "drop"
"""The answer that leaves a part out."""

_MAX_BYTES = 1_000_000
_FORM = "CLASS=WHAT, such as org.x.Y=warc-writer or org.x.Z=drop"


class Question(NamedTuple):
    """An unknown class in a place where a known one is needed.

    Attributes:
        key: The class, as it is written in an answer.
        beans: What is of this class, for people.
        place: Its place, such as `in the fetch chain`.
        suggestion: What it was taken for: a word or a class that an answer may name.
        reason: The reason for the suggestion; the loss, if it is `drop`.
        file: File of the first one.
        line: Its line.
    """

    key: str
    beans: str
    place: str
    suggestion: str
    reason: str
    file: str
    line: int

    @property
    def answer(self) -> str:
        """As the suggestion would answer it: `org.x.Y=drop`."""
        return f"{self.key}={self.suggestion}"

    def problem(self) -> Problem:
        """The question as a finding."""
        rest = "" if self.suggestion == DROP else f"; ={DROP} leaves it out"
        text = f"{self.place} ({self.beans}), and Nacre does not know this class"
        expected = f"--class {self.answer} ({self.reason}){rest}"
        return Problem(self.key, text, expected, file=self.file, line=self.line)


@dataclass(frozen=True, slots=True)
class ClassAnswers:
    """The answers of an operator about classes.

    Attributes:
        answers: The answer for each, by its name.
        typed: Those that were meant for this configuration alone; others may be of a list for many.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    typed: frozenset[str] = frozenset()

    def of(self, *names: str) -> str:
        """The answer for a class that has these names; "" for none."""
        answers = (self.answers.get(name, "") for name in names if name)
        return next((answer for answer in answers if answer), "")

    def unused(self, names: Iterable[str], where: str) -> Iterator[Problem]:
        """Answers for classes that the configuration does not have: mostly slips of the pen.

        Args:
            names: Whatever could be answered for.
            where: The configuration, for the message.
        """
        used = set(names)
        for name in sorted(self.typed - used):
            near = difflib.get_close_matches(name, used, n=1, cutoff=0.6)
            hint = f"perhaps {near[0]}" if near else ""
            yield Problem("--class", f"nothing of {where} is called {name}", hint)


class UnansweredError(ConfigError):
    """A configuration has classes without an answer; `questions` asks for all of them."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self.questions = tuple(questions)
        super().__init__([question.problem() for question in self.questions])


def read_answers(options: Iterable[str], file: Path | None) -> ClassAnswers:
    """Answers by class: those of a file, and those of the command line over them.

    Args:
        options: `CLASS=WHAT` each.
        file: A file with one a line, `#` before comments; None for none.

    Raises:
        ConfigError: It cannot be read, or one of them is not an answer; with all problems.
    """
    answers: dict[str, str] = {}
    typed: set[str] = set()
    problems: list[Problem] = []
    lines = [] if file is None else list(enumerate(_lines(file), 1))
    named = "" if file is None else file.name
    for place, number, text in (
        *((named, number, line) for number, line in lines),
        *(("--class", 0, text) for text in options),
    ):
        plain = text.partition("#")[0].strip()
        if not plain and number:
            continue
        name, sign, answer = (part.strip() for part in plain.partition("="))
        if name and sign and answer:
            answers[name] = DROP if answer.lower() == DROP else answer
            typed |= set() if number else {name}
        else:
            problems.append(Problem("", f"{plain!r} is not an answer", _FORM, "", place, number))
    if problems:
        raise ConfigError(problems)
    return ClassAnswers(answers, frozenset(typed))


def _lines(file: Path) -> list[str]:
    try:
        data = read_ordinary(file, _MAX_BYTES)
    except OSError as error:
        raise ConfigError(
            [Problem("--classes", f"{file} cannot be read: {error.strerror}")]
        ) from None
    return read_lines(data)[0]
