"""Templates of requests that scripts of pages make, and the requests that they give. Pure.

A template is a URL in which parts of the page's URL, of its HTML, or of the JSON reply to another
template stand: `https://h/api/items/{url.path[1]}`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from urllib.parse import quote, quote_plus, urljoin, urlsplit

import msgspec

from nacre.core.urlshape import shaped
from nacre.errors import URIError
from nacre.extract.page_values import Values, json_values
from nacre.uri.parse import parse

MAX_REQUESTS = 200
"""Requests of one page that are learned from, and that are repeated for one page."""
LONGEST_REPLY = 200_000
"""Characters of a JSON reply whose values are used."""
_ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)


def join_url(base: str, text: str) -> str:
    """Return an absolute URL; "" if there is none."""
    try:
        return urljoin(base, text)
    except ValueError:
        return ""


def normal_url(url: str) -> str:
    """Return a URL as requests name it, without a fragment; "" if it is none."""
    try:
        normal = parse(url.partition("#")[0])
    except URIError:
        return ""
    return _ESCAPE.sub(lambda match: match[0].upper(), normal)


_ASCII_KEPT = "!$%&'(*+),-./:;=@[]^_|~"
CODINGS: Mapping[str, Callable[[str], str]] = {
    "component": lambda value: quote(value, safe="!~*'()"),
    "form": lambda value: quote_plus(value, safe="*").replace("~", "%7E"),
    "uri": lambda value: quote(value, safe=";,/?:@&=+$!*'()#~"),
    "raw": lambda value: quote(value, safe=_ASCII_KEPT),
    "double": lambda value: quote(quote(value, safe="!~*'()"), safe=""),
}
"""`encodeURIComponent`, `URLSearchParams`, `encodeURI`, none, and the first of them twice.

Source: ECMA-262, 19.2.6; URL Standard, "application/x-www-form-urlencoded" and "path state".
"""
WHOLE = "url"
"""The coding of a value that is the whole URL, relative or not."""


def matching_codings(value: str, text: str) -> frozenset[str]:
    """Return the codings in which a value gives a text."""
    return frozenset(name for name, code in CODINGS.items() if code(value) == text)


class Hole(msgspec.Struct, frozen=True):
    """A place in a template.

    Attributes:
        source: Name of the value.
        coding: How it is written.
    """

    source: str
    coding: str = "component"


class PagePattern(msgspec.Struct, frozen=True):
    """Pages to which a template applies.

    Attributes:
        origin: Scheme and authority.
        prefix: First segments of the path.
        lengths: Numbers of segments, those of a route in the fragment included.
        has_slash: Whether the path, or the route, ends in a slash.
        shapes: Shapes of the URL; see `core.urlshape`. Empty: all.
    """

    origin: str
    prefix: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    has_slash: bool = False
    shapes: tuple[str, ...] = ()

    def matches(self, url: str) -> bool:
        """Return whether a page is such a page."""
        origin, steps, has_slash = page_steps(url)
        if origin != self.origin or has_slash != self.has_slash or len(steps) not in self.lengths:
            return False
        if steps[: len(self.prefix)] != self.prefix:
            return False
        return not self.shapes or shaped(url.partition("#")[0]).name in self.shapes


def page_steps(url: str) -> tuple[str, tuple[str, ...], bool]:
    """Return origin, segments of path and route, and whether a slash ends them."""
    document, mark, fragment = url.partition("#")
    parts = urlsplit(document)
    route = fragment.removeprefix("!").partition("?")[0]
    steps = tuple(part for part in parts.path.split("/") if part)
    if mark:
        steps += ("#", *(part for part in route.split("/") if part))
    last = route if mark else parts.path
    return f"{parts.scheme}://{parts.netloc}", steps, last.endswith("/") or not last


class RequestTemplate(msgspec.Struct, frozen=True):
    """Requests that pages of one pattern make.

    Attributes:
        method: `GET` or `HEAD`.
        parts: Literal text and holes, in order.
        pages: The pages.
        resource: As in `core.rendered.BrowserRequest`.
        after: Name of the template to whose JSON reply the holes refer; "" for the page.
        support: Pages that made such a request.
    """

    method: str
    parts: tuple[str | Hole, ...]
    pages: PagePattern
    resource: str = "fetch"
    after: str = ""
    support: int = 0

    @property
    def name(self) -> str:
        """The template, for people and as a key."""
        text = "".join(
            part if isinstance(part, str) else f"{{{part.source}}}" for part in self.parts
        )
        return f"{self.method} {text}" if self.method != "GET" else text

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Its holes, in order."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    def fill(self, url: str, values: Values) -> list[str]:
        """Return the URLs for the values of a page or reply; [] if one is missing.

        At most one hole may have several values.

        Args:
            url: URL of the page, which relative URLs resolve against.
            values: Values by source.
        """
        texts_of = [values.get(hole.source, ()) for hole in self.holes]
        if not all(texts_of) or sum(len(texts) > 1 for texts in texts_of) > 1:
            return []
        count = max(map(len, texts_of))
        rows = [texts * count if len(texts) == 1 else texts for texts in texts_of]
        urls = (self._url(url, row) for row in zip(*rows, strict=True))
        return list(dict.fromkeys(islice(filter(None, urls), MAX_REQUESTS)))

    def _url(self, page: str, texts: Sequence[str]) -> str:
        if self.holes[0].coding == WHOLE:
            url = join_url(page, texts[0])
            return normal_url(url) if url.startswith(("http://", "https://")) else ""
        pending = iter(texts)
        return normal_url(
            "".join(
                part if isinstance(part, str) else CODINGS[part.coding](next(pending))
                for part in self.parts
            )
        )


class RepeatedRequest(msgspec.Struct, frozen=True):
    """A request to make in place of a page's scripts.

    Attributes:
        method: `GET` or `HEAD`.
        url: Its URL.
        resource: As in `core.rendered.BrowserRequest`.
        template: Name of its template.
    """

    method: str
    url: str
    resource: str
    template: str


def repeat_page(
    templates: Iterable[RequestTemplate], url: str, values: Values
) -> list[RepeatedRequest]:
    """Return the requests of a page that was not run.

    Args:
        templates: The templates of the site.
        url: URL of the page.
        values: Its values; see `page_values`.
    """
    fitting = [item for item in templates if not item.after and item.pages.matches(url)]
    return _fill(fitting, url, values)


def follow_reply(
    templates: Iterable[RequestTemplate], page: str, request: RepeatedRequest, values: Values
) -> list[RepeatedRequest]:
    """Return the requests that the JSON reply to a repeated request leads to.

    Args:
        templates: The templates of the site.
        page: URL of the page.
        request: The repeated request.
        values: Values of its reply; see `reply_values`.
    """
    return _fill((item for item in templates if item.after == request.template), page, values)


def reply_values(text: str) -> Values:
    """Return the values of a JSON reply; {} for one that is too long, or no JSON."""
    return json_values("reply", text) if len(text) <= LONGEST_REPLY else {}


def _fill(templates: Iterable[RequestTemplate], url: str, values: Values) -> list[RepeatedRequest]:
    requests = {
        target: RepeatedRequest(item.method, target, item.resource, item.name)
        for item in templates
        for target in item.fill(url, values)
    }
    return list(requests.values())[:MAX_REQUESTS]
