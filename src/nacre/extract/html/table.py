"""The attributes of HTML elements that contain links: a table, as data.

Source: Heritrix's ExtractorHTML, with its gaps closed; the HTML Standard.
"""

from functools import lru_cache
from typing import NamedTuple

from nacre.core.crawluri import Hop

URL, CANDIDATES = 0, 1
"""How a value is written: one URL, or a `srcset`."""


class Reference(NamedTuple):
    """An attribute that refers to something.

    Attributes:
        attribute: Its name.
        hop: What the reference is.
        context: Link context, such as `img/@src`.
        form: `URL` or `CANDIDATES`.
    """

    attribute: str
    hop: Hop
    context: str
    form: int


_FORMS = {"": URL, "*": CANDIDATES}
_HOPS = {"L": Hop.LINK, "E": Hop.EMBED, "X": Hop.SPECULATIVE}


@lru_cache(maxsize=1024)
def references(tag: str, spec: str) -> tuple[Reference, ...]:
    """Rows of one element from words such as `src:E` or `srcset:E*`."""
    rows = []
    for word in spec.split():
        attribute, _, kind = word.rpartition(":")
        form = _FORMS[kind[1:]]
        rows.append(Reference(attribute, _HOPS[kind[0]], f"{tag}/@{attribute}", form))
    return tuple(rows)


_IMAGE = "src:E srcset:E* lowsrc:E dynsrc:E longdesc:E usemap:E"
_SVG = "href:E xlink:href:E"

_ELEMENTS = {
    "audio": "src:E",
    "bgsound": "src:E",
    "blockquote": "cite:L",
    "body": "background:E",
    "command": "icon:E",
    "cursor": _SVG,
    "del": "cite:L",
    "feImage": _SVG,
    "feimage": _SVG,
    "filter": _SVG,
    "head": "profile:E",
    "html": "manifest:E",
    "image": f"{_IMAGE} {_SVG}",
    "img": _IMAGE,
    "ins": "cite:L",
    "lineargradient": _SVG,
    "linearGradient": _SVG,
    "mpath": _SVG,
    "pattern": _SVG,
    "portal": "src:E",
    "q": "cite:L",
    "radialgradient": _SVG,
    "radialGradient": _SVG,
    "source": "src:E srcset:E*",
    "textpath": _SVG,
    "textPath": _SVG,
    "track": "src:E",
    "use": _SVG,
    "video": "src:E poster:E",
}

PLAIN: dict[str, tuple[Reference, ...]] = {
    tag: references(tag, spec) for tag, spec in _ELEMENTS.items()
}
"""Elements that need no more than their table row."""

SVG_REFERENCES = frozenset(
    tag for tag, spec in _ELEMENTS.items() if spec.endswith(_SVG) and tag != "a"
)
"""Elements whose reference to the document itself (`#id`) is not a link."""

ODD = (
    "src:E srcset:E* background:E href:L cite:L poster:E lowsrc:E longdesc:E usemap:E profile:E "
    "datasrc:E"
)
"""What the attributes mean on elements of any other name."""

LAZY_URLS = frozenset(
    (
        *("data-src", "data-original", "data-lazy", "data-full-src", "data-lazy-src"),
        *("data-bg", "data-background", "data-background-image", "data-poster"),
        *("data-image", "data-img", "data-large-src", "data-hi-res-src"),
        *("data-original-src", "data-actualsrc", "data-thumb"),
    )
)
"""Attributes by which scripts load a picture later; some sites put several URLs in."""

LAZY_SETS = frozenset(
    (
        *("data-srcset", "data-lazy-srcset", "data-original-set", "data-src-small"),
        *("data-src-medium", "data-src-large", "data-bgset", "data-original-srcset"),
    )
)
"""The same with candidates."""

EMBEDDED_METAS = (
    *("og:image", "og:video", "og:audio", "twitter:image", "twitter:player:stream"),
    *("msapplication-tileimage", "msapplication-square", "msapplication-wide"),
    *("thumbnail",),
)
"""Beginnings of meta names and properties whose content is part of the page."""

PROSE_METAS = frozenset(
    (
        *("viewport", "description", "generator", "keywords", "author", "date", "robots"),
        *("theme-color", "og:title", "og:description", "og:type", "og:site_name"),
        *("twitter:card", "twitter:title", "twitter:description", "format-detection"),
        *("color-scheme", "referrer", "copyright"),
    )
)
"""Meta names whose content is not a URI."""
