from nacre.core.crawluri import Hop
from nacre.extract.html.table import CANDIDATES, PLAIN, URL, references


def test_rows_are_written_as_words():
    assert references("x", "src:E srcset:E* xlink:href:L") == (
        ("src", Hop.EMBED, "x/@src", URL),
        ("srcset", Hop.EMBED, "x/@srcset", CANDIDATES),
        ("xlink:href", Hop.LINK, "x/@xlink:href", URL),
    )


def test_contexts_name_element_and_attribute():
    for tag, rows in PLAIN.items():
        assert all(row.context == f"{tag}/@{row.attribute}" for row in rows)
