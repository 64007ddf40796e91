"""What a rule may know of a URI, and tests on hop paths."""

import pytest
from msgspec import structs

from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.scope.subject import (
    MAX_REDIRECTS,
    OWN_SCOPE,
    UNKNOWN_TYPE,
    Facts,
    head_facts,
    is_embed,
    is_transcluded,
    link_hops,
    subject_of,
    subject_of_link,
)


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
    assert is_transcluded(path, 2, 1) is expected


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


def visit(**facts: object) -> Visit:
    uri = CrawlURI("https://a.test/x", b"k" * 8, "test,a,", path="L", attempts=2)
    made = Visit(uri, status=200)
    for name, value in facts.items():
        setattr(made, name, value)
    return made


def test_before_a_reply_only_the_address_is_known():
    subject = subject_of(visit(status=0), "192.0.2.1")
    assert subject.surt == "http://(test,a,)/x"
    assert subject.facts == Facts(
        queue="test,a,", precedence=1, attempts=2, address="192.0.2.1", content_type=UNKNOWN_TYPE
    )


@pytest.mark.parametrize(
    ("length", "read"), [(b" 12 ", 12), (b"x", None), (b"-1", None), (b"9" * 19, None)]
)
def test_the_head_of_a_reply_says_type_and_length(length: bytes, read: int | None):
    headers = [(b"Content-Type", b"text/html"), (b"CONTENT-LENGTH", length)]
    facts = head_facts(visit(), "192.0.2.1", 404, headers)
    assert (facts.status, facts.content_type, facts.header_length) == (404, "text/html", read)
    capture = Capture(
        "https://a.test/x", b"", b"", BytesBody(b""), 404, headers=headers, payload_length=7,
        address="192.0.2.2",
    )  # fmt: skip
    known = subject_of(visit(capture=capture, status=404), "192.0.2.1").facts
    assert (known.address, known.header_length, known.received) == ("192.0.2.2", read, 7)
    assert not known.identical


def test_a_seed_with_a_scope_of_its_own_is_known_to_its_descendants():
    made = visit()
    made.uri = structs.replace(made.uri, heritable={OWN_SCOPE: "http://a.test/"})
    assert subject_of_link(made).seed == "http://a.test/"
    assert subject_of_link(visit()).seed == ""
