"""Where the pages of the documentation lie, so that a message can name one that is there."""

from pathlib import Path

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
