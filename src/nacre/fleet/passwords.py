"""Passwords: the rules for new ones, and their hashes (argon2id)."""

import asyncio
import math
from typing import Final

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from nacre.core.clock import Clock
from nacre.errors import ConfigError
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.refused import SHORTEST, why_refused
from nacre.fleet.sessions import SessionBook
from nacre.fleet.throttle import LoginThrottle, network_of
from nacre.fleet.users import ConsoleUser, UserBook, typed_name
from nacre.messages import message
from nacre.ops.operation import role_named

LONGEST: Final = 128
"""Characters of a password."""
_MEMORY: Final = 65_536
_PASSES: Final = 3
_NO_ONE: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$4K8RIF9C+QIEW71or5Kkzw"
    "$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)
"""A hash that no password has: the check of an unknown user takes the time of any other."""


def require_good(password: str, name: str) -> None:
    """Refuse a password that is easy to guess. Every character counts, including blanks.

    Args:
        password: The password.
        name: Name of its user.

    Raises:
        ConfigError: The password is refused; the message has the reason.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ConfigError(
            message(
                "console.password-length",
                "a password has {shortest} to {longest} characters, this one {number}; four words "
                "that have nothing to do with each other are a good one",
                shortest=SHORTEST,
                longest=LONGEST,
                number=len(password),
            )
        )
    reason = why_refused(password, (name,))
    if reason:
        raise ConfigError(
            message(
                "console.password-refused",
                "this password is refused: {reason}; four words that have nothing to do with each "
                "other are a good one",
                reason=reason,
            )
        )


class PasswordChecker:
    """Makes and checks hashes, one at a time: each takes 64 MB and a fifth of a second.

    Args:
        passes: Passes over the memory.
        memory: The memory, KiB.
    """

    def __init__(self, passes: int = _PASSES, memory: int = _MEMORY) -> None:
        self._hasher = PasswordHasher(passes, memory, 4, type=Type.ID)
        self._turn = asyncio.Semaphore(1)

    def hash(self, password: str) -> str:
        """Return the hash of a password; the computation is slow."""
        return self._hasher.hash(password)

    async def hash_beside(self, password: str) -> str:
        """Return the hash of a password, computed in a thread."""
        async with self._turn:
            return await asyncio.to_thread(self.hash, password)

    async def is_right(self, stored: str, password: str) -> bool:
        """Check a password against a hash, in a thread.

        Args:
            stored: The hash; "" for an unknown user: it never matches, and takes the same time.
            password: The password that was typed.
        """
        async with self._turn:
            return await asyncio.to_thread(self._verify, stored or _NO_ONE, password)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False

    def is_outdated(self, stored: str) -> bool:
        """Whether a hash was made with other parameters than the present ones."""
        return self._hasher.check_needs_rehash(stored)


class LoginDesk:
    """Checks passwords, with pauses after failures.

    Args:
        users: The users.
        sessions: Their sessions.
        clock: The time.
        checker: Makes and checks hashes of passwords.

    Attributes:
        checker: As given.
    """

    def __init__(
        self, users: UserBook, sessions: SessionBook, clock: Clock, checker: PasswordChecker
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._throttle = LoginThrottle(clock)
        self.checker = checker

    async def check(self, name: str, password: str, address: str) -> ConsoleUser:
        """Return the user of a name and password.

        Args:
            name: The name that was typed.
            password: The password that was typed.
            address: Address of the client.

        Raises:
            RefusedRequestError: The name or the password is wrong (401), or it is too early for
                another attempt (429). The answer and its time are the same for unknown users.
        """
        user = self._users.find(name)
        name = user.name if user is not None else typed_name(name)
        sessions = self._sessions.all(name or "-")
        if any(network_of(session.address) == network_of(address) for session in sessions):
            self._throttle.welcome(name, address)
        wait = self._throttle.seconds_left(name, address)
        if wait > 0:
            seconds = math.ceil(wait)
            raise RefusedRequestError(
                429,
                "too-many-tries",
                message(
                    "console.too-many-logins",
                    "too many failed logins; try again in {seconds} s",
                    seconds=seconds,
                ),
                seconds,
            )
        self._throttle.begin(name, address)
        stored = self._users.hash_of(name)
        is_right = await self.checker.is_right(stored, password[: LONGEST + 1])
        user = self._users.find(name)
        if user is None or not is_right:
            raise RefusedRequestError(
                401,
                "wrong-login",
                message("console.login-failed", "the name or the password is wrong"),
            )
        self._throttle.succeeded(name, address)
        if self.checker.is_outdated(stored):
            self._users.renew_hash(name, await self.checker.hash_beside(password))
        return user

    def begin(self, user: ConsoleUser, address: str, agent: str) -> str:
        """Begin a session of a user, and return its id for the cookie."""
        role = role_named(user.role)
        if role is None:  # the database was changed by hand
            raise RefusedRequestError(
                403,
                "role",
                message(
                    "console.role-unknown",
                    "{name} has an unknown role: {role}",
                    name=user.name,
                    role=user.role,
                ),
            )
        return self._sessions.begin(user.name, role, "password", address, agent)
