import pytest

from nacre.web.gate import LOOPBACK, is_our_host, is_same_origin

NAMES = frozenset((*LOOPBACK, "crawler.example.org"))


@pytest.mark.parametrize(
    ("field", "ours"),
    [
        ("localhost", True),
        ("localhost:8410", True),
        ("LOCALHOST:8410", True),
        ("127.0.0.1:8410", True),
        ("[::1]", True),
        ("[::1]:8410", True),
        ("crawler.example.org", True),
        ("", False),
        ("evil.example", False),
        ("evil.example:8410", False),
        ("localhost.evil.example", False),
        ("localhost:8410.evil.example", False),
        ("localhost:", True),
        ("127.0.0.1.evil.example:8410", False),
        ("[::2]:8410", False),
        ("localhost@evil.example", False),
    ],
)
def test_asvs_3_4_only_our_own_names_are_answered(field: str, ours: bool):
    assert is_our_host(field, NAMES) is ours


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://localhost:8410"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"origin": "http://localhost:8410"}, True),
        ({"origin": "http://localhost:8411"}, False),
        ({"origin": "https://localhost:8410"}, False),
        ({"origin": "null"}, False),
        ({}, False),
    ],
)
def test_asvs_3_5_only_our_own_pages_change_something(fields: dict[str, str], same: bool):
    assert is_same_origin(fields, "http://localhost:8410") is same
