"""Cookies between the jar of a job and the context of a page, both ways."""

from collections.abc import Callable, Iterable, Sequence
from math import inf

from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.processor import Visit
from nacre.core.rendered import BrowserCookie
from nacre.fetch.cookie import Cookie
from nacre.fetch.cookie_jar import CookieJar
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host


class PageCookies:
    """Gives a page the cookies of its site, and keeps those that it has at its end.

    Args:
        jar: The cookies of the job.
        keep: Writes the rows of cookies that changed.
        is_enabled: Whether cookies are accepted and sent, under each combination of sheets.
        clock: The time.
    """

    def __init__(
        self,
        jar: CookieJar,
        keep: Callable[[Iterable[Cookie]], None],
        is_enabled: Effective[bool],
        clock: Clock,
    ) -> None:
        self._jar = jar
        self._keep = keep
        self._is_enabled = is_enabled
        self._clock = clock

    def of_page(self, visit: Visit) -> tuple[BrowserCookie, ...]:
        """Return the cookies of the jar for the site of a page: its domain, and all below it."""
        if not self._is_enabled[visit.overlay]:
            return ()
        site = registered_domain(host(visit.uri.url))
        return tuple(map(_to_browser, self._jar.of_site(site, self._clock.now())))

    def learn(self, visit: Visit, cookies: Sequence[BrowserCookie]) -> None:
        """Keep the cookies of a page: those of replies are kept already, scripts set others."""
        if self._is_enabled[visit.overlay] and cookies:
            changed = self._jar.adopt(map(_from_browser, cookies), self._clock.now())
            self._keep(changed)


def _to_browser(cookie: Cookie) -> BrowserCookie:
    return BrowserCookie(
        cookie.name,
        cookie.value,
        cookie.domain if cookie.host_only else f".{cookie.domain}",
        cookie.path,
        None if cookie.expires == inf else cookie.expires,
        secure=cookie.secure,
        http_only=cookie.http_only,
    )


def _from_browser(cookie: BrowserCookie) -> Cookie:
    return Cookie(
        cookie.name,
        cookie.value,
        cookie.domain.removeprefix(".").lower(),
        cookie.path if cookie.path.startswith("/") else "/",
        host_only=not cookie.domain.startswith("."),
        secure=cookie.secure,
        http_only=cookie.http_only,
        expires=inf if cookie.expires is None else cookie.expires,
    )
