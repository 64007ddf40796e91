import pytest

from nacre.extract.robots_meta import directives, header_directives


def test_directives_are_split_and_lower_case():
    assert directives(" NoIndex, nofollow;;max-snippet:5 ") == {
        "noindex",
        "nofollow",
        "max-snippet:5",
    }


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["noindex"], {"noindex"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["googlebot: nofollow"], set()),
        (["Nacre: nofollow, noindex"], {"nofollow", "noindex"}),
        (
            ["unavailable_after: 25 Jun 2010 15:00:00 PST"],
            {"unavailable_after: 25 jun 2010 15:00:00 pst"},
        ),
        (["noindex, max-snippet: 3"], {"noindex", "max-snippet: 3"}),
        ([], set()),
    ],
)
def test_headers_speak_to_all_or_to_one_agent(values: list[str], found: set[str]):
    headers = [(b"X-Robots-Tag", value.encode()) for value in values] + [(b"Server", b"nofollow")]
    assert header_directives(headers, "nacre") == found
