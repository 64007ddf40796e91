"""What a `rel` says about the target of a link, in HTML and in the `Link` header."""

from functools import lru_cache

from nacre.core.crawluri import Hop
from nacre.extract.html_table import EMBEDDED_RELS, HINT_RELS


@lru_cache(maxsize=512)
def link_hop(rel: str) -> tuple[Hop, str] | None:
    """Hop and link context of a `link` element by its `rel`; None when it names no resource.

    Embeds beat links beat hints: `stylesheet` among the words makes an embed.
    """
    words = rel.lower().split()
    for word in EMBEDDED_RELS:
        if word in words:
            return Hop.EMBED, f"link[rel='{word}']/@href"
    if all(word in HINT_RELS for word in words):
        return None
    return Hop.LINK, "link/@href"
