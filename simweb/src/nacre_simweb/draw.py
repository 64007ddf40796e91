"""Random numbers by counter: each is a function of (seed, path, number), in whatever order asked.

Nothing is stored and no number depends on earlier draws, so that every policy sees the same world.
"""

import math
from collections.abc import Sequence
from hashlib import blake2b, shake_128
from typing import TypeVar

_SCALE = 2.0**-53
T = TypeVar("T")


class Draw:
    """A family of numbers; `at` gives independent ones for a part of the world.

    Args:
        seed: Seed of the world; as bytes, the key of a part.
    """

    __slots__ = ("_key",)

    def __init__(self, seed: int | bytes) -> None:
        if isinstance(seed, int):
            seed = blake2b(str(seed).encode(), digest_size=16).digest()
        self._key = seed

    def at(self, *path: object) -> "Draw":
        """Return the family of a part, named by texts and numbers."""
        name = "\0".join(map(str, path)).encode()
        return Draw(blake2b(name, key=self._key, digest_size=16).digest())

    def uniform(self, number: int = 0) -> float:
        """Return a number of the open interval (0, 1)."""
        digest = blake2b(number.to_bytes(8, "big"), key=self._key, digest_size=8).digest()
        return ((int.from_bytes(digest, "big") >> 11) + 0.5) * _SCALE

    def exponential(self, number: int = 0) -> float:
        """Return a number of mean 1."""
        return -math.log(self.uniform(number))

    def normal(self, number: int = 0) -> float:
        """A number of the standard normal distribution; uses up the counters 2n and 2n + 1."""
        radius = math.sqrt(-2 * math.log(self.uniform(2 * number)))
        return radius * math.cos(2 * math.pi * self.uniform(2 * number + 1))

    def below(self, limit: int, number: int = 0) -> int:
        """Return an integer from 0 to `limit` - 1."""
        return int(self.uniform(number) * limit)

    def pick(self, choices: Sequence[T], number: int = 0) -> T:
        """One of the choices."""
        return choices[self.below(len(choices), number)]

    def weighted(self, weights: Sequence[tuple[T, float]], number: int = 0) -> T:
        """One of the choices, by weights that need not add up to 1."""
        remaining = self.uniform(number) * math.fsum(weight for _, weight in weights)
        for choice, weight in weights:
            remaining -= weight
            if remaining < 0:
                return choice
        return weights[-1][0]

    def bytes(self, size: int) -> bytes:
        """So many random bytes; a longer draw begins with the shorter one."""
        return shake_128(self._key).digest(size)

    def hex(self, digits: int) -> str:
        """So many hexadecimal digits."""
        return self.bytes((digits + 1) // 2).hex()[:digits]
