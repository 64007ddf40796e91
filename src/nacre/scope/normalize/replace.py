"""The `regex` normalizer: `regex-normalize.xml`, read unchanged."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import re2

from nacre.errors import ConfigError, Problem
from nacre.scope.nutch.ruling import Source
from nacre.scope.patterns import TIME_LIMIT, backtracking, examine, for_re2, re2_options
from nacre.wire.xml import Element, read_xml

_NEVER = r"[^\x00-\x{10ffff}]"
_REFERENCE = re.compile(r"\\(.)|\$(?:(\d)|\{(\w+)\})|([\\$])", re.DOTALL)


class Replacement(NamedTuple):
    """One rule.

    Attributes:
        pattern: A regular expression, as in Java.
        substitution: What is put in its place: `$1` stands for a group, a backslash makes the next
            character plain.
        line: Its line in the file; 0 for none.
    """

    pattern: str
    substitution: str
    line: int = 0


class Match(Protocol):
    """What both engines find."""

    def group(self, number: int | str, /) -> str | None:
        """The text of a group; None where it took no part."""
        ...

    def start(self) -> int:
        """Where it begins."""
        ...

    def end(self) -> int:
        """Where it ends."""
        ...


def read_replacements(source: Source) -> list[Replacement]:
    """The rules of `regex-normalize.xml`.

    Raises:
        ConfigError: It is no such file.
    """
    root = read_xml("\n".join(source.lines).encode("utf-8", "replace"), source.file or "rules")
    if root.tag != "regex-normalize":
        problem = source.problem(root.line, f"<{root.tag}> is no <regex-normalize>")
        raise ConfigError([problem])
    return [_replacement(regex, source) for regex in root.find_all("regex")]


def _replacement(regex: Element, source: Source) -> Replacement:
    pattern = regex.find("pattern")
    if pattern is None or not pattern.text:
        raise ConfigError([source.problem(regex.line, "this <regex> has no <pattern>")])
    return Replacement(pattern.text, regex.text_of("substitution") or "", pattern.line)


class Regex:
    """Replaces what expressions find, one rule after the other.

    Args:
        rules: The rules, in order.
        file: Where they stand, for messages.

    Attributes:
        timeouts: Rules that took too long for a URL; it stays as it was.
        notes: Problems that are no errors: expressions that need backtracking.

    Raises:
        ConfigError: Patterns that are no expressions, substitutions that name no group.
    """

    def __init__(self, rules: Iterable[Replacement], file: str = "") -> None:
        self.timeouts = 0
        self.notes: list[Problem] = []
        self._steps: list[_Step] = []
        problems: list[Problem] = []
        for rule in rules:
            note = examine(rule.pattern)
            if note:
                said = _problem(f"{rule.pattern!r} {note.message}", file, rule)
                (self.notes if note.usable else problems).append(said)
            if note is None or note.usable:
                try:
                    self._steps.append(_Step(rule))
                except ValueError as error:
                    problems.append(_problem(str(error), file, rule))
        if problems:
            raise ConfigError(problems)
        self._linear = _set_of(self._steps)

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        hits = self._hits(url)
        for place, step in enumerate(self._steps):
            if step.linear and place not in hits:
                continue
            try:
                changed = step.apply(url)
            except TimeoutError:
                self.timeouts += 1
                continue
            if changed != url:
                url = changed
                hits = self._hits(url)
        return url

    def _hits(self, url: str) -> Sequence[int]:
        """Places of the rules that RE2 can run and that find something: one pass for all."""
        return (self._linear.Match(url) or ()) if self._linear is not None else ()


def _problem(message: str, file: str, rule: Replacement) -> Problem:
    return Problem("", message, file=file, line=rule.line)


def _set_of(steps: Sequence["_Step"]) -> re2.Set | None:
    """All rules in one set, at their places; those that RE2 cannot run never match there."""
    if not any(step.linear for step in steps):
        return None
    found = re2.Set.SearchSet(re2_options())
    for step in steps:
        found.Add(step.linear or _NEVER)
    found.Compile()
    return found


class _Step:
    """One rule, compiled.

    Attributes:
        linear: The pattern for RE2; None where it cannot run it.
    """

    def __init__(self, rule: Replacement) -> None:
        taken = for_re2(rule.pattern)
        self.linear = taken
        self._find: Callable[[str], Iterator[Match]]
        names: Sequence[str]
        if taken is not None:
            fast = re2.compile(taken, re2_options())
            self._find = fast.finditer
            groups, names = fast.groups, list(fast.groupindex)
        else:
            slow = backtracking(rule.pattern)
            self._find = lambda text: slow.finditer(text, timeout=TIME_LIMIT)
            groups, names = slow.groups, list(slow.groupindex)
        self._parts = _parse(rule.substitution, groups, names)

    def apply(self, text: str) -> str:
        found: list[str] = []
        end = 0
        for match in self._find(text):
            found.append(text[end : match.start()])
            found += [
                part if isinstance(part, str) else match.group(part[0]) or ""
                for part in self._parts
            ]
            end = match.end()
        return "".join((*found, text[end:])) if found else text


def _parse(text: str, groups: int, names: Sequence[str]) -> list[str | tuple[int | str]]:
    """Texts, and references to groups as tuples of one.

    Raises:
        ValueError: A group that the expression does not have, or a sign without what follows it.
    """
    parts: list[str | tuple[int | str]] = []
    end = 0
    for found in _REFERENCE.finditer(text):
        parts.append(text[end : found.start()])
        plain, digit, name, alone = found.groups()
        if alone:
            raise ValueError(f"{text!r}: write \\{alone} for a plain {alone}")
        if (digit and int(digit) > groups) or (name and name not in names):
            raise ValueError(f"{text!r} names a group that the pattern does not have")
        parts.append(plain or ((int(digit),) if digit else (name,)))
        end = found.end()
    parts.append(text[end:])
    return [part for part in parts if part != ""]
