"""Directives for robots on a page: `<meta name="robots">` and `X-Robots-Tag`."""

from collections.abc import Sequence

NOFOLLOW = frozenset(("nofollow", "none"))
"""Directives that ask for no links to be taken."""

_TAG = b"x-robots-tag"
_SIZE = len(_TAG)
_VALUED = frozenset(
    (
        *("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"),
        *("googleoff", "googleon"),
    )
)


def directives(value: str) -> set[str]:
    """The directives of a meta `content` or of one header value without an agent, lower case."""
    found = {word.strip().lower() for word in value.replace(";", ",").split(",")}
    found.discard("")
    return found


def header_directives(headers: Sequence[tuple[bytes, bytes]], agent: str) -> set[str]:
    """Directives of all `X-Robots-Tag` headers that concern everyone or `agent` (product token).

    A value may begin `agent:`; it then speaks to that agent up to its end.
    Source: the X-Robots-Tag specification of Google, the one that sites write for.
    """
    found: set[str] = set()
    for name, raw in headers:
        if len(name) != _SIZE or name.lower() != _TAG:
            continue
        value = raw.decode("latin-1")
        first, colon, rest = value.partition(":")
        token = first.strip().lower()
        if not colon or "," in first or token in _VALUED:
            found |= directives(value)
        elif token in {agent.lower(), "*"}:
            found |= directives(rest)
    return found
