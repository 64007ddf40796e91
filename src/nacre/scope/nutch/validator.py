"""The validator: what does not look like a URL of the public web is rejected.

It has no file. Source: Nutch, `urlfilter-validator`.
"""

import re

from nacre.errors import Problem
from nacre.scope.nutch.ruling import Ruling, Source

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?"
)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_AUTHORITY = re.compile(r"([A-Za-z0-9.-]*)(?::(\d{1,5}))?")
_ADDRESS = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})")
_NAME = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+")
_PATH = re.compile(r"(?:/[-\w:@&?=+,.!/~*'%$;()]*)?", re.ASCII)


class ValidatorFilter:
    """Keeps what has a scheme, a dotted host or IPv4 address, and plain characters only."""

    def __init__(self, source: Source | None = None) -> None:
        self.notes: list[Problem] = []
        self._file = source.file if source else ""

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        return Ruling(_is_valid(url), file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _is_valid(url: str) -> bool:
    found = _URL.fullmatch(url) if _PRINTABLE.fullmatch(url) else None
    return found is not None and _is_place(found["authority"]) and _is_path(found["path"])


def _is_place(authority: str) -> bool:
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        return False
    address = _ADDRESS.fullmatch(found[1])
    if address:
        return all(int(part) <= 255 for part in address.groups())
    return _NAME.fullmatch(found[1]) is not None


def _is_path(path: str) -> bool:
    """Plain characters, and no more `..` than there are folders to leave."""
    if not _PATH.fullmatch(path):
        return False
    if ".." not in path:
        return True
    up = _overlapping(path, "..")
    folders = path.count("/") - _overlapping(path, "//") - 1
    return folders > up


def _overlapping(text: str, token: str) -> int:
    return sum(text.startswith(token, place) for place in range(len(text)))
