"""Admission to a batch crawl: the scope with its filters, the normalizers, the key of a URL.

The rules are those of the continuous crawler, opened once in a driver or a task. Each refusal has a
source with a name: the file and line of a filter, or the rule of the scope.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.assembly.rules import JobRules, open_rules
from nacre.config.effective import Effective
from nacre.config.seed_file import seed_lines
from nacre.crawldb.seeds import SEEDS
from nacre.engine.candidates.candidates import is_seed_path
from nacre.engine.candidates.identity import canonicalizer
from nacre.engine.candidates.normalizing import Normalizing, normalizing
from nacre.errors import ConfigError, Problem, URIError
from nacre.rounds.storage import Storage
from nacre.rounds.tables.seedlist import InjectedSeed, InjectEntry, read_seed_list
from nacre.rounds.tables.tables import TaskPlace, buckets_of
from nacre.rounds.tables.versions import Cycle, CycleVersion
from nacre.scope.compile import all_rules
from nacre.scope.normalize.chain import NormalizerChain, NormalizeScope
from nacre.scope.nutch.filters import FilterChain
from nacre.scope.rules.nutch import FilterRule
from nacre.scope.rules.rule import Rule
from nacre.scope.rules.seeds import SeedAccept
from nacre.scope.rules.surt import Prefixed
from nacre.scope.scope import Scope, Verdict
from nacre.scope.seed_index import Coercion
from nacre.scope.seeds import Seed, SeedDirective
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.uri.parse import host, parse
from nacre.uri.surt import implied_by

if TYPE_CHECKING:
    from nacre.rounds.tables.seed_index import KeptSeeds

_FILES = ("file", "files", "surts_file")
"""Settings of rules that name files."""


def counts_other_hosts(settings: JobSettings) -> bool:
    """Return whether a normalizer changes the hosts that caps of `generate` count."""
    scope = NormalizeScope.GENERATE_HOST_COUNT
    return any(scope in chain.scopes for chain in settings.uri.normalize)


class SeedNeeds(NamedTuple):
    """The prefixes of seeds that rules ask for.

    Attributes:
        coercions: The prefixes that seeds imply for them.
        more: A rule asks about another URL than its own, or is of a kind that is not known.
    """

    coercions: frozenset[Coercion] = frozenset()
    more: bool = False

    def with_rule(self, rule: Rule) -> "SeedNeeds":
        """Return the needs of these rules and one more rule."""
        if isinstance(rule, Prefixed):
            if not rule.seeds_as_prefixes:
                return self._replace(more=self.more or rule.also_check_via)
            coercions = self.coercions | {rule.seeds_imply}
            return SeedNeeds(coercions, self.more or rule.also_check_via)
        unknown = rule.seed_scope is not None and not isinstance(rule, SeedAccept)
        return self._replace(more=self.more or unknown)


class Admission:
    """The rules of a job, for the rows of its table.

    Args:
        settings: The settings of the job.
        root: The directory of the job, or the folder of a segment with the job's files.
        lines: Seed lines, which are loaded into memory.
        index: Seeds that the scope looks up by key; None for none.

    Attributes:
        rules: The rules, which know the seeds.
        implied: The prefixes that the last added seeds imply, by the texts of the seeds.
    """

    def __init__(
        self,
        settings: JobSettings,
        root: Path,
        lines: Iterable[str],
        index: "KeptSeeds | None" = None,
    ) -> None:
        self._settings = settings
        self._root = root
        self.rules: JobRules = open_rules(settings, root)
        self._canonical = canonicalizer(settings.uri)
        if index is not None:
            self.rules.scope_state.add_index(index)
            self.rules.scope_state.add_directives(index.directives)
        self.know(read_seed_list(lines))

    def know(self, entries: Iterable[InjectEntry]) -> None:
        """Add seeds and directives to the scope."""
        directives: list[Seed | SeedDirective] = []
        self.implied = {}
        for entry in entries:
            if isinstance(entry, SeedDirective):
                directives.append(entry)
            elif isinstance(entry, InjectedSeed) and entry.seed.own is not None:
                directives.append(entry.seed)
            elif isinstance(entry, InjectedSeed):
                self.implied[entry.seed.text] = implied_by(entry.seed.text, entry.seed.url)
        if self.implied:
            self.rules.scope_state.add_seed_prefixes(self.implied)
        if directives:
            self.rules.add_seeds(directives)

    @cached_property
    def _scope(self) -> Effective[Scope]:
        return self.rules.scope()

    @cached_property
    def _filters(self) -> dict[str, FilterChain]:
        """The chains of Nutch's filters, by the names of their rules."""
        chains: dict[str, FilterChain] = {}
        for settings in self.rules.effective:
            for rule in all_rules(settings.scope):
                if isinstance(rule, FilterRule) and rule.label not in chains:
                    chain = FilterChain(rule.filters(self.rules.rule_files.read_lines))
                    chains[rule.label] = chain
        return chains

    @cached_property
    def normalizing(self) -> Normalizing | None:
        """The normalizers; None when there are none."""
        return normalizing(self._settings.uri, self.rules.rule_files)

    def key(self, url: str) -> str:
        """The canonical form of a URL, which is its key in the table."""
        return self._canonical.canonical(url)

    def page_keys(self, lines: Iterable[str]) -> set[str]:
        """The keys of the pages of all seeds of a list."""
        return {
            self.key(self.seed_form(entry.seed).url)
            for entry in read_seed_list(lines)
            if isinstance(entry, InjectedSeed)
        }

    def seed_form(self, seed: Seed) -> Seed:
        """A seed as the normalizers of scope `inject` leave it."""
        if self.normalizing is None:
            return seed
        return next(self.normalizing.seeds([seed]))

    def redirect_form(self, url: str) -> str:
        """The target of a redirect as the normalizers leave it; "" when it has no such form."""
        if self.normalizing is None:
            return url
        return self.normalizing.link(url, is_redirect=True) or ""

    @cached_property
    def _host_normalizers(self) -> NormalizerChain:
        files, uri = self.rules.rule_files, self._settings.uri
        scope, loops = NormalizeScope.GENERATE_HOST_COUNT, uri.normalize_loops
        return NormalizerChain(uri.normalize, scope, files.read_lines, loops=loops)

    @cached_property
    def _crawldb_normalizers(self) -> NormalizerChain:
        files, uri = self.rules.rule_files, self._settings.uri
        scope, loops = NormalizeScope.CRAWLDB, uri.normalize_loops
        return NormalizerChain(uri.normalize, scope, files.read_lines, loops=loops)

    def crawldb_form(self, url: str) -> str:
        """A known URL as the normalizers of scope `crawldb` leave it; "" when it has no form."""
        try:
            normalized = self._crawldb_normalizers.normalize(url)
            return (
                url
                if normalized == url
                else parse(normalized, max_length=self._settings.uri.max_length)
            )
        except URIError:
            return ""

    def counted_host(self, url: str) -> str:
        """The host that caps of `generate` count a URL for; its own where the chain has no form.

        Source: Nutch, `Generator`, which normalizes with scope `generate_host_count`.
        """
        try:
            return host(self._host_normalizers.normalize(url)) or host(url)
        except URIError:
            return host(url)

    @cached_property
    def _judges_seeds(self) -> bool:
        """Whether a filter may refuse a seed; nothing else does."""
        return bool(self._filters)

    def refusal(self, url: str, *, path: str = "", via: str = "", source: str = "") -> str:
        """The reason for a refusal: `regex-urlfilter.txt:12`, or the name of a rule; "": none.

        A seed is refused by a filter only, as the continuous crawler fetches every seed.

        Args:
            url: The URL as it is requested.
            path: Its hop path; "" for a seed.
            via: The page that it was found on; "" for a seed.
            source: The seed that it comes from.
        """
        if not path and not self._judges_seeds:
            return ""
        own = source if source in self.rules.scope_state.own else ""
        is_seed = is_seed_path(path, self._settings.engine.seed_redirects)
        verdict = self._judge(Subject(url, path, via, "", is_seed, source, own))
        chain = self._filters.get(verdict.rule)
        if verdict.accepted or (not path and chain is None):
            return ""
        ruling = chain.judge(url) if chain is not None else None
        return (ruling.place if ruling is not None and not ruling.passes else "") or verdict.rule

    def outside(self, seed: Seed) -> str:
        """The rule of the scope that excludes a seed, though no filter refuses it.

        "" for none. The seed is fetched nevertheless, but links near it may be refused.
        """
        verdict = self._judge(Subject(seed.url, is_seed=True, source=seed.text, seed=seed.owner))
        return "" if verdict.accepted or verdict.rule in self._filters else verdict.rule

    def _judge(self, subject: Subject) -> Verdict:
        return self._scope[self.rules.sheets.overlay(subject)].judge(subject)

    def files(self) -> dict[str, list[str]]:
        """The lines of the files that the rules name.

        Raises:
            ConfigError: A file cannot be read.
        """
        settings = self._settings.model_dump(mode="json", include=_DECIDES)
        lines: dict[str, list[str]] = {}
        for name in sorted(set(_list_file_names(settings)) - {""}):
            try:
                lines[name] = self.rules.rule_files.read_lines(name)
            except OSError as error:
                reason = error.strerror or str(error)
                raise ConfigError([Problem("", f"cannot be read: {reason}", file=name)]) from error
        return lines

    @cached_property
    def hash(self) -> int:
        """A number of the rules and the files that they name, from 1 to 2^62.

        Seeds are not part of it: changes of seeds select the rows that they concern.
        """
        digest = blake2b(digest_size=8)
        settings = _sort_sets(self._settings.model_dump(include=_DECIDES))
        digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
        if self._settings.engine.seed_redirects == "link":
            digest.update(b"\0redirects of seeds are links\0")
        for name, lines in self.files().items():
            digest.update(f"\0{name}\0".encode())
            digest.update("\n".join(lines).encode())
        return int.from_bytes(digest.digest(), "big") % (1 << 62) + 1

    def seed_needs(self) -> SeedNeeds:
        """Return the prefixes of seeds that the rules ask for."""
        needs = SeedNeeds()
        for settings in self.rules.effective:
            for rule in all_rules(settings.scope):
                needs = needs.with_rule(rule)
        return needs


