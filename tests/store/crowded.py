"""A store whose files cannot be merged: `python -m tests.store.crowded PLACE` opens and closes it.

PLACE is a small file system. Writes how many rows were stored, and how many were found again.
"""

import os
import sys
from pathlib import Path

from nacre.store.rocks import RocksEngine
from tests.store.running import MEMORY

LEFT = 8_000_000
"""Space that is left, bytes: too little to merge the first files, enough for many small ones."""


def main(place: Path) -> None:
    path, written = str(place / "store"), 0
    engine = RocksEngine(path, MEMORY)
    for number, size in enumerate([50_000] * 3 + [10] * 16):
        if number == 3:
            fill(place / "filler")
        # Of the same range in each, so that the files must be merged.
        rows = {b"%03d %02d" % (row, number): os.urandom(size) for row in range(100)}
        engine.write({"robots": dict(rows)})
        written += len(rows)
        engine.flush(["robots"])
    engine.write({"robots": {b"last": b""}})
    engine.close()
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
