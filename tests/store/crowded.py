"""A store whose files cannot be merged: `python -m tests.store.crowded PLACE` opens and closes it.

PLACE is a small file system. Writes how many rows were stored, and how many were found again.

Everything that needs room is written before the disk is full, and no file is merged until then: a
merge that fails fills the disk for a moment, and a write at that moment would fail too.
"""

import os
import sys
from pathlib import Path

from nacre.store.rocks import RocksEngine
from tests.store.running import MEMORY

LEFT = 8_000_000
"""Space that is left, bytes: too little to merge the files."""


def main(place: Path) -> None:
    path, filler, written = str(place / "store"), place / "filler", 0
    engine = RocksEngine(path, MEMORY)
    robots = engine._families["robots"]
    robots.set_options({"disable_auto_compactions": "true"})
    # So many files that the next one may not be written before some of them are merged.
    for number, size in enumerate([50_000] * 3 + [10] * 16):
        # Of the same range in each, so that the files must be merged.
        rows = {b"%03d %02d" % (row, number): os.urandom(size) for row in range(100)}
        engine.write({"robots": dict(rows)})
        written += len(rows)
        engine.flush(["robots"])
    engine.write({"robots": {b"last": b""}})
    engine.flush_wal()
    fill(filler)
    robots.set_options({"disable_auto_compactions": "false"})
    del robots  # it would keep the lock of the store
    engine.close()
    filler.unlink()
    engine = RocksEngine(path, MEMORY)
    found = sum(1 for _ in engine.rows("robots", b"", None))
    engine.close()
    sys.stdout.write(f"{written + 1} {found}\n")


def fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        free = os.statvfs(filler).f_bavail * os.statvfs(filler).f_frsize
        file.write(bytes(free - LEFT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
