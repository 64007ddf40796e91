"""The seeds of a run, redirect targets included: durable, for the scope and the seeds report.

User names and passwords of seeds are kept only in the store, and sent only to their origin.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import msgspec
from msgspec import structs

from nacre.config.secret import Secret
from nacre.core.crawluri import DEAD, CrawlURI
from nacre.engine.seeding.seed_store import (
    FAMILY,
    SharedScopeRow,
    StoredSeeds,
    index_rows,
    page_key,
)
from nacre.fetch.settings import Credential
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import Seed
from nacre.scope.state import ScopeState
from nacre.scope.subject import OWN_SCOPE
from nacre.store.store import STALL, Store
from nacre.uri.typed import Login

_PORTION = 10_000
_SEED = b"seed:"
_DIRECTIVE = b"directive:"
_LED = b"led:"
_SEEDS, _INDEXED = "seeds", "seeds.indexed"
"""Counters: of all seeds, and of those that are in the index."""
FALLBACK = "_fallback"
"""Key in a seed's heritable data: the http URL to try when https cannot be reached."""


class SeedRow(msgspec.Struct, frozen=True, array_like=True):
    """One seed.

    Attributes:
        text: The line as typed, or the URL of a redirect target.
        url: What is fetched.
        redirect_from: URL of the seed that redirected here; "" for a seed of the list.
        owner: The seed with its own scope that it belongs to: itself, or the seed that redirected
            here; "" for none.
        scope: Scope set for that seed; "" for none.
        depth: Depth set for it; -1 for none.
        stands_in_for: The https URL that was a guess for a seed of the list, and in the place of
            which this URL is tried; "" for none.
    """

    text: str
    url: str
    redirect_from: str = ""
    owner: str = ""
    scope: str = ""
    depth: int = -1
    stands_in_for: str = ""

    @property
    def is_listed(self) -> bool:
        """Whether it is of the list: no target of a redirect, and no stand-in."""
        return not (self.redirect_from or self.stands_in_for)


class UnreachableSeed(msgspec.Struct, frozen=True, array_like=True):
    """A seed that could not be connected to.

    Attributes:
        runs: Runs in a row in which it could not, up to `run`.
        run: Number of the last of them.
    """

    runs: int = 0
    run: int = 0


DEAD_AFTER: Final = 2
"""Runs in a row without a connection after which a seed counts as dead."""
_UNREACHABLE = b"unreachable:"


def unreachable_seeds(store: Store) -> dict[str, UnreachableSeed]:
    """The seeds that could not be connected to in the last run that tried them, by their URLs."""
    rows = store.scan(FAMILY, _UNREACHABLE, b"unreachable;")
    return {
        key.removeprefix(_UNREACHABLE).decode(): msgspec.msgpack.decode(row, type=UnreachableSeed)
        for key, row in rows
    }


def unreachable_runs(store: Store, url: str) -> int:
    """Runs in a row in which a seed could not be connected to, up to the last; 0 for none."""
    row = store.get(FAMILY, _UNREACHABLE + url.encode())
    return 0 if row is None else msgspec.msgpack.decode(row, type=UnreachableSeed).runs


def put_unreachable(store: Store, url: str, row: UnreachableSeed | None) -> None:
    """Note that a seed could not be connected to; None: it was."""
    key = _UNREACHABLE + url.encode()
    if row is None:
        store.delete(FAMILY, key)
    else:
        store.put(FAMILY, key, msgspec.msgpack.encode(row))


