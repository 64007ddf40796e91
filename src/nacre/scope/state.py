"""What changes in a scope while it runs. Rules are settings; this is passed to them."""

from collections.abc import Iterable
from enum import StrEnum

from nacre.scope.patterns import PatternList
from nacre.uri.domain import registered_domain
from nacre.uri.parse import is_ip
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt


class Coercion(StrEnum):
    """What a seed implies."""

    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"


class ScopeState:
    """Seed prefixes and directives. The caller keeps seeds and directives durable.

    Attributes:
        patterns: The pattern lists in use, for their time-outs.
    """

    def __init__(self) -> None:
        self.patterns: list[PatternList] = []
        self._seeds: list[str] = []
        self._sets: dict[Coercion, SurtPrefixSet] = {}
        self._directives = {True: SurtPrefixSet(()), False: SurtPrefixSet(())}

    @property
    def seeds(self) -> tuple[str, ...]:
        """The seeds so far, redirect targets included, as given to `add_seed`."""
        return tuple(self._seeds)

    def seed_prefixes(self, coercion: Coercion) -> SurtPrefixSet:
        """The live set of what the seeds imply."""
        if coercion not in self._sets:
            self._sets[coercion] = SurtPrefixSet(coerced(seed, coercion) for seed in self._seeds)
        return self._sets[coercion]

    def directives(self, *, accept: bool) -> SurtPrefixSet:
        """The live set of the seed file's `+` (accept) or `-` lines."""
        return self._directives[accept]

    def add_seed(self, text: str) -> None:
        """Add a seed, as its line has it: a missing trailing slash lets subdomains in."""
        self._seeds.append(text)
        for coercion, prefixes in self._sets.items():
            prefixes.add(coerced(text, coercion))

    def add_directives(self, lines: Iterable[str]) -> None:
        """Add `+prefix` and `-prefix` lines; anything else is left alone."""
        for line in lines:
            if line[:1] in "+-" and line[1:].strip():
                self._directives[line[0] == "+"].add(implied_prefix(line[1:].strip()))

    def timeouts(self) -> int:
        """Matches of operators' expressions that were given up."""
        return sum(patterns.timeouts for patterns in self.patterns)


def coerced(seed: str, coercion: Coercion) -> str:
    """The SURT prefix that a seed implies.

    Args:
        seed: The seed as typed.
        coercion: `prefix`: Heritrix's implied prefix. `host`: exactly its host. `domain`: its host
            without `www.` and all below it. `site`: its registered domain and all below it.
    """
    prefix = implied_prefix(seed)
    if coercion is Coercion.PREFIX:
        return prefix
    head, bracket, rest = prefix.partition("(")
    if not bracket:
        return prefix
    name = rest.partition(")")[0].rstrip(",")
    if coercion is Coercion.HOST:
        # A name ends in a comma, but for a port behind it: (com,example,:8080).
        return f"{head}({name})" if _is_address(name) or ":" in name else f"{head}({name},)"
    seed_host = _host_of(prefix)
    if _is_address(name):
        return f"{head}({name})"
    if coercion is Coercion.SITE:
        seed_host = registered_domain(seed_host)
    elif seed_host.startswith("www."):
        seed_host = seed_host[4:]
    return scope_surt(f"http://{seed_host}/").partition(")")[0]


def _is_address(name: str) -> bool:
    return is_ip(name) or is_ip(name.partition(",:")[0]) or is_ip(name.rpartition(":")[0])


def _host_of(prefix: str) -> str:
    inner = prefix.partition("(")[2].partition(")")[0]
    name = inner.partition(":")[0].partition("@")[0].strip(",")
    return ".".join(reversed(name.split(",")))
