"""DecideRules on the place of a URI: its SURT and sets of SURT prefixes."""

from collections.abc import Callable, Iterable
from typing import Literal

from pydantic import field_validator

from nacre.config.component import FileName, setting
from nacre.errors import URIError
from nacre.messages import message
from nacre.scope.kept_seeds import SeedPrefixes
from nacre.scope.rules.rule import Predicated
from nacre.scope.scope import Decision, Predicate, never
from nacre.scope.seed_index import Coercion, coerce_prefix
from nacre.scope.seed_scope import PrefixLookup, ScopeKind
from nacre.scope.state import Dump, ScopeState
from nacre.scope.subject import Subject
from nacre.uri.surt import SurtPrefixSet, implied_prefix

_LISTED = (
    "SURT prefixes, or URLs that imply them (a trailing slash means this host only). A `+` in "
    "front may stay; `#` begins a comment."
)
RUN_ID = "${launchId}"
"""Stands for the directory of the run in the name of a dump."""


def read_entries(lines: Iterable[str]) -> list[str]:
    """Return the entries of a list of prefixes: comments, blank lines and `+` signs left out."""
    texts = (line.partition("#")[0].strip().removeprefix("+").strip() for line in lines)
    return [text for text in texts if text]


def readable(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines themselves.

    Raises:
        ValueError: One is neither a SURT prefix nor a URL.
    """
    for text in read_entries(lines):
        try:
            implied_prefix(text)
        except URIError as error:
            raise ValueError(
                message(
                    "scope.surt-prefix-format",
                    "{text!r} is neither a SURT prefix nor a URL: {error}",
                    text=text,
                    error=error,
                )
            ) from None
    return lines


def as_files(value: object) -> object:
    """One file name as a list of one; "" as none."""
    return ((value,) if value else ()) if isinstance(value, str) else value


class Prefixed(Predicated):
    """The common settings of rules on SURT prefix sets."""

    seeds_as_prefixes: bool = setting(True, "The seeds imply prefixes.")
    prefixes: tuple[str, ...] = setting((), _LISTED)
    files: tuple[FileName, ...] = setting((), "Files of such lines, relative to the job.")
    dump_file: FileName = setting(
        "",
        "File that the prefixes are written to when the crawl starts, relative to the job; "
        f"`{RUN_ID}` is the directory of the run. Empty: none.",
    )
    also_check_via: bool = setting(
        False, "A URI that was found on a matching page matches too: one hop further."
    )

    _readable = field_validator("prefixes")(readable)
    _files = field_validator("files", mode="before")(as_files)

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return self.also_check_via

    @property
    def seeds_imply(self) -> Coercion:
        """The prefixes that the seeds imply."""
        raise NotImplementedError

    @property
    def seed_scope(self) -> ScopeKind | None:
        """See `Rule.seed_scope`."""
        if not self.seeds_as_prefixes or self.decision is not Decision.ACCEPT:
            return None
        return ScopeKind(self.seeds_imply.value)

    def implied(self, line: str) -> str:
        """Return the prefix that an entry of the list implies."""
        return implied_prefix(line)

    def sets(self, state: ScopeState) -> list[SurtPrefixSet | SeedPrefixes]:
        """Return the sets, those that grow included."""
        sets: list[SurtPrefixSet | SeedPrefixes] = [
            state.directives(accept=self.decision is Decision.ACCEPT)
        ]
        lines = [*self.prefixes, *(line for file in self.files for line in state.read_lines(file))]
        if lines:
            sets.append(SurtPrefixSet(self.implied(text) for text in read_entries(lines)))
        if self.seeds_as_prefixes:
            sets.append(state.seed_prefixes(self.seeds_imply))
        return sets

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        sets = self.sets(state)
        if self.dump_file:
            state.dumps.append(Dump(self.dump_file, sets))
        places = PrefixLookup(sets)
        state.watch(places.forget)
        holds = places.hold
        if not self.also_check_via:
            return lambda subject: not places.empty and holds(subject.url)

        def test(subject: Subject) -> bool:
            return holds(subject.url) or (subject.via != "" and holds(subject.via))

        return test


class SurtPrefixed(Prefixed):
    """The URI's SURT begins with a prefix of the set; https counts as http.

    With decision ACCEPT the set grows by the seed file's `+` lines, with REJECT by its `-` lines.
    """

    heritrix = "SurtPrefixedDecideRule"
    rule: Literal["surt-prefixed"] = "surt-prefixed"
    coerce: Coercion = setting(
        Coercion.PREFIX, "What the seeds imply: `prefix`, their `host`, `domain` or `site`."
    )

    @property
    def seeds_imply(self) -> Coercion:
        """See `Prefixed.seeds_imply`."""
        return self.coerce


class OnHosts(Prefixed):
    """The host of the URI is exactly that of a seed or of an entry of the list."""

    heritrix = "OnHostsDecideRule"
    rule: Literal["on-hosts"] = "on-hosts"

    @property
    def seeds_imply(self) -> Coercion:
        """See `Prefixed.seeds_imply`."""
        return Coercion.HOST

    def implied(self, line: str) -> str:
        """Return its host."""
        return coerce_prefix(line, Coercion.HOST)


class OnDomains(Prefixed):
    """The host of the URI is that of a seed or entry (without `www`), or a subdomain of it."""

    heritrix = "OnDomainsDecideRule"
    rule: Literal["on-domains"] = "on-domains"

    @property
    def seeds_imply(self) -> Coercion:
        """See `Prefixed.seeds_imply`."""
        return Coercion.DOMAIN

    def implied(self, line: str) -> str:
        """Return its host and all below it."""
        return coerce_prefix(line, Coercion.DOMAIN)


class ViaSurtPrefixed(Predicated):
    """The SURT of the page that the URI was found on begins with one of the prefixes."""

    heritrix = "ViaSurtPrefixedDecideRule"
    rule: Literal["via-surt-prefixed"] = "via-surt-prefixed"
    prefixes: tuple[str, ...] = setting((), _LISTED)

    _readable = field_validator("prefixes")(readable)

    @field_validator("prefixes", mode="before")
    @classmethod
    def _none(cls, value: object) -> object:
        return () if value is None else value

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if not self.prefixes:
            return never
        holds: Callable[[str], bool] = PrefixLookup(
            [SurtPrefixSet(map(implied_prefix, read_entries(self.prefixes)))]
        ).hold
        return lambda subject: subject.via != "" and holds(subject.via)
