"""When a client has the present content, and the answers with validators."""

import pytest

from nacre.web.conditional import is_current, validated_answer

TAG, TIME = '"abc"', 1_700_000_000.0
THEN, LATER = "Tue, 14 Nov 2023 22:13:20 GMT", "Wed, 15 Nov 2023 22:13:20 GMT"
BEFORE = "Tue, 14 Nov 2023 22:13:19 GMT"


@pytest.mark.parametrize(
    ("fields", "is_same"),
    [
        ({}, False),
        ({"if-none-match": TAG}, True),
        ({"if-none-match": f'"x", W/{TAG}'}, True),
        ({"if-none-match": "*"}, True),
        ({"if-none-match": '"x"'}, False),
        ({"if-none-match": "abc"}, False),
        ({"if-none-match": '"x"', "if-modified-since": LATER}, False),  # the ETag decides
        ({"if-modified-since": THEN}, True),
        ({"if-modified-since": LATER}, True),
        ({"if-modified-since": BEFORE}, False),
        ({"if-modified-since": "soon"}, False),
    ],
)
def test_what_a_client_has(fields: dict[str, str], is_same: bool):
    assert is_current(fields, TAG, TIME) is is_same


def test_a_body_is_sent_once():
    first = validated_answer({}, b"feed", "text/plain", TIME, TIME + 9)
    assert (first.status_code, first.body) == (200, b"feed")
    assert first.headers["last-modified"] == THEN
    known = {"if-none-match": first.headers["etag"]}
    again = validated_answer(known, b"feed", "text/plain", TIME, TIME + 9)
    assert (again.status_code, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = validated_answer(known, b"more", "text/plain", TIME, TIME + 9)
    assert (other.status_code, other.body) == (200, b"more")


def test_a_time_to_come_is_the_present():
    answer = validated_answer({}, b"", "text/plain", TIME + 99, TIME)
    assert answer.headers["last-modified"] == THEN
