"""The folder of large downloads and builds: outside the checkout, shared by a user's checkouts.

`$XDG_CACHE_HOME/nacre`, or `~/.cache/nacre`. Its content can be deleted: missing files are
downloaded and built again.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def folder(name: str) -> Path:
    """Return a folder of the cache; it may not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    # As the XDG Base Directory Specification says, a relative path counts as none.
    base = Path(home) if home.startswith("/") else Path("~/.cache").expanduser()
    return base / "nacre" / name


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """The lock of a folder of the cache, which is about to be made; others wait for it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f".{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
