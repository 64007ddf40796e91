"""Stamps of stores: values that change with what a store holds, and not when it is only opened."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nacre.store.layout import Layout

Stamp = frozenset[tuple[str, int, int]]
"""Name, bytes and time of change (ns) of each file."""
_OPENING: Final = frozenset(("LOCK", "LOG", "rocksdict-config.json"))
"""Files that are written when a store is opened, also to be read."""


def store_stamp(layout: Layout) -> Stamp:
    """A value that changes whenever the store of a job does; the same without a store."""
    return folder_stamp(layout.store)


def folder_stamp(folder: Path) -> Stamp:
    """The files of a folder but those that an opening of a store writes; empty without a folder."""
    try:
        with os.scandir(folder) as entries:
            return frozenset(
                (entry.name, *_facts(entry))
                for entry in entries
                if entry.name not in _OPENING and not entry.name.startswith("LOG.old")
            )
    except OSError:
        return frozenset()


def stamp_text(stamps: Iterable[Stamp]) -> str:
    """Stamps as a text that can be kept: the same for the same stamps."""
    digest = hashlib.sha256()
    for stamp in stamps:
        digest.update(repr(sorted(stamp)).encode())
    return digest.hexdigest()


def _facts(entry: "os.DirEntry[str]") -> tuple[int, int]:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
