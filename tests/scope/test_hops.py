"""Tests on hop paths."""

import pytest

from nacre.scope.hops import MAX_REDIRECTS, is_embed, link_hops, transcluded


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", False),
        ("L", False),
        ("LE", True),
        ("LEE", True),
        ("LEEE", False),
        ("LR", True),
        ("LERE", True),
        ("LX", True),
        ("LXX", False),
        ("LXE", True),
        ("EEL", False),
        ("E", True),
        ("L" + "R" * MAX_REDIRECTS, True),
        ("L" + "R" * (MAX_REDIRECTS + 1), False),
        ("7+" + "R" * 50, False),
    ],
)
def test_a_short_way_from_a_page(path: str, expected: bool):
    assert transcluded(path, 2, 1) is expected


def test_link_hops_and_embeds():
    assert [link_hops(path) for path in ("", "LEL", "LMS", "3+LL")] == [0, 2, 3, 5]
    assert [is_embed(path) for path in ("", "L", "LE", "LER", "LP", "LR")] == [
        False,
        False,
        True,
        True,
        True,
        False,
    ]
