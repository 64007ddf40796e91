"""Where large downloads and what is built of them lie: outside the checkout, for all of a user's.

`$XDG_CACHE_HOME/nacre`, or `~/.cache/nacre`. Nothing depends on it: what is not there is fetched
and built again.
"""

import os
from pathlib import Path


def folder(name: str) -> Path:
    """A folder of the cache; it may not exist yet."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    # As the XDG Base Directory Specification says, a relative path counts as none.
    base = Path(home) if home.startswith("/") else Path("~/.cache").expanduser()
    return base / "nacre" / name
