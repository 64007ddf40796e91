"""The filters by name, the guess from a file's name, and the chain that a URL must pass."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from nacre.config.component import Component, setting
from nacre.scope.nutch.affixes import PrefixFilter, SuffixFilter
from nacre.scope.nutch.domains import DomainFilter
from nacre.scope.nutch.fast import FastFilter, Limits
from nacre.scope.nutch.regexes import AutomatonFilter, RegexFilter
from nacre.scope.nutch.ruling import Ruling, Source, URLFilter, lines_of
from nacre.scope.nutch.validator import ValidatorFilter


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


ReadLines = Callable[[str], Sequence[str]]
"""The lines of a file that a configuration names; raises OSError."""

_MAKE: dict[FilterKind, Callable[[Source], URLFilter]] = {
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
    """The filter that a file is for, by its name; regex where that says nothing."""
    lower = name.lower()
    return next((kind for word, kind in _NAMES if word in lower), FilterKind.REGEX)


class RuleText(Component):
    """Where the rules of a filter stand."""

    file: str = setting("", "Rule file, relative to the job; `.gz` and `.bz2` are unpacked.")
    rules: str = setting("", "The rules themselves, in place of a file.")

    def source(self, read_lines: ReadLines) -> Source:
        """The rules.

        Raises:
            OSError: The file cannot be read.
        """
        if self.rules or not self.file:
            return Source(lines_of(self.rules))
        return Source(read_lines(self.file), self.file)


class FilterSettings(RuleText, Limits):
    """One filter of a chain. The lengths are for `fast` only."""

    filter: FilterKind = setting(FilterKind.REGEX, "Which filter.")


def make_filter(kind: FilterKind, source: Source, limits: Limits | None = None) -> URLFilter:
    """A filter from its rules.

    Raises:
        ConfigError: A line is no rule; all such lines.
    """
    if kind is FilterKind.FAST:
        return FastFilter(source, limits)
    return _MAKE[kind](source)


class FilterChain:
    """Filters that must all keep a URL; the first that does not has the say.

    Attributes:
        filters: In order.
    """

    def __init__(self, filters: Sequence[URLFilter]) -> None:
        self.filters = tuple(filters)

    def judge(self, url: str) -> Ruling:
        """The ruling of the first filter that rejects, or of the last one that keeps."""
        ruling = Ruling(passes=True)
        for each in self.filters:
            ruling = each.judge(url)
            if not ruling.passes:
                break
        return ruling

    def timeouts(self) -> int:
        """Matches that were given up."""
        return sum(each.timeouts() for each in self.filters)
