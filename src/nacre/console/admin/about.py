"""The facts of `About`: versions and licences of what the console is made of."""

import platform
import sqlite3
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Final, NamedTuple

from nacre import __version__
from nacre.console.assets import FOLDER

_NAMES = """
ada-url argon2-cffi brotli cryptography dnspython google-re2 httptools isal jinja2 msgspec
prometheus-client publicsuffixlist pydantic python-multipart python-socks regex rich rocksdict
ruamel.yaml starlette turbohtml typer uvicorn uvloop zstandard
"""
PACKAGES: Final = tuple(_NAMES.split())
"""Names of the packages that Nacre and its console use, as pyproject.toml has them."""


class UsedPackage(NamedTuple):
    """A package that Nacre uses.

    Attributes:
        name: Its name.
        version: Its version.
        licence: Name of its licence; "" where it names none.
    """

    name: str
    version: str
    licence: str


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Names and versions of Nacre and of what it runs on."""
    return (
        ("Nacre", __version__),
        ("Python", platform.python_version()),
        ("SQLite", sqlite3.sqlite_version),
        ("Linux", platform.release()),
    )


@cache
def packages() -> tuple[UsedPackage, ...]:
    """The packages of `PACKAGES` that are installed, by name."""
    found = []
    for name in PACKAGES:
        try:
            one = distribution(name)
        except PackageNotFoundError:  # packed in another way
            continue
        found.append(UsedPackage(name, one.version, _licence(one)))
    return tuple(found)


def _licence(distribution: Distribution) -> str:
    facts = distribution.metadata.json
    classifiers = facts.get("classifier", [])
    classified = [
        text.rpartition(" :: ")[2]
        for text in classifiers
        if text.startswith("License :: ") and text != "License :: OSI Approved"
    ]
    written = str(facts.get("license", "")).strip().splitlines()
    short = written[0][:80] if written else ""
    return str(facts.get("license_expression", "")) or ", ".join(classified) or short


@cache
def page_licences() -> str:
    """The licences of what the pages' scripts are built from."""
    path = FOLDER / "LICENSES.txt"
    return path.read_text("utf-8") if path.is_file() else ""
