"""The pauses after failed logins: 1, 2, 4 … 60 seconds, for each account and each address."""

import ipaddress
from typing import Final

import msgspec

from nacre.core.clock import Clock

LONGEST_PAUSE: Final = 60.0
"""Seconds of the longest pause."""
FORGOTTEN: Final = 900.0
"""Seconds without a failure after which the failures of an account or address are forgotten."""
MOST: Final = 20_000
"""Accounts and addresses that are known at a time; the oldest are forgotten."""


class FailedLogins(msgspec.Struct):
    """The failed logins of one account or address.

    Attributes:
        number: How many.
        last: Time of the last one, monotonic seconds.
    """

    number: int
    last: float


def pause_after(failures: int) -> float:
    """Seconds until the next try after so many failures; 0 after none."""
    return min(2.0 ** min(failures - 1, 10), LONGEST_PAUSE) if failures > 0 else 0.0


def network_of(address: str) -> str:
    """The part of an address that one sender has: IPv4 whole, of IPv6 the first 64 bits."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return address


class LoginThrottle:
    """It knows the failed logins of accounts, whether they exist or not, and of addresses.

    Args:
        clock: The time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, FailedLogins] = {}

    def left(self, account: str, address: str) -> float:
        """Seconds until a try is allowed; 0 for now."""
        now = self._clock.monotonic()
        return max(self._left(name, now) for name in _names(account, address))

    def begin(self, account: str, address: str) -> None:
        """Count a try as failed before it is checked: many at once are no way around a pause."""
        now = self._clock.monotonic()
        for name in _names(account, address):
            number = self._number(name, now)
            self._known.pop(name, None)
            self._known[name] = FailedLogins(number + 1, now)
        while len(self._known) > MOST:
            self._known.pop(next(iter(self._known)))

    def succeeded(self, account: str, address: str) -> None:
        """Forget the failures of an account, and this try of its address.

        Earlier failures of the address stay: an account of one's own is no way to try others.
        """
        own, network = _names(account, address)
        self._known.pop(own, None)
        known = self._known.get(network)
        if known is not None:
            known.number -= 1
            if known.number <= 0:
                self._known.pop(network)

    def _left(self, name: str, now: float) -> float:
        known = self._known.get(name)
        pause = pause_after(self._number(name, now))
        return max(known.last + pause - now, 0.0) if known is not None else 0.0

    def _number(self, name: str, now: float) -> int:
        known = self._known.get(name)
        return 0 if known is None or now - known.last >= FORGOTTEN else known.number


def _names(account: str, address: str) -> tuple[str, str]:
    return f"account {account.casefold()}", f"address {network_of(address)}"
