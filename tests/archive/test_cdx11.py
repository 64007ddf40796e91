import pytest

from nacre.archive.cdx11 import cdx11_line

LINE = (
    'test,h)/a 20261123120000 {"url": "http://h.test/a", "mime": "text/html", "status": "200", '
    '"digest": "sha1:ABC", "length": "10", "offset": "5", "filename": "x.warc.gz"}\n'
)


def test_a_line_has_eleven_fields():
    made = cdx11_line(LINE)
    assert made == ("test,h)/a 20261123120000 http://h.test/a text/html 200 ABC - - 10 5 x.warc.gz")
    bare = cdx11_line(LINE.replace('"mime": "text/html", "status": "200", ', ""))
    assert bare.split(" ")[3:6] == ["-", "-", "ABC"]
    other = cdx11_line(LINE.replace("sha1:", "sha256:"))
    assert other.split(" ")[5] == "sha256:ABC"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('http://h.test/a"', 'http://h.test/a b\u3000c"'),
        ("text/html", "text/html x\\ny"),
        ("x.warc.gz", "图 书.warc.gz"),
    ],
)
def test_no_value_makes_a_field_or_a_line_of_its_own(old: str, new: str):
    made = cdx11_line(LINE.replace(old, new))
    assert len(made.split()) == 11
    assert made.isprintable()


@pytest.mark.parametrize("line", ["", "x", "key 2026 {", "key 2026 []", "key x {}", "a 2026 {}"])
def test_what_is_no_line_gives_none(line: str):
    assert cdx11_line(line) == ""
