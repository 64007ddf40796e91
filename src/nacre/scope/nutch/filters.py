"""Nutch's URL filters without expressions, all filters by name, and the chain that a URL must pass.

`prefix-urlfilter.txt` and `suffix-urlfilter.txt`: how a URL begins or ends. `domain-urlfilter.txt`
and `domaindenylist-urlfilter.txt`: lists of suffixes, domains, hosts. The validator has no file.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from nacre.config.component import Component, FileName, setting
from nacre.errors import ConfigError, Problem, URIError
from nacre.messages import message
from nacre.scope.nutch.regexes import (
    AutomatonFilter,
    FastFilter,
    Limits,
    RegexFilter,
    RuleSource,
    Ruling,
    URLFilter,
    lines_of,
)
from nacre.uri.domain import host_to_ascii, registry_domain, registry_suffix
from nacre.uri.javaurl import split_java


class PrefixFilter:
    """Keeps a URL that begins with one of the listed texts; none listed: rejects all.

    Args:
        source: One prefix a line; lines that begin with a space or `#` are left out.
    """

    def __init__(self, source: RuleSource) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._listed: dict[str, int] = {}
        for number, line in source.numbered():
            if line and line[0] not in " #":
                self._listed.setdefault(line, number)
        self._lengths = _lengths(self._listed)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        for length in self._lengths:
            line = self._listed.get(url[:length])
            if line is not None:
                return Ruling(passes=True, line=line, file=self._file)
        return Ruling(passes=False, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


class SuffixFilter:
    """Rejects (mode `+`) or keeps (mode `-`, the default) a URL with one of the listed endings.

    Args:
        source: One suffix a line. A line that begins with `+` or `-` sets the mode; an `I` in it
            means that case does not count, a `P` that only the path is compared.
    """

    def __init__(self, source: RuleSource) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._accepts_others = False
        self._ignore_case = False
        self._path_only = False
        listed: dict[str, int] = {}
        for number, raw in source.numbered():
            line = raw.strip()
            if line[:1] in {"+", "-"}:
                self._accepts_others = line[0] == "+"
                self._ignore_case = self._ignore_case or "I" in line
                self._path_only = self._path_only or "P" in line
            elif line and not line.startswith("#"):
                listed.setdefault(line, number)
        if self._ignore_case:
            listed = {suffix.lower(): line for suffix, line in reversed(listed.items())}
        self._listed = listed
        self._lengths = _lengths(listed)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        text = url.lower() if self._ignore_case else url
        if self._path_only:
            text = _path(text)
        for length in self._lengths:
            line = self._listed.get(text[-length:])
            if line is not None:
                return Ruling(not self._accepts_others, line, self._file)
        return Ruling(self._accepts_others, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _lengths(listed: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(set(map(len, listed))))


def _path(text: str) -> str:
    try:
        return split_java(text).path
    except URIError:
        return text


class DomainFilter:
    """Keeps a URL whose public suffix, registered domain or host is listed.

    An empty list keeps everything; text that is not a URL is rejected.

    Args:
        source: One name a line; `#` begins a comment.
        deny: Reject the listed names, keep all others.
    """

    def __init__(self, source: RuleSource, *, deny: bool = False) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._deny = deny
        self._listed: dict[str, int] = {}
        for number, line in source.numbered():
            name = line.strip().lower()
            if name and not line.startswith("#"):
                self._listed.setdefault(_ascii(name), number)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        if not self._listed:
            return Ruling(passes=True, file=self._file)
        try:
            host = _ascii(split_java(url).host.lower())
        except URIError:
            return Ruling(passes=False, file=self._file)
        for name in (registry_suffix(host), registry_domain(host), host):
            line = self._listed.get(name)
            if line is not None:
                return Ruling(not self._deny, line, self._file)
        return Ruling(self._deny, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _ascii(name: str) -> str:
    """Return a name in the form of the suffix list; an invalid name matches only itself."""
    try:
        return host_to_ascii(name)
    except URIError:
        return name


_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?"
)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_AUTHORITY = re.compile(r"([A-Za-z0-9.-]*)(?::(\d{1,5}))?")
_ADDRESS = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})")
_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+")
_PATH = re.compile(r"(?:/[-\w:@&?=+,.!/~*'%$;()]*)?", re.ASCII)


class ValidatorFilter:
    """Keeps URLs with a scheme, a dotted host or IPv4 address, and plain characters only."""

    def __init__(self, source: RuleSource | None = None) -> None:
        self.notes: list[Problem] = []
        self._file = source.file if source else ""

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        return Ruling(_is_valid(url), file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _is_valid(url: str) -> bool:
    match = _URL.fullmatch(url) if _PRINTABLE.fullmatch(url) else None
    return match is not None and _is_place(match["authority"]) and _is_path(match["path"])


def _is_place(authority: str) -> bool:
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        return False
    address = _ADDRESS.fullmatch(match[1])
    if address:
        return all(int(part) <= 255 for part in address.groups())
    return _NAME.fullmatch(match[1]) is not None


def _is_path(path: str) -> bool:
    """Plain characters, and no more `..` than there are folders to leave."""
    if not _PATH.fullmatch(path):
        return False
    if ".." not in path:
        return True
    up = _overlapping(path, "..")
    folders = path.count("/") - _overlapping(path, "//") - 1
    return folders > up


def _overlapping(text: str, token: str) -> int:
    return sum(text.startswith(token, place) for place in range(len(text)))


ReadLines = Callable[[str], Sequence[str]]
"""The lines of a file that a configuration names; raises OSError."""


class FilterKind(StrEnum):
    """The filters of Nutch."""

    REGEX = "regex"
    AUTOMATON = "automaton"
    DOMAIN = "domain"
    DOMAIN_DENYLIST = "domain-denylist"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    VALIDATOR = "validator"
    FAST = "fast"


_MAKE: dict[FilterKind, Callable[[RuleSource], URLFilter]] = {
    FilterKind.REGEX: RegexFilter,
    FilterKind.AUTOMATON: AutomatonFilter,
    FilterKind.DOMAIN: DomainFilter,
    FilterKind.DOMAIN_DENYLIST: lambda source: DomainFilter(source, deny=True),
    FilterKind.PREFIX: PrefixFilter,
    FilterKind.SUFFIX: SuffixFilter,
    FilterKind.VALIDATOR: ValidatorFilter,
    FilterKind.FAST: FastFilter,
}
_NAMES = (
    ("automaton", FilterKind.AUTOMATON),
    ("fast", FilterKind.FAST),
    ("denylist", FilterKind.DOMAIN_DENYLIST),
    ("blacklist", FilterKind.DOMAIN_DENYLIST),
    ("domain", FilterKind.DOMAIN),
    ("prefix", FilterKind.PREFIX),
    ("suffix", FilterKind.SUFFIX),
)


def guess_kind(name: str) -> FilterKind:
    """Return the filter of a file by its name; regex if the name is unknown."""
    lower = name.lower()
    return next((kind for word, kind in _NAMES if word in lower), FilterKind.REGEX)


class RuleText(Component):
    """The place of the rules of a filter: a file or the setting itself."""

    file: FileName = setting("", "Rule file, relative to the job; `.gz` and `.bz2` are unpacked.")
    rules: str = setting("", "The rules themselves, in place of a file.")

    def source(self, read_lines: ReadLines) -> RuleSource:
        """Return the rules.

        Raises:
            OSError: The file cannot be read.
        """
        if self.rules or not self.file:
            return RuleSource(lines_of(self.rules))
        return RuleSource(read_lines(self.file), self.file)


def reading(text: RuleText, read_lines: ReadLines) -> RuleSource:
    """Return the rules that a component names.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        return text.source(read_lines)
    except OSError as error:
        reason = error.strerror or str(error)
        problem = Problem(
            "",
            message("scope.cannot-be-read", "cannot be read: {reason}", reason=reason),
            message("scope.rule-file", "a rule file"),
            file=text.file,
        )
        raise ConfigError([problem]) from None


class FilterSettings(RuleText, Limits):
    """One filter of a chain. The lengths are for `fast` only."""

    filter: FilterKind = setting(FilterKind.REGEX, "Which filter.")


def make_filter(kind: FilterKind, source: RuleSource, limits: Limits | None = None) -> URLFilter:
    """Return a filter from its rules.

    Raises:
        ConfigError: A line is no rule; all such lines.
    """
    if kind is FilterKind.FAST:
        return FastFilter(source, limits)
    return _MAKE[kind](source)


class FilterChain:
    """Filters that must all keep a URL; the first that rejects it decides.

    Attributes:
        filters: In order.
    """

    def __init__(self, filters: Sequence[URLFilter]) -> None:
        self.filters = tuple(filters)

    def judge(self, url: str) -> Ruling:
        """Return the ruling of the first filter that rejects, or of the last one that keeps."""
        ruling = Ruling(passes=True)
        for url_filter in self.filters:
            ruling = url_filter.judge(url)
            if not ruling.passes:
                break
        return ruling

    def timeouts(self) -> int:
        """Matches that were given up."""
        return sum(url_filter.timeouts() for url_filter in self.filters)
