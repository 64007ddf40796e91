"""Passwords: which are taken, and the hashes that are kept of them (argon2id)."""

import asyncio
from typing import Final

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from nacre.console.access.refused import SHORTEST, why_refused
from nacre.errors import ConfigError
from nacre.messages import message

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
    """Refuse a password that others would guess. Each character counts, blanks too.

    Args:
        password: The password.
        name: Name of its user.

    Raises:
        ConfigError: It is refused; the message says why.
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
        """The hash of a password; it takes a while."""
        return self._hasher.hash(password)

    async def hash_beside(self, password: str) -> str:
        """The same, in a thread."""
        async with self._turn:
            return await asyncio.to_thread(self.hash, password)

    async def is_right(self, kept: str, password: str) -> bool:
        """Whether a password has a hash, in a thread.

        Args:
            kept: The hash; "" for an unknown user, which is never right and takes as long.
            password: What was typed.
        """
        async with self._turn:
            return await asyncio.to_thread(self._verify, kept or _NO_ONE, password)

    def _verify(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, password)
        except (VerificationError, InvalidHashError):
            return False

    def is_outdated(self, kept: str) -> bool:
        """Whether a hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(kept)
