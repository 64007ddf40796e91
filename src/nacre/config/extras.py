"""Pointers for messages: to an extra that is not installed, to a page of the documentation."""

import shlex
import sys
from pathlib import Path


def wanting(what: str, library: str) -> str:
    """The message, with the command for the Python that runs now.

    The extras of the project have the same libraries, but pip knows a checkout by its folder only.
    """
    return f"{what} {library}: {shlex.quote(sys.executable)} -m pip install {library}"


EXTRAS = {
    "cycle": "duckdb pyarrow",
    "objects": "obstore",
    "spark": "pyspark",
}
"""The libraries of each extra that has a lock of its own, `requirements-<extra>.lock`."""


def wanting_extra(what: str, extra: str) -> str:
    """The message, with the command that installs the libraries of an extra.

    In a clone they come from the lock, with hashes; pip brings them where Nacre is installed.
    """
    return f"{what} needs the extra `{extra}` ({EXTRAS[extra]}): {install_command(extra)}"


def install_command(extra: str) -> str:
    """The command for the Python that runs now."""
    return shlex.join(install_arguments(extra))


def install_arguments(extra: str) -> list[str]:
    """The same, as arguments of a process."""
    pip = [sys.executable, "-m", "pip", "install"]
    lock = _CLONE / f"requirements-{extra}.lock"
    if lock.is_file():
        return [*pip, "--require-hashes", "-r", str(lock)]
    return [*pip, *EXTRAS[extra].split()]


_CLONE = Path(__file__).parents[3]
_SHIPPED = Path(__file__).parents[1] / "docs"
_BESIDE = _CLONE / "docs"


def documents() -> list[Path]:
    """All pages, in order of their names."""
    return sorted(_folder().rglob("*.md"))


def document(name: str) -> str:
    """The path of a page such as `howto.md`: in the package as installed, or in a clone."""
    return str(_folder() / name)


def _folder() -> Path:
    return _SHIPPED if _SHIPPED.is_dir() else _BESIDE