_DECIDES = {"scope": True, "uri": True, "sheets": True, "sheet_associations": True}


def _sort_sets(value: object) -> object:
    """Return a value with sorted sets, so that its text is the same in every process."""
    if isinstance(value, Mapping):
        return {str(name): _sort_sets(inner) for name, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return list(map(_sort_sets, value)) if isinstance(value, list | tuple) else value


def _list_file_names(settings: object) -> Iterator[str]:
    """The files that settings name."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if name in _FILES:
                yield from [value] if isinstance(value, str) else (value or ())
            else:
                yield from _list_file_names(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from _list_file_names(value)


def all_seed_lines(
    settings: JobSettings, root: Path, storage: Storage, version: CycleVersion
) -> list[str]:
    """Return the seed lines of a job: those of its seed list, then those that were injected later.

    All lines are loaded into memory; a caller with many seeds looks them up by key (`seed_index`).

    Raises:
        ConfigError: The list of the job cannot be read.
        StorageError: A list of a version cannot be read.
    """
    lines = list(seed_lines(settings.seeds, root))
    for name in version.seeds:
        lines += storage.read(name).decode("utf-8").splitlines()
    if SEEDS in version.tables:
        from nacre.rounds.tables.seedlist import injected_lines  # noqa: PLC0415 - DuckDB

        with TaskPlace(storage.place).open() as work:
            lines += injected_lines(work, buckets_of(Cycle(storage, "here"), version, SEEDS))
    return lines
