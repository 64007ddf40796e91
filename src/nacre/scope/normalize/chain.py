"""The normalizers by name, as a configuration lists them, and the chain that they make."""

from abc import abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from pydantic import BeforeValidator, Field

from nacre.config.component import Component, setting
from nacre.errors import ConfigError, Problem, URIError
from nacre.messages import message
from nacre.scope.normalize.basic import (
    AjaxNormalizer,
    BasicNormalizer,
    IdnForm,
    QueryNormalizer,
    QuerystringNormalizer,
)
from nacre.scope.normalize.rule_files import (
    HostNormalizer,
    RegexNormalizer,
    SlashNormalizer,
    read_replacements,
)
from nacre.scope.normalize.rule_files import SchemeNormalizer as Scheme
from nacre.scope.nutch.filters import ReadLines, RuleText, reading


class NormalizeScope(StrEnum):
    """The purpose that a URL is normalized for. A crawl has `inject`, `outlink` and `fetcher`."""

    DEFAULT = "default"
    INJECT = "inject"
    OUTLINK = "outlink"
    FETCHER = "fetcher"
    CRAWLDB = "crawldb"
    LINKDB = "linkdb"
    PARTITION = "partition"
    GENERATE_HOST_COUNT = "generate_host_count"
    INDEXER = "indexer"


class Normalizer(Protocol):
    """Makes a URL of a URL."""

    def normalize(self, url: str, scope: str) -> str:
        """Return the normal form; the same where there is nothing to do.

        Raises:
            URIError: There is none; the URL is dropped.
        """
        ...


class _Pass:
    """Leaves everything as it is."""

    def normalize(self, url: str, scope: str) -> str:
        return url


class NormalizerSettings(Component):
    """One normalizer."""

    scopes: tuple[NormalizeScope, ...] = setting((), "Scopes in which it is applied; none: in all.")

    @abstractmethod
    def build(self, read_lines: ReadLines) -> Normalizer:
        """Return the normalizer.

        Raises:
            ConfigError: Its file cannot be read, or is none.
        """


class BasicSettings(NormalizerSettings):
    """Case, escapes, dot segments, default ports, fragments, host names."""

    normalizer: Literal["basic"] = "basic"
    idn: IdnForm = setting("keep", "Host names: `ascii`, `unicode`, or `keep` as they are.")
    idna2008: bool = setting(False, "By IDNA 2008, as browsers; else by IDNA 2003.")
    trim_trailing_dot: bool = setting(False, "Drop the dot behind a host name.")
    default_scheme: str = setting("", "Put before a text without a scheme; empty: it is dropped.")

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        return BasicNormalizer(
            idn=self.idn,
            idna2008=self.idna2008,
            trim_trailing_dot=self.trim_trailing_dot,
            default_scheme=self.default_scheme,
        )


class RegexSettings(NormalizerSettings, RuleText):
    """Nutch's `regex-normalize.xml`: replaces matches of expressions."""

    normalizer: Literal["regex"] = "regex"

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        source = reading(self, read_lines)
        return RegexNormalizer(read_replacements(source) if source.lines else [], source.file)


class HostSettings(NormalizerSettings, RuleText):
    """Nutch's `host-urlnormalizer.txt`: another host in the place of one."""

    normalizer: Literal["host"] = "host"

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        return HostNormalizer(reading(self, read_lines))


class ProtocolSettings(NormalizerSettings, RuleText):
    """Nutch's `protocols.txt`: another scheme for a host."""

    normalizer: Literal["protocol"] = "protocol"

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        return Scheme(reading(self, read_lines))


class SlashSettings(NormalizerSettings, RuleText):
    """Nutch's `slashes.txt`: a slash at the end of the path, or none."""

    normalizer: Literal["slash"] = "slash"

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        return SlashNormalizer(reading(self, read_lines))


class PlainSettings(NormalizerSettings):
    """`querystring` sorts parameters, `clean-query` also drops empty ones, `ajax` rewrites `#!`.

    `pass` does nothing.
    """

    normalizer: Literal["querystring", "clean-query", "ajax", "pass"] = "pass"

    def build(self, read_lines: ReadLines) -> Normalizer:
        """See `NormalizerSettings.build`."""
        kinds: dict[str, type[Normalizer]] = {
            "querystring": QuerystringNormalizer,
            "clean-query": QueryNormalizer,
            "ajax": AjaxNormalizer,
            "pass": _Pass,
        }
        return kinds[self.normalizer]()


def _read_named(value: object) -> object:
    return {"normalizer": value} if isinstance(value, str) else value


AnyNormalizer = Annotated[
    BasicSettings | RegexSettings | HostSettings | ProtocolSettings | SlashSettings | PlainSettings,
    Field(discriminator="normalizer"),
    BeforeValidator(_read_named),
]
"""A normalizer of a configuration, chosen by its `normalizer` name; a bare name will do."""


class NormalizerChain:
    """Normalizers in order, those of one scope.

    Args:
        settings: All normalizers of the configuration.
        scope: What for.
        read_lines: Reads the files that they name.
        loops: How often the whole chain is gone through at most; it ends when nothing changes.

    Attributes:
        regexes: Those with expressions, for their notes and time-outs.

    Raises:
        ConfigError: Files cannot be read or contain invalid rules. It lists all problems.
    """

    def __init__(
        self,
        settings: Sequence[NormalizerSettings],
        scope: NormalizeScope,
        read_lines: ReadLines,
        *,
        loops: int = 1,
    ) -> None:
        self._scope = scope.value
        self._loops = loops
        self._steps: list[Normalizer] = []
        problems: list[Problem] = []
        for normalizer in settings:
            if normalizer.scopes and scope not in normalizer.scopes:
                continue
            try:
                self._steps.append(normalizer.build(read_lines))
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        self.regexes = [step for step in self._steps if isinstance(step, RegexNormalizer)]

    def __bool__(self) -> bool:
        """False when there is nothing to do."""
        return bool(self._steps)

    def normalize(self, url: str) -> str:
        """Return the normal form.

        Raises:
            URIError: There is none.
        """
        for _ in range(self._loops):
            before = url
            for step in self._steps:
                url = step.normalize(url, self._scope)
            if not url:
                raise URIError(message("scope.nothing-is-left", "nothing is left of it"))
            if url == before:
                break
        return url
