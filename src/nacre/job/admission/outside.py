"""URLs that the scope refused, with rule, via and hops: so that `explain` can answer for them."""

import msgspec

from nacre.scope.rule import Subject
from nacre.store.store import Store

_FAMILY = "outside"
_COUNTER = "outside"


class Refusal(msgspec.Struct, frozen=True, array_like=True):
    """Why a URL is outside.

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


class Outside:
    """A bounded register: when it is full, later refusals are only counted.

    Args:
        store: Where the rows are.
        capacity: Rows kept; 0 keeps none.
    """

    def __init__(self, store: Store, capacity: int = 100_000) -> None:
        self._store = store
        self._novelty = store.novelty(_FAMILY)
        self.capacity = capacity
        self._count = store.counter(_COUNTER)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Refusal)

    def add(self, key: bytes, subject: Subject, rule: str) -> None:
        """Remember a refusal, once per URL."""
        if self._count >= self.capacity:
            return
        if not self._novelty.is_new(key) and self._store.get(_FAMILY, key) is not None:
            return
        self._novelty.add(key)
        row = Refusal(subject.url, rule, subject.via, subject.path, subject.context)
        self._store.put(_FAMILY, key, self._encoder.encode(row))
        self._count += 1

    def get(self, key: bytes) -> Refusal | None:
        """The refusal of a URL by its seen key; None when none is kept."""
        row = self._store.get(_FAMILY, key)
        return None if row is None else self._decoder.decode(row)

    def seal(self) -> None:
        """Write the count; called just before a group is sealed."""
        self._store.set_counter(_COUNTER, self._count)
