"""What changes in a scope while it runs. Rules are settings; this is passed to them."""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from weakref import WeakMethod

from nacre.uri.domain import is_public_suffix, registered_domain
from nacre.uri.surt import SurtPrefixSet, implied_prefix

ReadLines = Callable[[str], Sequence[str]]
"""The lines of a file that a rule names."""


def _no_file(name: str) -> Sequence[str]:
    raise OSError(f"{name}: no files can be read here")


class Coercion(StrEnum):
    """What a seed implies."""

    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"


class ScopeState:
    """Seed prefixes and directives. The caller keeps seeds and directives durable.

    Args:
        read_lines: Reads a file that a rule names.

    Attributes:
        counts: Each says how many matches of operators' expressions were given up.
    """

    def __init__(self, *, read_lines: ReadLines = _no_file) -> None:
        self.read_lines = read_lines
        self.counts: list[Callable[[], int]] = []
        self._seeds: list[str] = []
        self._sets: dict[Coercion, SurtPrefixSet] = {}
        self._directives = {True: SurtPrefixSet(()), False: SurtPrefixSet(())}
        self._watchers: list[Callable[[], Callable[[], None] | None]] = []

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
        self._changed()

    def add_seeds(self, texts: Sequence[str]) -> None:
        """Add many seeds; cheaper than one by one."""
        self._seeds += texts
        for coercion, prefixes in self._sets.items():
            prefixes.update(coerced(text, coercion) for text in texts)
        self._changed()

    def add_directives(self, lines: Iterable[str]) -> None:
        """Add `+prefix` and `-prefix` lines; anything else is left alone.

        Raises:
            URIError: What follows the sign is neither a SURT prefix nor a URL.
        """
        for line in lines:
            if line.startswith(("+", "-")) and line[1:].strip():
                self._directives[line[0] == "+"].add(implied_prefix(line[1:].strip()))
        self._changed()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call a function whenever seeds or directives were added.

        A method is called as long as its object lives.
        """
        weak = hasattr(changed, "__self__")
        self._watchers.append(WeakMethod(changed) if weak else lambda: changed)

    def _changed(self) -> None:
        alive = [(watcher, watcher()) for watcher in self._watchers]
        self._watchers = [watcher for watcher, changed in alive if changed is not None]
        for _, changed in alive:
            if changed is not None:
                changed()

    def timeouts(self) -> int:
        """Matches of operators' expressions that were given up."""
        return sum(count() for count in self.counts)


def coerced(seed: str, coercion: Coercion) -> str:
    """The SURT prefix that a seed implies.

    Args:
        seed: The seed as typed.
        coercion: `prefix`: Heritrix's implied prefix. `host`: exactly its host, and its port where
            it has one. `domain`: its host without `www.` and all below it, on any port. `site`: its
            registered domain and all below it. Of an address the last two mean `host`.

    Raises:
        URIError: The seed is no URL.
    """
    prefix = implied_prefix(seed)
    start, bracket, rest = prefix.partition("(")
    if coercion is Coercion.PREFIX or not bracket:
        return prefix
    # `com,example,www,:8080@user`: labels, port and userinfo, which says nothing of the place.
    where = rest.partition(")")[0].partition("@")[0]
    labels, comma, port = where.rpartition(",")
    if coercion is Coercion.HOST or not comma or labels.startswith("["):
        return f"{start}({labels}{comma}{port})"
    domain = _domain(".".join(reversed(labels.split(","))), coercion)
    return f"{start}({','.join(reversed(domain.split('.')))},"


def _domain(host: str, coercion: Coercion) -> str:
    if coercion is Coercion.SITE:
        return registered_domain(host)
    below = host.removeprefix("www.")
    # `www.com` is a site of its own, and no reason to take all of `com`.
    return host if is_public_suffix(below) else below
