"""Small files that are there whole, or as they were before."""

from pathlib import Path


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file in one step for all who read it; after a loss of power it may be the old one.

    Args:
        path: The file.
        data: What it holds then.
        mode: Who may read and write it, less the umask.

    Raises:
        OSError: It cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode)
    fresh.write_bytes(data)
    fresh.replace(path)
