import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.request import header_lines, request_head


def test_a_request_is_written_as_given() -> None:
    lines = header_lines([("Host", "a.example"), ("X-Name", "b c"), ("X-Text", "ä")])
    assert request_head("GET", "/a?b=%20", lines) == (
        b"GET /a?b=%20 HTTP/1.1\r\nHost: a.example\r\nX-Name: b c\r\nX-Text: \xc3\xa4\r\n\r\n"
    )


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "a\rb", "a\0"])
def test_no_value_begins_a_line(value: str) -> None:
    with pytest.raises(ValueError, match="CR, LF or NUL"):
        header_lines([("X", value)])


@pytest.mark.parametrize("name", ["", "A B", "A:", "A\r\n", "Ä"])
def test_a_name_is_a_token(name: str) -> None:
    with pytest.raises(ValueError, match="not a header name"):
        header_lines([(name, "x")])


@pytest.mark.parametrize("target", ["", "/a b", "/a\r\nX: y", "/\0", "/\t", "/\x7f"])
def test_a_target_has_no_blanks_and_controls(target: str) -> None:
    with pytest.raises(ValueError, match="not a request target"):
        request_head("GET", target, b"")


def test_a_method_is_a_token() -> None:
    with pytest.raises(ValueError, match="not a method"):
        request_head("GET /x HTTP/1.1\r\nX:", "/", b"")


@given(st.text(), st.text(), st.text())
def test_whatever_is_sent_is_one_request_with_one_field(target: str, name: str, value: str) -> None:
    try:
        head = request_head("GET", target, header_lines([(name, value)]))
    except ValueError:
        return
    assert head.count(b"\r\n") == 3
    assert head.count(b"\n") == 3
    assert head.count(b" HTTP/1.1\r\n") >= 1
    assert head.split(b"\r\n")[0].count(b" ") == 2
