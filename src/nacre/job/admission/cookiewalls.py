"""Pages behind a redirect that sets a cookie and leads back: they are asked for once more.

A browser that is sent back to where it began asks again, with the cookie, and gets the page. For a
crawler that URL has been seen, so that only the redirect would be kept. Heritrix leaves it at that;
wget asks again.
"""

from msgspec import structs

from nacre.core.crawluri import CrawlURI, Hop
from nacre.core.processor import Visit

AGAIN = "cookieWall"
"""Annotation of a URI that is asked for once more, without validators; that happens only once."""

_ORIGIN = "_redirectedFrom"
"""Key in a URI's heritable data: where the redirects began that led to it."""
_COOKIES = "_redirectedWithCookies"
"""Key in a URI's heritable data: one of those redirects set a cookie."""


def through_walls(visit: Visit, found: list[CrawlURI]) -> list[CrawlURI]:
    """What a redirect led to; forced where it is the URL that the redirects began with.

    Args:
        visit: The one with the redirect.
        found: CrawlURIs made of its outlinks.

    Returns:
        The same in the same order, those that a redirect led to marked.
    """
    uri = visit.uri
    if not 300 <= visit.status < 400 or AGAIN in uri.annotations or uri.is_prerequisite:
        return found
    origin = uri.heritable.get(_ORIGIN, uri.url)
    has_cookies = visit.sets_cookies or _COOKIES in uri.heritable
    return [
        _marked(one, origin, has_cookies=has_cookies) if one.path.endswith(Hop.REDIRECT) else one
        for one in found
    ]


def _marked(target: CrawlURI, origin: str, *, has_cookies: bool) -> CrawlURI:
    if target.url != origin:
        marks = {_ORIGIN: origin, _COOKIES: "1"} if has_cookies else {_ORIGIN: origin}
        return structs.replace(target, heritable={**target.heritable, **marks})
    if not has_cookies:
        return target
    return structs.replace(
        target,
        force_fetch=True,
        annotations=(*target.annotations, AGAIN),
    )
