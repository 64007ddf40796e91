"""URLs that were refused, with rule, via and hops, so that `explain` can answer for them.

Most are refused by the scope. With expressions in `JOB/control/ignores` the operator can ignore
more links and queued URIs for now.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from nacre.annotations import IGNORED
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus
from nacre.scope.patterns.matching import PatternList
from nacre.scope.subject import Subject
from nacre.store.store import Store

_FAMILY = "outside"
_COUNTER = "outside"


class RejectedUri(msgspec.Struct, frozen=True, array_like=True):
    """A URL that was refused, and why.

    Attributes:
        url: The URL.
        rule: The rule that decided.
        via: The page that it was found on, the first time.
        path: Its hop path then.
        context: Its link context then.
    """

    url: str
    rule: str
    via: str
    path: str
    context: str


class RejectedUris:
    """A bounded register of refused URLs: when it is full, later URLs are not stored.

    Args:
        store: Has the rows.
        capacity: Rows kept; 0 keeps none.
    """

    def __init__(self, store: Store, capacity: int = 100_000) -> None:
        self._store = store
        self._novelty = store.novelty(_FAMILY)
        self.capacity = capacity
        self._count = store.counter(_COUNTER)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(RejectedUri)

    def limit(self, capacity: int) -> None:
        """Keep so many rows from now on; those beyond that stay."""
        self.capacity = capacity

    def add(self, key: bytes, subject: Subject, rule: str) -> None:
        """Remember a refusal, once per URL."""
        if self._count >= self.capacity:
            return
        if not self._novelty.is_new(key) and self._store.get(_FAMILY, key) is not None:
            return
        self._novelty.add(key)
        row = RejectedUri(subject.url, rule, subject.via, subject.path, subject.context)
        self._store.put(_FAMILY, key, self._encoder.encode(row))
        self._count += 1

    def get(self, key: bytes) -> RejectedUri | None:
        """Return the refusal of a URL by its seen key; None when none is kept."""
        row = self._store.get(_FAMILY, key)
        return None if row is None else self._decoder.decode(row)

    def of_rule(self, rule: str) -> Iterator[RejectedUri]:
        """Yield the refusals by a rule of URLs that were not accepted on another way.

        Args:
            rule: Name of the rule.
        """
        for key, row in self._store.scan(_FAMILY, b""):
            refusal = self._decoder.decode(row)
            if refusal.rule == rule and self._store.get("seen", key) is None:
                yield refusal

    def matching(self, urls: Callable[[str], bool]) -> Iterator[RejectedUri]:
        """Yield the refusals of URLs that a test takes, and that were not accepted on another way.

        Args:
            urls: The test.
        """
        for key, row in self._store.scan(_FAMILY, b""):
            refusal = self._decoder.decode(row)
            if urls(refusal.url) and self._store.get("seen", key) is None:
                yield refusal

    def seal(self) -> None:
        """Write the count; called just before a group is sealed."""
        self._store.set_counter(_COUNTER, self._count)


IGNORES = "control/ignores"
"""Name in place of a rule in the explanation of rejected URLs."""


class Ignored:
    """The expressions of URLs that are ignored for now.

    Attributes:
        matches: Decides whether one matches a URL; None while there are none.
    """

    def __init__(self) -> None:
        self.matches: Callable[[str], bool] | None = None

    def use(self, patterns: Sequence[str]) -> None:
        """From now on these expressions, each found anywhere in a URL; none for nothing ignored."""
        self.matches = PatternList(patterns, search=True).matches if patterns else None

    def refuses(self, visit: Visit) -> bool:
        """Disregard (-5000) a queued URI that matches an expression; seeds are spared."""
        if self.matches is None or visit.uri.is_seed or visit.uri.is_prerequisite:
            return False
        if not self.matches(visit.uri.url):
            return False
        visit.refuse(FetchStatus.OUT_OF_SCOPE, f"an expression of {IGNORES} matches", IGNORED)
        return True