class SeedBook:
    """Seeds and directives in the store, where the scope looks them up.

    Args:
        store: The store of the job.
        state: The state of its scope.
    """

    def __init__(self, store: Store, state: ScopeState) -> None:
        self._store = store
        self._state = state
        self._index = StoredSeeds(store)
        self._is_asked = False
        # Of a store that an earlier Nacre wrote and that cannot be changed; else none.
        self._numbers: dict[int, int] | None = None

    def load(self, *, writes: bool = False) -> None:
        """Add seeds and directives of an earlier process to the scope.

        Args:
            writes: The store is that of a job which runs: seeds that an earlier Nacre wrote are
                added to the index. Else they are loaded.
        """
        if writes:
            index_seeds(self._store)
            self._index = StoredSeeds(self._store)
        if is_indexed(self._store):
            self._ask()
        else:
            self._numbers = {}
            for portion in _portions(self._scan_numbered()):
                self._numbers.update((hash(row.url), number) for number, row in portion)
                self._widen([row for _, row in portion])
        self._state.add_directives(directive_lines(self._store))

    @property
    def scope_state(self) -> ScopeState:
        """The state of the scope, with these seeds and directives."""
        return self._state

    def rows(self) -> Iterator[SeedRow]:
        """Yield all seeds, in the order of their addition."""
        return seed_rows(self._store)

    def knows(self, url: str) -> bool:
        """Return whether a URL is a seed, or the redirect target of one."""
        return self._number(url) is not None

    @property
    def has_owners(self) -> bool:
        """Return whether there are seeds with their own scope."""
        return bool(self._state.own)

    def owner(self, url: str) -> str:
        """Return the seed with its own scope that a seed belongs to; "" for none."""
        number = self._number(url)
        row = None if number is None else self._store.get(FAMILY, _seed_key(number))
        return "" if row is None else msgspec.msgpack.decode(row, type=SeedRow).owner

    def marks(self, url: str) -> dict[str, str]:
        """Heritable data of a seed that could not be connected to in the last runs; else {}."""
        return {DEAD: "1"} if unreachable_runs(self._store, url) >= DEAD_AFTER else {}

    def add(self, seed: Seed) -> bool:
        """Note a seed of the list; False when its URL is a seed already."""
        return bool(self.add_all([seed]))

    def add_all(self, seeds: Sequence[Seed]) -> list[Seed]:
        """Note seeds of the list; those that are new."""
        rows = [_with_owner(SeedRow(seed.text, seed.url), seed.own, seed.owner) for seed in seeds]
        new = self._take(rows)
        return [seeds[place] for place in new]

    def redirected(self, uri: CrawlURI) -> None:
        """A seed redirected: its target is a seed too, and widens the scope."""
        row = SeedRow(uri.url, uri.url, uri.via)
        owners = self._state.own
        places = owners.get(uri.heritable.get(OWN_SCOPE, ""))
        if places is not None:
            row = _with_owner(row, places.own, uri.heritable[OWN_SCOPE])
        self._take([row])

    def led(self, url: str, target: str) -> None:
        """Note where a seed redirects to, for reports, if the target is no seed."""
        self._store.put(FAMILY, _LED + url.encode(), target.encode())

    def direct(self, directives: Sequence[str]) -> None:
        """Note directives of the seed list."""
        for line in directives:
            self._store.put(FAMILY, _DIRECTIVE + line.encode(), line.encode())
        self._state.add_directives(directives)

    def stands_in(self, seed: Seed, uri: CrawlURI) -> bool:
        """Add a seed that replaces an unreachable seed, with its scope."""
        owner = uri.heritable.get(OWN_SCOPE, "")
        owners = self._state.own
        places = owners.get(owner)
        row = SeedRow(seed.text, seed.url, stands_in_for=uri.url)
        return bool(self._take([_with_owner(row, places.own if places else None, owner)]))

    def _number(self, url: str) -> int | None:
        if self._numbers is not None:
            return self._numbers.get(hash(url))
        return self._index.number(url)

    def _scan_numbered(self) -> Iterator[tuple[int, SeedRow]]:
        return numbered_seeds(self._store)

    def _ask(self) -> None:
        """Let the scope use the index."""
        if not self._is_asked:
            self._is_asked = True
            self._state.add_index(self._index)

    def _widen(self, rows: Sequence[SeedRow]) -> None:
        self._state.add_seeds([row.text for row in rows if not row.owner])
        for row in rows:
            if row.owner:
                self._state.add_seed(row.text, _own(row), row.owner)

    def _take(self, rows: Sequence[SeedRow]) -> list[int]:
        """Note seeds that are new; return their places among the rows."""
        index_seeds(self._store)
        numbers = self._index.numbers([row.url for row in rows])
        store, number = self._store, self._store.counter(_SEEDS)
        fresh: dict[str, int] = {}
        for place, row in enumerate(rows):
            if numbers[place] is None and row.url not in fresh:
                fresh[row.url] = place
                store.put(FAMILY, _seed_key(number), msgspec.msgpack.encode(row))
                self._index.add(number, row.url, row.text, own_row(row))
                number += 1
        if fresh:
            store.set_counter(_SEEDS, number)
            store.set_counter(_INDEXED, number)
            self._ask()
            self._state.refresh(own=any(rows[place].owner for place in fresh.values()))
        return list(fresh.values())


def own_row(row: SeedRow) -> SharedScopeRow | None:
    """Return the own scope of a seed for the index; None for none."""
    return SharedScopeRow(row.owner, row.text, row.scope, row.depth) if row.owner else None


def is_indexed(store: Store) -> bool:
    """Return whether all seeds of a store are in the index."""
    return store.counter(_SEEDS) == store.counter(_INDEXED)


def index_seeds(store: Store) -> None:
    """Add the seeds to the index that an earlier Nacre wrote.

    Portions are written to the engine at once: if the process is killed, the next start writes the
    same rows again.
    """
    if is_indexed(store):
        return
    for portion in _portions(numbered_seeds(store)):
        rows: dict[bytes, bytes | None] = {}
        for number, row in portion:
            of_seed = index_rows(number, row.url, row.text, own_row(row))
            key = page_key(row.url)
            # Of several seeds with the same URL the first counts.
            if rows.get(key) or store.get(FAMILY, key):
                of_seed.pop(key)
            rows.update(of_seed)
        while not store.engine.write({FAMILY: rows}):
            time.sleep(STALL)
    store.set_counter(_INDEXED, store.counter(_SEEDS))


