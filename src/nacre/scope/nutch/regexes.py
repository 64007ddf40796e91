"""Nutch's URL filters with expressions (regex, automaton and fast), and what all filters share.

`regex-urlfilter.txt` and `automaton-urlfilter.txt`: the first rule that matches decides.
`fast-urlfilter.txt`: patterns denied for a host, a domain or all URLs; suited to large lists.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from nacre.config.component import Component, setting
from nacre.errors import ConfigError, Problem, URIError
from nacre.scope.nutch.automaton import automaton_regex
from nacre.scope.patterns.matching import FirstMatch, PatternNote, examine
from nacre.uri.domain import registry_domain
from nacre.uri.javaurl import JavaURL, split_java


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


class SignedRule(NamedTuple):
    """One rule of a file.

    Attributes:
        accepts: It begins with `+`.
        pattern: What follows.
        place: The host or domain that it holds for; "" for all.
        line: Its line.
    """

    accepts: bool
    pattern: str
    place: str
    line: int


def read_signed(source: RuleSource) -> list[SignedRule]:
    """The rules of a file: `+pattern` and `-pattern`; `> host` and `<` enclose those of one host.

    Raises:
        ConfigError: Lines that begin otherwise; all of them.
    """
    rules: list[SignedRule] = []
    problems: list[Problem] = []
    place = ""
    for number, line in source.numbered():
        first = line[:1]
        if first in {"+", "-"}:
            rules.append(SignedRule(first == "+", line[1:], place, number))
        elif first == ">":
            place = line[1:].strip()
        elif first == "<":
            place = ""
        elif first not in {"", " ", "#"}:
            problems.append(
                source.problem(
                    number,
                    f"{line[:80]!r} begins neither with + nor with -",
                    "`+pattern`, `-pattern`, `> host`, `<` or `# comment`",
                )
            )
    require(problems)
    return rules


class RegexFilter:
    """Regular expressions as in Java, found anywhere in the URL. No match: rejected.

    Args:
        source: The rule file.

    Raises:
        ConfigError: Lines that are not rules, patterns that are not expressions.
    """

    def __init__(self, source: RuleSource) -> None:
        self._file = source.file
        self._rules = read_signed(source)
        notes = [(rule.line, examine(rule.pattern)) for rule in self._rules]
        require(
            source.problem(line, f"{note.pattern!r} is {note.message}")
            for line, note in notes
            if note and not note.usable
        )
        self.notes = [
            source.problem(line, f"{note.pattern!r} {note.message}") for line, note in notes if note
        ]
        self._first = FirstMatch([rule.pattern for rule in self._rules])
        self._by_place = any(rule.place for rule in self._rules)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        places = _places(url) if self._by_place else ("",)
        for index in self._first.places(url):
            rule = self._rules[index]
            if rule.place in places:
                return Ruling(rule.accepts, rule.line, self._file)
        return Ruling(passes=False, file=self._file)

    def timeouts(self) -> int:
        """See `URLFilter.timeouts`."""
        return self._first.timeouts


class AutomatonFilter:
    """Expressions in the syntax of dk.brics.automaton, for the whole URL. No match: rejected.

    Args:
        source: The rule file.

    Raises:
        ConfigError: Lines that are not rules, patterns that are not expressions.
    """

    def __init__(self, source: RuleSource) -> None:
        self._file = source.file
        self._rules = read_signed(source)
        self.notes: list[Problem] = []
        problems: list[Problem] = []
        regexes: list[str] = []
        for rule in self._rules:
            try:
                regexes.append(automaton_regex(rule.pattern))
            except ValueError as error:
                problems.append(
                    source.problem(rule.line, f"{rule.pattern!r} is not an automaton: {error}")
                )
        require(problems)
        self._first = FirstMatch(regexes, whole=True)
        self._by_place = any(rule.place for rule in self._rules)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        places = _places(url) if self._by_place else ("",)
        for index in self._first.places(url):
            rule = self._rules[index]
            if rule.place in places:
                return Ruling(rule.accepts, rule.line, self._file)
        return Ruling(passes=False, file=self._file)

    def timeouts(self) -> int:
        """None: automata take linear time."""
        return 0


def _places(url: str) -> tuple[str, ...]:
    """Return the sections that hold for a URL: those for all, for its host and for its domain."""
    try:
        host = split_java(url).host
    except URIError:
        return ("",)
    return "", host, registry_domain(host.lower())


class Limits(Component):
    """Lengths above which a URL is rejected; -1: no limit."""

    max_length: int = setting(-1, "Of the whole URL.", unit="characters", ge=-1)
    max_path_length: int = setting(-1, "Of its path.", unit="characters", ge=-1)
    max_query_length: int = setting(-1, "Of its query.", unit="characters", ge=-1)


_DENY_ALL = re.compile(r"\.[*?]")
_COMPILED = 10_000
"""Expressions that are kept compiled."""


class _Denial(NamedTuple):
    pattern: str
    with_query: bool
    line: int


class FastFilter:
    """Rejects URLs that a section for the host, for a parent domain or for all denies.

    Args:
        source: `Host name` and `Domain name` lines, each followed by `DenyPath expression` and
            `DenyPathQuery expression`; `Domain .` holds for all. `#` begins a comment. What stands
            before the first section is left out, as are lines of another kind, which are noted.
        limits: Longest URL, path and query.

    Raises:
        ConfigError: Expressions that are none.
    """

    def __init__(self, source: RuleSource, limits: Limits | None = None) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._limits = limits or Limits()
        self._hosts: dict[str, list[_Denial]] = {}
        self._domains: dict[str, list[_Denial]] = {}
        self._first = lru_cache(maxsize=_COMPILED)(_first_match)
        self._timeouts = 0
        self._read(source)

    def _read(self, source: RuleSource) -> None:
        section: list[_Denial] | None = None
        for number, raw in source.numbered():
            words = raw.partition("#")[0].split()
            if not words:
                continue
            if words[0] in {"Host", "Domain"} and len(words) > 1:
                sections = self._hosts if words[0] == "Host" else self._domains
                section = sections.setdefault(words[1].lower(), [])
            elif section is not None and words[0] in {"DenyPath", "DenyPathQuery"}:
                pattern = words[1] if len(words) > 1 else ""
                section.append(_Denial(pattern, words[0] == "DenyPathQuery", number))
            else:
                self._ignore(source, number, raw)
        self._examine(source)

    def _ignore(self, source: RuleSource, number: int, line: str) -> None:
        message = "is no rule and is left out: write `Host`, `Domain`, `DenyPath`, `DenyPathQuery`"
        self.notes.append(source.problem(number, f"{line.strip()[:80]!r} {message}"))

    def _examine(self, source: RuleSource) -> None:
        problems: list[Problem] = []
        notes_by_pattern: dict[str, PatternNote | None] = {}
        for section in (*self._hosts.values(), *self._domains.values()):
            for pattern, _, line in section:
                if pattern not in notes_by_pattern:
                    notes_by_pattern[pattern] = examine(pattern)
                note = notes_by_pattern[pattern]
                if note and note.usable:
                    self.notes.append(source.problem(line, f"{pattern!r} {note.message}"))
                elif note:
                    problems.append(source.problem(line, f"{pattern!r} is {note.message}"))
        require(problems)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        try:
            parts = split_java(url)
        except URIError:
            return Ruling(passes=False, file=self._file)
        if self._too_long(url, parts):
            return Ruling(passes=False, file=self._file)
        host = parts.host.lower()
        line = self._denying_line(self._hosts.get(host), parts)
        while not line and host:
            line = self._denying_line(self._domains.get(host), parts)
            host = host.partition(".")[2]
        line = line or self._denying_line(self._domains.get("."), parts)
        return Ruling(not line, line, self._file)

    def _too_long(self, url: str, parts: JavaURL) -> bool:
        limits = self._limits
        return (
            0 < limits.max_length < len(url)
            or 0 < limits.max_path_length < len(parts.path)
            or 0 < limits.max_query_length < len(parts.query or "")
        )

    def _denying_line(self, section: list[_Denial] | None, parts: JavaURL) -> int:
        """Return the line of the first rule that denies it; 0 for none."""
        for pattern, with_query, line in section or ():
            if _DENY_ALL.fullmatch(pattern):
                return line
            first = self._first(pattern)
            before = first.timeouts
            hit = next(first.places(parts.file if with_query else parts.path), None)
            self._timeouts += first.timeouts - before
            if hit is not None:
                return line
        return 0

    def timeouts(self) -> int:
        """See `URLFilter.timeouts`."""
        return self._timeouts


def _first_match(pattern: str) -> FirstMatch:
    return FirstMatch((pattern,))
