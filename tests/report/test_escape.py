import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.report.escape import flat, safe, visible


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "-"),
        ("plain", "plain"),
        ("a b", "a%20b"),
        ("a\r\nb\tc\0", "a%0D%0Ab%09c%00"),
        ("caf\xe9", "caf\xe9"),
        ("a\xa0b", "a%C2%A0b"),
        ("a\x85b\u2028c\u3000d", "a%C2%85b%E2%80%A8c%E3%80%80d"),
        ("100%", "100%"),
    ],
)
def test_a_field(text: str, field: str):
    assert safe(text) == field


@given(st.text())
def test_a_field_is_one_word_on_one_line(text: str):
    field = safe(text)
    assert field.split() == [field]
    assert field.splitlines() == [field]


@given(st.text())
def test_a_flat_text_is_one_line(text: str):
    assert len(flat(text).splitlines()) <= 1
    assert flat(text) == " ".join(flat(text).split())


def test_a_visible_line_keeps_its_indentation():
    assert visible("    File\x1b[31m") == "    File [31m"
    assert visible("    plain") == "    plain"
