"""What is known of each host's addresses: answers of `dns:` visits, kept until they expire."""

from collections import OrderedDict
from math import inf

import msgspec

from nacre.store.store import Store
from nacre.uri.parse import host as host_of
from nacre.uri.parse import is_ip

_FAMILY = "robots"
_PREFIX = b"d:"


class HostAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The last answer for a host.

    Attributes:
        addresses: In the order to try them; empty when the name has none.
        expires: Epoch seconds; after it the name is looked up again.
        learned: Epoch seconds of the answer; 0 in rows of older versions.
    """

    addresses: tuple[str, ...]
    expires: float
    learned: float = 0.0


class HostAnswers:
    """Answers by host, in memory for the recent ones and in the store for all."""

    def __init__(self, store: Store, capacity: int = 20_000) -> None:
        self._store = store
        self._capacity = capacity
        self._recent: OrderedDict[str, HostAnswer] = OrderedDict()
        self._decoder = msgspec.msgpack.Decoder(HostAnswer)

    def get(self, host: str, now: float, since: float = inf) -> HostAnswer | None:
        """The valid answer for a host; None when it must be looked up.

        Args:
            host: Its name.
            now: Seconds since the epoch.
            since: When somebody began to wait for the answer, in the same time: what was learned
                after it is valid for them, however short its time to live.
        """
        answer = self.latest(host)
        if answer is None:
            return None
        return answer if answer.expires > now or answer.learned >= since else None

    def latest(self, host: str) -> HostAnswer | None:
        """The last answer for a host, expired or not; None when there was none."""
        answer = self._recent.get(host)
        if answer is None:
            row = self._store.get(_FAMILY, _PREFIX + host.encode())
            if row is None:
                return None
            answer = self._remember(host, self._decoder.decode(row))
        return answer

    def address(self, url: str) -> str:
        """Address of the host of a URL, as it was last known; "" when it never was."""
        name = host_of(url)
        if is_ip(name):
            return name.strip("[]")
        answer = self.latest(name)
        return answer.addresses[0] if answer is not None and answer.addresses else ""

    def put(self, host: str, answer: HostAnswer) -> None:
        """Keep an answer; joins the open commit group."""
        self._store.put(_FAMILY, _PREFIX + host.encode(), msgspec.msgpack.encode(answer))
        self._remember(host, answer)

    def drop(self, host: str) -> None:
        """Know nothing of a host, so that it is looked up again."""
        self._store.delete(_FAMILY, _PREFIX + host.encode())
        self._recent.pop(host, None)

    def _remember(self, host: str, answer: HostAnswer) -> HostAnswer:
        self._recent[host] = answer
        self._recent.move_to_end(host)
        if len(self._recent) > self._capacity:
            self._recent.popitem(last=False)
        return answer
