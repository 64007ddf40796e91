import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.migrate.heritrix.properties import read_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [("a", "b", 1)]),
        ("\n# c\n! d\n  a = b \n", [("a", "b ", 4)]),
        ("a: b\nc d", [("a", "b", 1), ("c", "d", 2)]),
        ("a=b\\\n   c\nd=e", [("a", "bc", 1), ("d", "e", 3)]),
        ("a=b\\\\\nd=e", [("a", "b\\", 1), ("d", "e", 2)]),
        ("a\\=b=c", [("a=b", "c", 1)]),
        ("a=\\u4e2d\\tb", [("a", "中\tb", 1)]),
        ("a", [("a", "", 1)]),
        ("a=b\r\nc=d", [("a", "b", 1), ("c", "d", 2)]),
        ("a=b\\", [("a", "b", 1)]),
        ("", []),
    ],
)
def test_property_lists(text, expected):
    assert [(key, value, line + 1) for key, value, line in read_properties(text)] == expected


@given(st.text("ab=:# \\\n!u0", max_size=40))
def test_any_text_is_read(text):
    lines = [line for _, _, line in read_properties(text)]
    assert lines == sorted(lines)
    assert all(0 <= line <= text.count("\n") for line in lines)
