"""Pointers for messages: to an extra that is not installed, to a page of the documentation."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from nacre.errors import ConfigError


def wanting(feature: str, library: str) -> str:
    """Return the message, with the command for the Python that runs now.

    The extras of the project have the same libraries, but pip installs a checkout by its folder
    only.
    """
    return f"{feature} {library}: {shlex.quote(sys.executable)} -m pip install {library}"


EXTRAS = {
    "console": "argon2-cffi httptools jinja2 prometheus-client python-multipart starlette uvicorn",
    "cycle": "duckdb numpy pyarrow",
    "evidence": "rfc3161-client",
    "objects": "obstore",
    "opensearch": "opensearch-py",
    "parquet": "pyarrow",
    "search": "kreuzberg py3langid resiliparse tantivy",
    "spark": "pyspark",
}
"""The libraries of each extra with a separate lock, `requirements-<extra>.lock`."""


_PACKAGES = {"migrate": "nacre-migrate"}
"""Extras that are separate packages beside Nacre, in a folder of their name in a clone."""


class MissingExtraError(ConfigError):
    """An extra that is wanted is not installed; the message has the command that does it.

    In a clone its libraries come from the lock, with hashes; pip brings them where Nacre is
    installed.

    Args:
        feature: The feature that needs it, with its verb: `batch rounds need`.
        extra: Its name.
    """

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{feature} the extra `{extra}` ({EXTRAS.get(extra) or _PACKAGES[extra]}): "
            f"{install_command(extra)}"
            f"{_YES if has_lock(extra) else ''}"
        )


_YES = "; with --yes this command does it"


_MODULES = {
    "console": ("starlette", "uvicorn", "jinja2", "argon2"),
    "cycle": ("duckdb", "numpy", "pyarrow"),
    "evidence": ("rfc3161_client",),
    "opensearch": ("opensearchpy",),
    "parquet": ("pyarrow",),
    "search": ("tantivy", "resiliparse", "py3langid", "kreuzberg"),
}
"""Modules of an extra, by which it is found."""


def require_extra(feature: str, extra: str) -> None:
    """Refuse to go on without an extra.

    Args:
        feature: The feature that needs it, with its verb: `batch rounds need`.
        extra: Its name.

    Raises:
        MissingExtraError: It is not installed; the message has the command that installs it.
    """
    if any(find_spec(name) is None for name in _MODULES[extra]):
        raise MissingExtraError(feature, extra)


def has_lock(extra: str) -> bool:
    """Return whether an extra can be installed from its lock, which a clone has."""
    return _lock(extra).is_file()


def _lock(extra: str) -> Path:
    return _CLONE / f"requirements-{extra}.lock"


def install_command(extra: str) -> str:
    """Return the command for the Python that runs now."""
    return shlex.join(install_arguments(extra))


def install_arguments(extra: str) -> list[str]:
    """Return the same, as arguments of a process."""
    pip = [sys.executable, "-m", "pip", "install"]
    if has_lock(extra):
        return [*pip, "--require-hashes", "-r", str(_lock(extra))]
    if extra in _PACKAGES:
        source = _checkout() / extra
        # The slash makes it a folder for pip, also in a message with the path from here.
        return [*pip, f"{source}/" if source.is_dir() else f"nacre[{extra}]"]
    return [*pip, *EXTRAS[extra].split()]


def _checkout() -> Path:
    """Return the clone, or the checkout from which pip installed Nacre.

    pip notes it in `direct_url.json` of the package (PEP 610).
    """
    import json  # noqa: PLC0415 - only for a message
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415

    try:
        record = json.loads(distribution("nacre").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):  # a clone is not installed
        return _CLONE
    source = urlsplit(record.get("url", ""))
    return Path(unquote(source.path)) if source.scheme == "file" else _CLONE


_CLONE = Path(__file__).parents[3]
_SHIPPED = Path(__file__).parents[1] / "docs"
_BESIDE = _CLONE / "docs"


def documents() -> list[Path]:
    """Return all pages, in order of their names."""
    return sorted(_folder().rglob("*.md"))


def document(name: str) -> str:
    """Return the path of a page such as `howto.md`: in the package as installed, or in a clone."""
    return str(_folder() / name)


def _folder() -> Path:
    return _SHIPPED if _SHIPPED.is_dir() else _BESIDE
