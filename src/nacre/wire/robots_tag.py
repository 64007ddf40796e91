"""Directives for robots: the value of `X-Robots-Tag`, and of `content` of a meta element. Pure.

Source: the specification of Google, which sites follow.
"""

PREFERENCE_METAS = frozenset(("noai", "noimageai", "tdm-reservation", "tdm-policy"))
"""Names of meta elements, beside `robots`, in which a page states preferences on its use."""
LICENSE_LINK = "link"
"""Name under which the target of a `link` with `rel=license` is collected with these."""
RSL_LINK = "link-rsl"
"""The same of a license file (RSL)."""
RSL_MEDIA = "application/rsl+xml"
"""Media type of license files."""

_VALUED = frozenset(
    (
        *("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"),
        *("googleoff", "googleon"),
    )
)


def directives(value: str) -> set[str]:
    """The directives of a meta `content` or of one header value without an agent, lower case."""
    words = {word.strip().lower() for word in value.replace(";", ",").split(",")}
    words.discard("")
    return words


def tag_value(value: str, agent: str) -> str | None:
    """Return the directives of an `X-Robots-Tag` for a crawler; None if it addresses another.

    A value may begin `agent:`; it then speaks to that agent up to its end.

    Args:
        value: One header value.
        agent: Product token of the crawler.
    """
    first, colon, agent_value = value.partition(":")
    token = first.strip().lower()
    if not colon or "," in first or token in _VALUED:
        return value
    return agent_value if token in {agent.lower(), "*"} else None
