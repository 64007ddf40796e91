"""Settings of the libraries of rounds, which they read when they are imported."""

import os


def set_up_libraries() -> None:
    """Have Arrow ask the C library for memory and numpy start no threads; before their imports.

    Arrow's own pool has huge pages of memory. It gives some back at once: the kernel cleared them
    again and again, for a twentieth of all that a unit does. Others it keeps: a third of the memory
    of an inject. The threads of numpy, of which Arrow makes no use, wait by spinning: 50 ms of CPU
    in each process. Processes that this one starts have the same settings.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
