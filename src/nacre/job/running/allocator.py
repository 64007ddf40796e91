"""What the process asks of the system before it crawls: memory at hand, and enough open files."""

import ctypes
import resource

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


def allow_many_files() -> int:
    """Raise the soft limit of open files to the hard one: connections and the store need them.

    Returns:
        The limit in force.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
