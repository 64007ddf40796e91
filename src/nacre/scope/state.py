"""The state of a scope, which changes while it runs. Rules are settings; it is passed to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakMethod

from nacre.scope.kept_seeds import OwnSeeds, SeedPrefixes
from nacre.scope.scope import Logged, Write
from nacre.scope.seed_index import Coercion, SeedIndex
from nacre.scope.seed_scope import SeedOwnPlaces, SeedOwnScope
from nacre.uri.surt import SurtPrefixSet, implied_prefix, surt_authority

Country = Callable[[str], str]
"""The country code of an IP address, upper case; "" when unknown."""

ReadLines = Callable[[str], Sequence[str]]
"""The lines of a file that a rule names."""


class Dump(NamedTuple):
    """A file that is to hold the SURT prefixes of a rule, and where they are now."""

    file: str
    sets: Sequence[SurtPrefixSet | SeedPrefixes]

    def lines(self) -> list[str]:
        """Return the prefixes, sorted."""
        return sorted({prefix for prefixes in self.sets for prefix in prefixes})


def _no_file(name: str) -> Sequence[str]:
    raise OSError(f"{name}: no files can be read here")


def _no_country(_: str) -> Country:
    return lambda address: ""


def _unwritten(_: Logged) -> None:
    """Nobody writes decisions down."""


class ScopeState:
    """Seed prefixes and directives. The caller keeps seeds and directives durable.

    Args:
        read_lines: Reads a file that a rule names.
        countries: Opens a country database that a rule names.
        queue_of: The queue key of a URL.
        write: Writes down the decisions of sequences that log.

    Attributes:
        counts: Functions that return how many matches of operators' expressions timed out.
        dumps: Files that rules want their prefixes in.
        own: Seeds with their own scope.
    """

    def __init__(
        self,
        *,
        read_lines: ReadLines = _no_file,
        countries: Callable[[str], Country] = _no_country,
        queue_of: Callable[[str], str] = surt_authority,
        write: Write = _unwritten,
    ) -> None:
        self.read_lines = read_lines
        self.counts: list[Callable[[], int]] = []
        self.countries = countries
        self.queue_of = queue_of
        self.write = write
        self.dumps: list[Dump] = []
        self.own = OwnSeeds()
        self._indexes: list[SeedIndex] = []
        self._seeds: list[str] = []
        self._implied: dict[str, str] = {}
        self._sets: dict[Coercion, SeedPrefixes] = {}
        self._directives = {True: SurtPrefixSet(()), False: SurtPrefixSet(())}
        self._watchers: list[Callable[[], Callable[[], None] | None]] = []
        self._sleepers: list[Callable[[], None]] = []

    @property
    def seeds(self) -> tuple[str, ...]:
        """The added seeds that have no scope, redirect targets included.

        Those that an index keeps are not among them.
        """
        return (*self._seeds, *self._implied)

    def seed_prefixes(self, coercion: Coercion) -> SeedPrefixes:
        """Return the live set of prefixes that the seeds imply."""
        if coercion not in self._sets:
            prefixes = self._sets[coercion] = SeedPrefixes(coercion, self._seeds, self._indexes)
            prefixes.add_prefixes(self._implied.values())
        return self._sets[coercion]

    def add_index(self, index: SeedIndex) -> None:
        """Ask for seeds that are kept elsewhere, too; it does not load them."""
        self._indexes.append(index)
        self.own.add_index(index)
        if self.own:
            self._wake()
        self._changed()

    def refresh(self, *, own: bool = False) -> None:
        """Note that an index has other seeds than before.

        Args:
            own: Whether some seeds have their own scope.
        """
        if own:
            self.own.forget()
            self._wake()
        self._changed()

    def directives(self, *, accept: bool) -> SurtPrefixSet:
        """Return the live set of the seed file's `+` (accept) or `-` lines."""
        return self._directives[accept]

    def add_seed(self, text: str, own: SeedOwnScope | None = None, key: str = "") -> None:
        """Add a seed, as its line has it: a missing trailing slash lets subdomains in.

        Args:
            text: The seed.
            own: Its own scope; such a seed does not extend the scope of others.
            key: Its key for its descendants (`Subject.seed`): the seed that redirected to it, or
                itself.
        """
        if own is not None:
            self._add_own(text, own, key or text)
            return
        self._seeds.append(text)
        for prefixes in self._sets.values():
            prefixes.update([text])
        self._changed()

    def add_seeds(self, texts: Sequence[str]) -> None:
        """Add many seeds; cheaper than one by one."""
        self._seeds += texts
        for prefixes in self._sets.values():
            prefixes.update(texts)
        self._changed()

    def add_seed_prefixes(self, seeds: Mapping[str, str]) -> None:
        """Add seeds with the prefixes that they imply (`implied_prefix`), as long lists have them.

        Args:
            seeds: The prefixes by the texts of seeds.
        """
        for prefixes in self._sets.values():
            prefixes.add_prefixes(seeds.values())
        self._implied.update(seeds)
        self._changed()

    def _add_own(self, text: str, own: SeedOwnScope, key: str) -> None:
        is_first = not self.own
        self.own.setdefault(key, SeedOwnPlaces(own)).add(text)
        if is_first:
            self._wake()

    def _wake(self) -> None:
        sleepers, self._sleepers = self._sleepers, []
        for awake in sleepers:
            awake()

    def when_own(self, awake: Callable[[], None]) -> None:
        """Call a function when the first seed with its own scope is added."""
        self._sleepers.append(awake)

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
