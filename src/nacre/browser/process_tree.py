"""The processes of a browser, as /proc shows them: their ids, memory and processor time."""

import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PROC: Final = "/proc"
SECCOMP_FILTER: Final = 2
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_MEMORY: Final = re.compile(rb"^Rss(?:Anon|Shmem):\s*(\d+)", re.MULTILINE)
_LIST_EVERY: Final = 3
"""Looks at memory after which the processes are listed again."""
_LEAF: Final = re.compile(rb"--type=(?!zygote)")
"""In the command line of processes of a browser that make no other processes."""


class ProcessUsage(NamedTuple):
    """Memory and CPU time of a process with all its children.

    Attributes:
        memory: Memory that is theirs, bytes: anonymous and shared with each other, without files.
        cpu: CPU time since their start, seconds, with that of children that have ended.
        processes: How many there are.
    """

    memory: int
    cpu: float
    processes: int


class ProcessTree:
    """A browser with all its processes, which is measured again and again.

    A page's process and those of services have no children: their threads are not searched for any.

    Args:
        pid: Process id of the browser.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._leaves: set[int] = set()
        self._pids: list[int] = []
        self._looks = 0

    def memory(self) -> int:
        """Return the memory of all processes, as in `ProcessUsage`.

        Processes that began since the last call may be missing, but only in two calls in a row.
        """
        if self._looks % _LIST_EVERY == 0:
            self._pids = self._list()
        self._looks += 1
        return sum(map(read_memory, self._pids))

    def measure(self) -> ProcessUsage:
        """Return what all processes use."""
        self._looks = 0
        return _measure(self._list())

    def _list(self) -> list[int]:
        pids: list[int] = []
        pending = [self._pid] if is_running(self._pid) else []
        while pending:
            pid = pending.pop()
            pids.append(pid)
            if pid in self._leaves:
                continue
            children = _list_children(pid)
            if not children and _LEAF.search(_read(pid, "cmdline")):
                self._leaves.add(pid)
            pending += children
        self._leaves.intersection_update(pids)
        return pids


def list_processes(pid: int) -> list[int]:
    """Return a process and all its descendants, parents first; empty if it does not run."""
    return list(_walk(pid)) if pid and is_running(pid) else []


def measure(pid: int) -> ProcessUsage:
    """Return what a process and all its descendants use."""
    return _measure(list_processes(pid))


def _measure(pids: list[int]) -> ProcessUsage:
    return ProcessUsage(sum(map(read_memory, pids)), sum(map(_read_cpu, pids)), len(pids))


def read_memory(pid: int) -> int:
    """Return the memory of one process, bytes; 0 if it has ended."""
    return sum(map(int, _MEMORY.findall(_read(pid, "status")))) << 10


def list_renderers(pid: int) -> list[int]:
    """Return the processes of a browser that run pages."""
    return [
        process
        for process in list_processes(pid)
        if b"--type=renderer" in _read(process, "cmdline")
    ]


def list_networks(pid: int) -> list[str]:
    """Return the network interfaces that a process sees."""
    lines = _read(pid, "net/dev").splitlines()[2:]
    return [line.partition(b":")[0].strip().decode() for line in lines]


def read_seccomp(pid: int) -> int:
    """Return the mode of seccomp of a process: 0 for none, 2 (`SECCOMP_FILTER`) for a filter."""
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Seccomp:"):
            return int(line.split()[1])
    return 0


def is_running(pid: int) -> bool:
    """Whether a process runs or is stopped; not one that has ended and waits for its parent."""
    fields = _fields(pid)
    return bool(fields) and fields[0] not in (b"Z", b"X")


def _walk(pid: int) -> Iterator[int]:
    yield pid
    for child in _list_children(pid):
        yield from _walk(child)


def _list_children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"{_PROC}/{pid}/task")  # noqa: PTH208 - paths are slow, threads many
    except OSError:
        return []
    return [int(child) for task in tasks for child in _read(pid, f"task/{task}/children").split()]


def _read_cpu(pid: int) -> float:
    fields = _fields(pid)
    return sum(map(int, fields[11:15])) / _TICKS if fields else 0.0


def _fields(pid: int) -> list[bytes]:
    """Fields of /proc/PID/stat behind the name, from the state on; empty if it has ended."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"{_PROC}/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return b""
