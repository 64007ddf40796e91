"""The cookie jar in the store: one row per domain, so that it survives a crash."""

from collections.abc import Iterable

from nacre.fetch.cookies import CookieJar
from nacre.fetch.set_cookie import Cookie
from nacre.store.store import Store

_FAMILY = "cookies"


class CookieRows:
    """Keeps the rows of a jar; joins the open commit group."""

    def __init__(self, store: Store, jar: CookieJar) -> None:
        self._store = store
        self._jar = jar

    def load(self, now: float) -> None:
        """Fill the jar from the store."""
        for _, row in self._store.scan(_FAMILY, b""):
            self._jar.load_row(row, now)

    def keep(self, changed: Iterable[Cookie]) -> None:
        """Write the rows of the domains that changed."""
        for domain in {cookie.domain for cookie in changed}:
            row = self._jar.row(domain)
            if row:
                self._store.put(_FAMILY, domain.encode(), row)
            else:
                self._store.delete(_FAMILY, domain.encode())
