"""Random bytes for record ids."""

import os

_STOCK = 4096


class RandomIds:
    """Gives 16 random bytes at a time, from one request to the system for many."""

    def __init__(self) -> None:
        self._stock = b""
        self._at = 0

    def __call__(self) -> bytes:
        """16 bytes that were not given before."""
        if self._at >= len(self._stock):
            self._stock, self._at = os.urandom(_STOCK), 0
        self._at += 16
        return self._stock[self._at - 16 : self._at]
