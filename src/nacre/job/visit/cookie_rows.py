"""The cookie jar in the store: one row per domain, so that it survives a crash."""

from collections.abc import Iterable
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.errors import ConfigError
from nacre.fetch.cookies import CookieJar
from nacre.fetch.set_cookie import Cookie
from nacre.store.private import close_to_others
from nacre.store.store import Store

_FAMILY = "cookies"
_LONGEST = 64_000_000
"""Bytes of a file of cookies."""


class CookieRows:
    """Keeps the rows of a jar; joins the open commit group."""

    def __init__(self, store: Store, jar: CookieJar) -> None:
        self._store = store
        self._jar = jar

    def load(self, now: float) -> None:
        """Fill the jar from the store."""
        for _, row in self._store.scan(_FAMILY, b""):
            self._jar.load_row(row, now)

    def load_file(self, path: Path, now: float) -> list[str]:
        """Fill the jar from a Netscape file; what is wrong with it, line by line.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            text = read_ordinary(path, _LONGEST).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise ConfigError(
                f"cookies.load_file: {path} cannot be read: {error.strerror}"
            ) from error
        problems = self._jar.load(text, now)
        self.keep(self._jar)
        return problems

    def save_file(self, path: Path) -> str:
        """Write all cookies to a Netscape file, for its owner only; "" or why it failed."""
        try:
            path.touch(mode=0o600)
            close_to_others(path)
            path.write_text(self._jar.save(), "utf-8", "surrogateescape")
        except OSError as error:
            return f"cookies.save_file: {path} cannot be written: {error.strerror}"
        return ""

    def keep(self, changed: Iterable[Cookie]) -> None:
        """Write the rows of the domains that changed."""
        for domain in {cookie.domain for cookie in changed}:
            row = self._jar.row(domain)
            if row:
                self._store.put(_FAMILY, domain.encode(), row)
            else:
                self._store.delete(_FAMILY, domain.encode())
