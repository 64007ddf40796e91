"""What a message points to: a library that is missing, and a page of the documentation."""

import shlex
import sys
from pathlib import Path


def wanting(what: str, library: str) -> str:
    """The message, with the command for the Python that runs now.

    The extras of the project have the same libraries, but pip knows a checkout by its folder only.
    """
    return f"{what} {library}: {shlex.quote(sys.executable)} -m pip install {library}"


_SHIPPED = Path(__file__).parents[1] / "docs"
_BESIDE = Path(__file__).parents[3] / "docs"


def documents() -> list[Path]:
    """All pages, in order of their names."""
    return sorted(_folder().rglob("*.md"))


def document(name: str) -> str:
    """The path of a page such as `howto.md`: in the package as installed, or in a clone."""
    return str(_folder() / name)


def _folder() -> Path:
    return _SHIPPED if _SHIPPED.is_dir() else _BESIDE
