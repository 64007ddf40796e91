"""The C allocator, told that pages come and go."""

import ctypes

_M_TOP_PAD = -2
_PAD = 16 << 20


def keep_memory_at_hand() -> bool:
    """Let glibc take and give back memory in steps of 16 MB instead of 128 KB.

    Each page's tree is some megabytes that are freed at once; without this the system hands the
    same memory out again and again. Saves about a tenth of parsing.

    Returns:
        False where the C library has no such knob.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_TOP_PAD, _PAD))
    except (OSError, AttributeError):
        return False
