"""`regex-urlfilter.txt` and `automaton-urlfilter.txt`: the first rule that matches decides."""

from typing import NamedTuple

from nacre.errors import Problem, URIError
from nacre.scope.first import FirstMatch
from nacre.scope.nutch.automaton import Automaton, parse_automaton
from nacre.scope.nutch.ruling import Ruling, Source, require
from nacre.scope.patterns import examine
from nacre.uri.domain import registry_domain
from nacre.uri.javaurl import split_java


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


def read_signed(source: Source) -> list[SignedRule]:
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
        ConfigError: Lines that are no rules, patterns that are no expressions.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.file
        self._rules = read_signed(source)
        found = [(rule.line, examine(rule.pattern)) for rule in self._rules]
        require(
            source.problem(line, f"{note.pattern!r} is {note.message}")
            for line, note in found
            if note and not note.usable
        )
        self.notes = [
            source.problem(line, f"{note.pattern!r} {note.message}") for line, note in found if note
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
        ConfigError: Lines that are no rules, patterns that are no expressions.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.file
        self._rules = read_signed(source)
        self.notes: list[Problem] = []
        problems: list[Problem] = []
        self._automata: list[Automaton] = []
        for rule in self._rules:
            try:
                self._automata.append(parse_automaton(rule.pattern))
            except ValueError as error:
                problems.append(
                    source.problem(rule.line, f"{rule.pattern!r} is no automaton: {error}")
                )
        require(problems)
        self._first, self._fast = _together(self._automata)
        self._by_place = any(rule.place for rule in self._rules)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        places = _places(url) if self._by_place else ("",)
        fast = {self._fast[place] for place in self._first.places(url)}
        for index, rule in enumerate(self._rules):
            if rule.place in places:
                automaton = self._automata[index]
                if index in fast or (automaton.regex is None and automaton.matches(url)):
                    return Ruling(rule.accepts, rule.line, self._file)
        return Ruling(passes=False, file=self._file)

    def timeouts(self) -> int:
        """None: automata take linear time."""
        return 0


def _together(automata: list[Automaton]) -> tuple[FirstMatch, list[int]]:
    """Those that RE2 can run, as one set, and their places in the list."""
    fast = [place for place, automaton in enumerate(automata) if automaton.regex is not None]
    return FirstMatch([automata[place].regex or "" for place in fast], whole=True), fast


def _places(url: str) -> tuple[str, ...]:
    """The sections that hold for a URL: those for all, for its host and for its domain."""
    try:
        host = split_java(url).host
    except URIError:
        return ("",)
    return "", host, registry_domain(host.lower())
