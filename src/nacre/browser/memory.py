"""The memory that programs could take: that of the machine, within the limits of its groups.

In a container the machine may have much more than the container may use.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_UNLIMITED: Final = 1 << 60
"""Bytes from which a limit of version 1 is none: the kernel writes a huge number there."""


class _GroupFiles(NamedTuple):
    """Names of the files of a control group.

    Attributes:
        limit: Its limit, bytes.
        usage: What it uses, bytes, with the files that are cached.
        cached: Line of `memory.stat` with the bytes of cached files that give way.
    """

    limit: str
    usage: str
    cached: str


_UNIFIED: Final = _GroupFiles("memory.max", "memory.current", "inactive_file")
_FIRST: Final = _GroupFiles("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def free_memory(root: Path = Path("/")) -> int:
    """Return the memory that programs could take, bytes.

    Args:
        root: Where `proc` and `sys/fs/cgroup` are.
    """
    return min([_available(root / "proc/meminfo"), *_free_in_groups(root)])


def _available(path: Path) -> int:
    for line in path.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def _free_in_groups(root: Path) -> Iterator[int]:
    """Yield what each control group of this process, and each above it, has left."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    groups = root / "sys/fs/cgroup"
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            yield from _free_upwards(groups, path, _UNIFIED)
        elif "memory" in controllers.split(","):
            yield from _free_upwards(groups / "memory", path, _FIRST)


def _free_upwards(root: Path, path: str, names: _GroupFiles) -> Iterator[int]:
    """Yield the free memory of a group and those above.

    A container that sees its own group as the root may still read the path of the machine: then
    the root alone has files.
    """
    folder = root / path.strip("/")
    for group in (folder, *folder.parents):
        if not group.is_relative_to(root):
            return
        free = _free_in_group(group, names)
        if free is not None:
            yield free


def _free_in_group(group: Path, names: _GroupFiles) -> int | None:
    """Return what a group has left, bytes; None if it has no limit."""
    try:
        limit = int((group / names.limit).read_text())
        usage = int((group / names.usage).read_text())
        stat = (group / "memory.stat").read_text()
    except (OSError, ValueError):  # `max` is no number
        return None
    if limit >= _UNLIMITED:
        return None
    lines = (line.split() for line in stat.splitlines())
    cached = next((int(line[1]) for line in lines if line[:1] == [names.cached]), 0)
    return max(0, limit - max(0, usage - cached))
