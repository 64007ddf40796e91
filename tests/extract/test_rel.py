import pytest

from nacre.core.crawluri import Hop
from nacre.extract.rel import link_hop


@pytest.mark.parametrize(
    ("rel", "expected"),
    [
        ("stylesheet", (Hop.EMBED, "link[rel='stylesheet']/@href")),
        ("my StyleSheet rocks", (Hop.EMBED, "link[rel='stylesheet']/@href")),
        ("shortcut icon", (Hop.EMBED, "link[rel='icon']/@href")),
        ("preload", (Hop.EMBED, "link[rel='preload']/@href")),
        ("manifest", (Hop.EMBED, "link[rel='manifest']/@href")),
        ("canonical", (Hop.LINK, "link/@href")),
        ("next", (Hop.LINK, "link/@href")),
        ("dns-prefetch", None),
        ("preconnect pingback", None),
        ("preconnect next", (Hop.LINK, "link/@href")),
        ("", None),
        ("  ", None),
    ],
)
def test_hop_and_context(rel: str, expected: tuple[Hop, str] | None):
    assert link_hop(rel) == expected
