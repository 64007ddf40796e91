"""Nutch's URL filters as DecideRules: a rule decides on URLs that its filter rejects or keeps."""

from abc import abstractmethod
from enum import StrEnum
from typing import Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.errors import ConfigError, Problem
from nacre.scope.nutch.filters import (
    FilterChain,
    FilterKind,
    FilterSettings,
    ReadLines,
    RuleText,
    ValidatorFilter,
    make_filter,
    reading,
)
from nacre.scope.nutch.regexes import Limits, RegexFilter, URLFilter
from nacre.scope.rules.rule import Predicated, Rule
from nacre.scope.scope import Decision, Predicate
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

_DECISION = "REJECT: matches URLs that the filter rejects. ACCEPT: matches URLs that it keeps."


class FilterRule(Predicated):
    """A rule with one or several filters."""

    decision: Decision = setting(Decision.REJECT, _DECISION)

    @abstractmethod
    def filters(self, read_lines: ReadLines) -> list[URLFilter]:
        """Return the filters, in order.

        Raises:
            ConfigError: A file cannot be read, or a line is no rule.
        """

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        judge = _make_chain(self.filters(state.read_lines), state).judge
        keeps = self.decision is Decision.ACCEPT
        return lambda subject: judge(subject.url).passes is keeps


def _make_chain(filters: list[URLFilter], state: ScopeState) -> FilterChain:
    """Return the filters as a chain, whose time-outs are counted where there can be some."""
    chain = FilterChain(filters)
    if any(url_filter.notes for url_filter in filters):
        state.counts.append(chain.timeouts)
    return chain


class _FileRule(FilterRule, RuleText):
    """A rule with one filter, chosen by the rule's name."""

    def filters(self, read_lines: ReadLines) -> list[URLFilter]:
        """See `FilterRule.filters`."""
        name = str(getattr(self, "rule", "")).removeprefix("nutch-")
        limits = self if isinstance(self, Limits) else None
        return [make_filter(FilterKind(name), reading(self, read_lines), limits)]


class NutchRegex(_FileRule):
    """Nutch's `regex-urlfilter.txt`: the first expression found in the URL decides."""

    rule: Literal["nutch-regex"] = "nutch-regex"


class NutchAutomaton(_FileRule):
    """Nutch's `automaton-urlfilter.txt`: the first automaton that accepts the URL decides."""

    rule: Literal["nutch-automaton"] = "nutch-automaton"


class NutchDomain(_FileRule):
    """Nutch's `domain-urlfilter.txt`: only listed suffixes, domains and hosts."""

    rule: Literal["nutch-domain"] = "nutch-domain"


class NutchDomainDenylist(_FileRule):
    """Nutch's `domaindenylist-urlfilter.txt`: no listed suffixes, domains and hosts."""

    rule: Literal["nutch-domain-denylist"] = "nutch-domain-denylist"


class NutchPrefix(_FileRule):
    """Nutch's `prefix-urlfilter.txt`: only what begins with a listed text."""

    rule: Literal["nutch-prefix"] = "nutch-prefix"


class NutchSuffix(_FileRule):
    """Nutch's `suffix-urlfilter.txt`: listed endings are refused, or required."""

    rule: Literal["nutch-suffix"] = "nutch-suffix"


class NutchFast(_FileRule, Limits):
    """Nutch's `fast-urlfilter.txt`: patterns denied for a host, a domain, or all URLs."""

    rule: Literal["nutch-fast"] = "nutch-fast"


class NutchValidator(FilterRule):
    """Nutch's validator: only what looks like a URL of the public web."""

    rule: Literal["nutch-validator"] = "nutch-validator"

    def filters(self, read_lines: ReadLines) -> list[URLFilter]:
        """See `FilterRule.filters`."""
        return [ValidatorFilter()]


class NutchFilters(FilterRule):
    """Filters of Nutch in order; a URL must pass each of them."""

    rule: Literal["nutch-filters"] = "nutch-filters"
    chain: tuple[FilterSettings, ...] = setting((), "The filters; none keeps everything.")

    def filters(self, read_lines: ReadLines) -> list[URLFilter]:
        """See `FilterRule.filters`; finds the problems of all files."""
        url_filters: list[URLFilter] = []
        problems: list[Problem] = []
        for entry in self.chain:
            try:
                url_filters.append(make_filter(entry.filter, reading(entry, read_lines), entry))
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        return url_filters


class SameSite(StrEnum):
    """The notion of the site that a link leaves."""

    HOST = "host"
    DOMAIN = "domain"


class NutchExempt(RuleText, Predicated):
    """A link to another site, unless Nutch's exemption rules name its target.

    With Nutch this is `db.ignore.external.links` and `db-ignore-external-exemptions.txt`. Without
    rules it matches every link to another site. It does not match seeds and prerequisites.
    """

    rule: Literal["nutch-exempt"] = "nutch-exempt"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
    site: SameSite = setting(SameSite.HOST, "Another `host`, or another registered `domain`.")
    also_redirects: bool = setting(True, "Redirects to another site count too.")

    @field_validator("site", mode="before")
    @classmethod
    def _as_nutch_says(cls, value: object) -> object:
        return {"byHost": "host", "byDomain": "domain"}.get(str(value), value)

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def filters(self, read_lines: ReadLines) -> list[URLFilter]:
        """Return the exemptions; an empty list if there are no rules.

        Raises:
            ConfigError: The file cannot be read, or a line is no rule.
        """
        source = reading(self, read_lines)
        return [RegexFilter(source)] if source.lines else []

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        exemptions = _make_chain(self.filters(state.read_lines), state).filters
        site = registered_domain if self.site is SameSite.DOMAIN else str
        spared = "P" if self.also_redirects else "PR"

        def test(subject: Subject) -> bool:
            if not subject.via or subject.path[-1:] in spared:
                return False
            if site(host(subject.url)) == site(host(subject.via)):
                return False
            return not any(exemption.judge(subject.url).passes for exemption in exemptions)

        return test


NUTCH_RULES: tuple[type[Rule], ...] = (
    NutchRegex,
    NutchAutomaton,
    NutchDomain,
    NutchDomainDenylist,
    NutchPrefix,
    NutchSuffix,
    NutchFast,
    NutchValidator,
    NutchFilters,
    NutchExempt,
)
"""The rules that read files of Nutch."""
