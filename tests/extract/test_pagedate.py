"""What a page says of its own last change."""

import time

import pytest

from nacre.extract.pagedate import page_date

DAY = 1_767_571_200
"""2026-01-05, 0 h UTC."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<script>{"dateModified" : "2026-01-05T00:00:00Z"}</script>', DAY),
        ('{"dateModified":"2026-01-05T08:00:00+08:00"}', DAY),
        ('<meta property="article:modified_time" content="2026-01-05T00:00:10+00:00">', DAY + 10),
        ("<META content='2026-01-05' name='Last-Modified' />", DAY),
        ('<meta name="dcterms.modified" content="2026/1/5 00:01">', DAY + 60),
        ('<meta name="og:updated_time" content="yesterday evening">', 0),
        ('{"dateModified":"2026-13-45"}', 0),
        ('<meta name="author" content="2026-01-05">', 0),
        ("no date at all", 0),
    ],
)  # fmt: skip
def test_dates(text: str, expected: int) -> None:
    assert page_date(text) == expected


def test_hostile_pages_are_read_in_linear_time() -> None:
    began = time.process_time()
    for piece in ('"dateModified"' + " " * 50, "<meta " + "a" * 300, '<meta name="x" ' * 2):
        assert page_date(piece * 5_000) == 0
    assert time.process_time() - began < 5.0
