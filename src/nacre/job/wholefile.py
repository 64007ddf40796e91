"""Small files that are there whole, or as they were before."""

from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step for all who read it; after a loss of power it may be the old one.

    Raises:
        OSError: It cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(data)
    fresh.replace(path)
