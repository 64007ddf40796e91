"""Limits of bandwidth while replies are read: of the whole crawl, and of each host."""

from collections.abc import Callable

_BURST = 0.25
_MANY = 10_000

Meter = Callable[[int, float], float]
"""Called with the number of bytes received and the time; returns seconds until the next read."""


class Bucket:
    """A token bucket in units of time: each byte takes its share of a second.

    Received bytes are never refused; the receiver waits. Up to a quarter of a second's bytes may
    come at once.
    """

    __slots__ = ("_paid",)

    def __init__(self) -> None:
        self._paid = 0.0

    def take(self, size: int, rate: float, now: float) -> float:
        """Count received bytes; return seconds until they are within the rate.

        Args:
            size: Bytes.
            rate: Bytes a second.
            now: Any clock that does not go back, seconds.
        """
        self._paid = max(self._paid, now - _BURST) + size / rate
        return max(self._paid - now, 0.0)

    def wait(self, now: float) -> float:
        """Return seconds until all received bytes are within the rate."""
        return max(self._paid - now, 0.0)


class Throttle:
    """The buckets of a crawl.

    Attributes:
        total: Bytes a second of the whole crawl; 0 for no limit.
    """

    def __init__(self) -> None:
        self.total = 0
        self._all = Bucket()
        self._hosts: dict[str, Bucket] = {}

    def limit(self, total: int) -> None:
        """Set the limit of the whole crawl, bytes a second; 0 for none."""
        self.total = total

    def wait(self, now: float) -> float:
        """Seconds until another fetch may begin."""
        return self._all.wait(now) if self.total else 0.0

    def meter(self, host: str, rate: int, now: float) -> Meter | None:
        """Return the meter that an exchange calls with its bytes; None if there is no limit.

        Args:
            host: Whom it talks to.
            rate: Bytes a second of that host; 0 for no limit.
            now: As for `Bucket.take`.
        """
        if not (rate or self.total):
            return None
        bucket = self._bucket(host, now) if rate else None

        def charge(size: int, now: float) -> float:
            ahead = bucket.take(size, rate, now) if bucket is not None else 0.0
            if self.total:
                ahead = max(ahead, self._all.take(size, self.total, now))
            return ahead

        return charge

    def _bucket(self, host: str, now: float) -> Bucket:
        bucket = self._hosts.get(host)
        if bucket is None:
            if len(self._hosts) >= _MANY:
                self._hosts = {name: b for name, b in self._hosts.items() if b.wait(now)}
            bucket = self._hosts[host] = Bucket()
        return bucket