def numbered_seeds(store: Store) -> Iterator[tuple[int, SeedRow]]:
    """Yield all seeds in a store with their numbers, in the order in which they were added."""
    for key, value in store.scan(FAMILY, _SEED, b"seed;"):
        yield int.from_bytes(key[len(_SEED) :], "big"), msgspec.msgpack.decode(value, type=SeedRow)


def _seed_key(number: int) -> bytes:
    return _SEED + number.to_bytes(8, "big")


def _with_owner(row: SeedRow, own: SeedOwnScope | None, owner: str) -> SeedRow:
    if own is None:
        return row
    depth = -1 if own.depth is None else own.depth
    return structs.replace(row, owner=owner, scope=own.scope or "", depth=depth)


def _own(row: SeedRow) -> SeedOwnScope:
    scope = ScopeKind(row.scope) if row.scope else None
    return SeedOwnScope(scope, None if row.depth < 0 else row.depth)


def own_scope(owner: str) -> dict[str, str]:
    """Return heritable data of the descendants of a seed with its own scope."""
    return {OWN_SCOPE: owner} if owner else {}


def _portions(
    rows: Iterator[tuple[int, SeedRow]],
) -> Iterator[list[tuple[int, SeedRow]]]:
    while portion := list(islice(rows, _PORTION)):
        yield portion


def directive_lines(store: Store) -> Iterator[str]:
    """Yield the `+` and `-` lines of the seed list of a store."""
    for _, value in store.scan(FAMILY, _DIRECTIVE, b"directive;"):
        yield value.decode()


def listed_rows(store: Store) -> Iterator[SeedRow]:
    """Return the seeds of the list in a store, in its order."""
    return (row for row in seed_rows(store) if row.is_listed)


def seed_rows(store: Store) -> Iterator[SeedRow]:
    """Return all seeds in a store, in the order in which they were added."""
    return (row for _, row in numbered_seeds(store))


class SeedTarget(NamedTuple):
    """The target of a redirect of a seed.

    Attributes:
        url: The target.
        is_seed: It is a seed, not a link.
    """

    url: str
    is_seed: bool


def redirect_targets(store: Store) -> dict[str, SeedTarget]:
    """Return the redirect targets of the seeds in a store, by the URLs of the seeds."""
    links = store.scan(FAMILY, _LED, b"led;")
    targets = {
        key.removeprefix(_LED).decode(): SeedTarget(target.decode(), is_seed=False)
        for key, target in links
    }
    for row in seed_rows(store):
        if row.redirect_from:
            targets[row.redirect_from] = SeedTarget(row.url, is_seed=True)
    return targets


_LOGIN = b"login:"
_WEB = ("http://", "https://")

ADVICE = (
    "it is taken out of the URL and sent when the server asks for it; others may be able to "
    "read the seed list, so better write it to fetch.credentials, as `password: {env: NAME}`"
)


class LoginBook:
    """The logins of a job, one for each origin: the last typed login.

    Attributes:
        known: For the fetcher; it grows while the job runs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.known: list[Credential] = []
        for key, row in store.scan(FAMILY, _LOGIN, b"login;"):
            name, password = msgspec.msgpack.decode(row, type=tuple[str, str])
            self.known.append(_credential(Login(key.removeprefix(_LOGIN).decode(), name, password)))

    def take(self, seeds: Iterable[Seed]) -> list[str]:
        """Keep the logins of seeds, in the open commit group; returns messages for the operator."""
        notes: list[str] = []
        for seed in seeds:
            if seed.login is not None:
                notes += self.add(seed.login)
        return notes

    def add(self, login: Login) -> list[str]:
        """Add a login; return notes for the operator."""
        if not login.origin.startswith(_WEB):
            return [f"{login.origin}: a name and a password can be sent to http and https only"]
        fresh = _credential(login)
        before = [stored for stored in self.known if stored.origin == login.origin]
        if fresh in before:
            return []
        self.known[:] = [stored for stored in self.known if stored.origin != login.origin]
        self.known.append(fresh)
        row = msgspec.msgpack.encode((login.username, login.password))
        self._store.put(FAMILY, _LOGIN + login.origin.encode(), row)
        if before:
            return [f"{login.origin}: another seed has another name or password; this one holds"]
        return [f"{login.origin}: a seed has a name or a password in it: {ADVICE}"]


def _credential(login: Login) -> Credential:
    return Credential(origin=login.origin, username=login.username, password=Secret(login.password))
