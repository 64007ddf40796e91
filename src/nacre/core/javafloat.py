"""Numbers as Java computes them, where Nutch's results are wanted to the last digit (pure)."""

import math
import struct

_SINGLE = struct.Struct("f")


def single(value: float) -> float:
    """Return the nearest number of single precision, as Java's `float` keeps it."""
    return float(_SINGLE.unpack(_SINGLE.pack(value))[0])


def java_round(value: float) -> int:
    """Java's `Math.round`: halves go up."""
    return math.floor(value + 0.5)
