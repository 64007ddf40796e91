"""Environment variables that libraries of rounds read during their import."""

import os


def set_up_libraries() -> None:
    """Let Arrow use the memory of the C library, and numpy no threads; call it before imports.

    Arrow's own pool uses huge pages. It returns some at once, and clearing them again takes a
    twentieth of the CPU of a unit. It keeps others: a third of the memory of an inject. The threads
    of numpy, which Arrow does not need, spin while they wait: 50 ms of CPU in each process. Child
    processes inherit the settings.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
