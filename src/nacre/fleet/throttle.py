"""The pauses after failed logins: 1, 2, 4 … 60 seconds, by account and address.

A pause applies to an account at an address, and to an address. So wrong passwords from one address
do not lock the account for other addresses. A user who has logged in from an address before is
exempt from the pause of that address, which other users there may have caused. Guesses from many
addresses are limited for each account: then only addresses with an earlier login are let through,
and, at their pace, addresses that failed before.
"""

import ipaddress
from typing import Final, NamedTuple

import msgspec

from nacre.core.clock import Clock

LONGEST_PAUSE: Final = 60.0
"""Maximum pause, seconds."""
FORGOTTEN: Final = 900.0
"""Seconds without a failure after which the failures of an account or address are forgotten."""
MOST: Final = 20_000
"""Maximum accounts and addresses in memory; the oldest are forgotten."""
STRANGERS: Final = 60
"""Failures from addresses that were new to an account, until it is closed to further new ones for
as long as failures are known."""


class FailedLogins(msgspec.Struct):
    """The failed logins of an account at an address, of an address, or of an account's strangers.

    Attributes:
        number: Number of failures.
        last: Time of the last failure, monotonic seconds.
    """

    number: int
    last: float


def pause_after(failures: int) -> float:
    """Return the pause after a number of failures, seconds; 0 after none."""
    return min(2.0 ** min(failures - 1, 10), LONGEST_PAUSE) if failures > 0 else 0.0


def network_of(address: str) -> str:
    """Return the network of one client: the whole IPv4 address, or the first 64 bits of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((int(parsed) >> 64 << 64, 64)))
    return address


class LoginThrottle:
    """Counts failed logins of accounts, whether they exist or not, and of addresses.

    Args:
        clock: The time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, FailedLogins] = {}
        self._welcome: dict[str, None] = {}

    def seconds_left(self, account: str, address: str) -> float:
        """Return the seconds until an attempt is allowed; 0 if it is allowed now."""
        now, names = self._clock.monotonic(), _names(account, address)
        own = self._pause_left(names.pair, now)
        if names.pair in self._welcome:
            return own
        if not self._number(names.pair, now) and self._number(names.strangers, now) >= STRANGERS:
            return max(self._known[names.strangers].last + LONGEST_PAUSE - now, 1.0)
        return max(own, self._pause_left(names.network, now))

    def welcome(self, account: str, address: str) -> None:
        """Note a successful login to the account from the address."""
        pair = _names(account, address).pair
        self._welcome.pop(pair, None)
        self._welcome[pair] = None
        while len(self._welcome) > MOST:
            self._welcome.pop(next(iter(self._welcome)))

    def begin(self, account: str, address: str) -> None:
        """Count an attempt as failed before the check, so that parallel attempts evade no pause."""
        now, names = self._clock.monotonic(), _names(account, address)
        is_new = not self._number(names.pair, now) and names.pair not in self._welcome
        for name in (*names[:2], *((names.strangers,) if is_new else ())):
            number = self._number(name, now)
            self._known.pop(name, None)
            self._known[name] = FailedLogins(number + 1, now)
        while len(self._known) > MOST:
            self._known.pop(next(iter(self._known)))

    def succeeded(self, account: str, address: str) -> None:
        """Forget the failures of an account at an address, and this attempt of the address.

        Earlier failures of the address stay, so that a login to the attacker's own account does not
        reset the pause for other accounts.
        """
        names = _names(account, address)
        self._known.pop(names.pair, None)
        for name in (names.network, names.strangers):
            attempts = self._known.get(name)
            if attempts is not None:
                attempts.number -= 1
                if attempts.number <= 0:
                    self._known.pop(name)
        self.welcome(account, address)

    def _pause_left(self, name: str, now: float) -> float:
        attempts = self._known.get(name)
        pause = pause_after(self._number(name, now))
        return max(attempts.last + pause - now, 0.0) if attempts is not None else 0.0

    def _number(self, name: str, now: float) -> int:
        attempts = self._known.get(name)
        return 0 if attempts is None or now - attempts.last >= FORGOTTEN else attempts.number


class _Counted(NamedTuple):
    """The names under which an attempt is counted."""

    pair: str
    network: str
    strangers: str


def _names(account: str, address: str) -> _Counted:
    name, network = account.casefold(), network_of(address)
    return _Counted(f"account {name} at {network}", f"address {network}", f"account {name}")
