"""Normalizers with rule files: `regex-normalize.xml`, and hosts, protocols and slashes by host."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import re2

from nacre.errors import ConfigError, Problem, URIError
from nacre.messages import error_text, message
from nacre.scope.nutch.regexes import RuleSource
from nacre.scope.patterns.matching import TIME_LIMIT, backtracking, examine, for_re2, re2_options
from nacre.uri.javaurl import JavaURL, split_java
from nacre.wire.xml import Element, read_xml

_NEVER = r"[^\x00-\x{10ffff}]"
_REFERENCE = re.compile(r"\\(.)|\$(?:(\d)|\{(\w+)\})|([\\$])", re.DOTALL)


class Replacement(NamedTuple):
    """One rule.

    Attributes:
        pattern: A regular expression, as in Java.
        substitution: The replacement: `$1` stands for a group, a backslash makes the next character
            plain.
        line: Its line in the file; 0 for none.
    """

    pattern: str
    substitution: str
    line: int = 0


class NormalizerMatch(Protocol):
    """A match of either regex engine."""

    def group(self, number: int | str, /) -> str | None:
        """Return the text of a group; None if it took no part."""
        ...

    def start(self) -> int:
        """Return the offset where it begins."""
        ...

    def end(self) -> int:
        """Return the offset where it ends."""
        ...


def read_replacements(source: RuleSource) -> list[Replacement]:
    """Return the rules of `regex-normalize.xml`.

    Raises:
        ConfigError: It is no such file.
    """
    root = read_xml("\n".join(source.lines).encode("utf-8", "replace"), source.file or "rules")
    if root.tag != "regex-normalize":
        problem = source.problem(root.line, f"<{root.tag}> is no <regex-normalize>")
        raise ConfigError([problem])
    return [_replacement(regex, source) for regex in root.find_all("regex")]


def _replacement(regex: Element, source: RuleSource) -> Replacement:
    pattern = regex.find("pattern")
    if pattern is None or not pattern.text:
        raise ConfigError([source.problem(regex.line, "this <regex> has no <pattern>")])
    return Replacement(pattern.text, regex.text_of("substitution") or "", pattern.line)


class RegexNormalizer:
    """Replaces matches of expressions, one rule after the other.

    Args:
        rules: The rules, in order.
        file: Their file, for messages.

    Attributes:
        timeouts: Rules that took too long for a URL; it stays as it was.
        notes: Problems that are not errors: expressions that need backtracking.

    Raises:
        ConfigError: Patterns that are not expressions, substitutions that name no group.
    """

    def __init__(self, rules: Iterable[Replacement], file: str = "") -> None:
        self.timeouts = 0
        self.notes: list[Problem] = []
        self._steps: list[_Step] = []
        problems: list[Problem] = []
        for rule in rules:
            note = examine(rule.pattern)
            if note:
                problem = _problem(f"{rule.pattern!r} {note.message}", file, rule)
                (self.notes if note.usable else problems).append(problem)
            if note is None or note.usable:
                try:
                    self._steps.append(_Step(rule))
                except ValueError as error:
                    problems.append(_problem(error_text(error), file, rule))
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


def _problem(text: str, file: str, rule: Replacement) -> Problem:
    return Problem("", text, file=file, line=rule.line)


def _set_of(steps: Sequence["_Step"]) -> re2.Set | None:
    """Return all rules in one set, at their places; those that RE2 cannot run never match there."""
    if not any(step.linear for step in steps):
        return None
    pattern_set = re2.Set.SearchSet(re2_options())
    for step in steps:
        pattern_set.Add(step.linear or _NEVER)
    pattern_set.Compile()
    return pattern_set


class _Step:
    """One rule, compiled.

    Attributes:
        linear: The pattern for RE2; None if it cannot run it.
    """

    def __init__(self, rule: Replacement) -> None:
        linear = for_re2(rule.pattern)
        self.linear = linear
        self._find: Callable[[str], Iterator[NormalizerMatch]]
        names: Sequence[str]
        if linear is not None:
            fast = re2.compile(linear, re2_options())
            self._find = fast.finditer
            groups, names = fast.groups, list(fast.groupindex)
        else:
            slow = backtracking(rule.pattern)
            self._find = lambda text: slow.finditer(text, timeout=TIME_LIMIT)
            groups, names = slow.groups, list(slow.groupindex)
        self._parts = _parse(rule.substitution, groups, names)

    def apply(self, text: str) -> str:
        pieces: list[str] = []
        end = 0
        for match in self._find(text):
            pieces.append(text[end : match.start()])
            pieces += [
                part if isinstance(part, str) else match.group(part[0]) or ""
                for part in self._parts
            ]
            end = match.end()
        return "".join((*pieces, text[end:])) if pieces else text


def _parse(text: str, groups: int, names: Sequence[str]) -> list[str | tuple[int | str]]:
    """Texts, and references to groups as tuples of one.

    Raises:
        ValueError: A group that the expression does not have, or an incomplete reference.
    """
    parts: list[str | tuple[int | str]] = []
    end = 0
    for reference in _REFERENCE.finditer(text):
        parts.append(text[end : reference.start()])
        plain, digit, name, alone = reference.groups()
        if alone:
            raise ValueError(
                message(
                    "scope.write-for-plain",
                    "{text!r}: write \\{alone} for a plain {alone}",
                    text=text,
                    alone=alone,
                )
            )
        if (digit and int(digit) > groups) or (name and name not in names):
            raise ValueError(
                message(
                    "scope.no-group",
                    "{text!r} refers to a group that the pattern does not have",
                    text=text,
                )
            )
        parts.append(plain or ((int(digit),) if digit else (name,)))
        end = reference.end()
    parts.append(text[end:])
    return [part for part in parts if part != ""]


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[^./]{1,5}\Z")


def read_hosts(source: RuleSource, takes: Callable[[str], bool]) -> dict[str, str]:
    """`host value` lines; `#` begins a comment, and lines of another form are left out.

    Args:
        source: The rule file.
        takes: Says which values are some.
    """
    values: dict[str, str] = {}
    for _, line in source.numbered():
        words = line.split()
        # A line that begins with a blank has an empty host, which is none.
        if len(words) == 2 and line[0] not in "# \t" and takes(words[1]):
            values[words[0].lower()] = words[1]
    return values


class HostRules:
    """Values by host, and by `*.domain`, of which the most specific one holds.

    Args:
        values: By host name or pattern, lower case.
        with_apex: `*.domain` holds for the domain itself too.
    """

    def __init__(self, values: dict[str, str], *, with_apex: bool = False) -> None:
        self._values = values
        self._with_apex = with_apex

    def of(self, host: str) -> str | None:
        """Return the value for a host."""
        name = host.lower()
        value = self._values.get(name)
        if value is None:
            patterns = map(self._values.get, self._patterns(name))
            value = next((v for v in patterns if v is not None), None)
        return value

    def _patterns(self, name: str) -> Iterator[str]:
        if self._with_apex:
            yield f"*.{name}"
        parent = name.partition(".")[2]
        while parent:
            yield f"*.{parent}"
            parent = parent.partition(".")[2]


class HostNormalizer:
    """Puts another host in the place of one; all else stays.

    Args:
        source: `host target` or `*.domain target` lines.
    """

    def __init__(self, source: RuleSource) -> None:
        self._rules = HostRules(read_hosts(source, lambda _: True))

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        host = split_java(url).host
        target = self._rules.of(host) if host else None
        if target is None:
            return url
        start, slashes, after = url.partition("//")
        user = after.partition("/")[0].rpartition("@")
        place = len(start) + len(slashes) + len(user[0]) + len(user[1])
        return url[:place] + target + url[place + len(host) :]


class SchemeNormalizer:
    """Puts another scheme before a host; not where a port is named.

    Args:
        source: `host scheme` or `*.domain scheme` lines; the pattern holds for the domain itself.
    """

    def __init__(self, source: RuleSource) -> None:
        values = read_hosts(source, lambda value: _SCHEME.fullmatch(value) is not None)
        self._rules = HostRules(values, with_apex=True)

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        parts = split_java(url)
        scheme = self._rules.of(parts.host) if parts.host and parts.port < 0 else None
        if scheme is None or scheme == parts.protocol:
            return url
        return scheme + url[url.index(":") :]


class SlashNormalizer:
    """Puts a slash at the end of the path, or takes it away.

    No slash is added to a name with an extension, and the slash of the root stays.

    Args:
        source: `host +` and `host -` lines.
    """

    def __init__(self, source: RuleSource) -> None:
        self._rules = HostRules(read_hosts(source, lambda value: value in {"+", "-"}))

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        parts = split_java(url)
        slash_rule = self._rules.of(parts.host) if parts.host else None
        if slash_rule is None:
            return url
        end = _path_end(url, parts)
        has = url[end - 1] == "/"
        if slash_rule == "-" and has and len(parts.path) > 1:
            return url[: end - 1] + url[end:]
        if slash_rule == "+" and not has and not _EXTENSION.search(parts.path):
            return f"{url[:end]}/{url[end:]}"
        return url


def _path_end(url: str, parts: JavaURL) -> int:
    """Where query or fragment begin."""
    if parts.authority is None:
        raise URIError(message("scope.no-host-2", "no host: {url!r}", url=url[:200]))
    places = [url.find("?"), url.find("#"), len(url)]
    return min(place for place in places if place >= 0)
