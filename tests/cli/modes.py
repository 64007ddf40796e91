"""Rights of others to files."""

import stat
from pathlib import Path


def modes_for_others(root: Path) -> dict[str, int]:
    """Return the modes of all paths at and below a folder to which other users have rights."""
    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (root, *root.rglob("*"))}
    return {name: mode for name, mode in modes.items() if mode & 0o077}
