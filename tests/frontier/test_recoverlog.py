import pytest

from nacre.frontier.recoverlog import JournalLine, Tag, line_of, parse_line


@pytest.mark.parametrize(
    ("line", "parsed"),
    [
        ("http://a/", JournalLine("http://a/")),
        ("F+ http://a/", JournalLine("http://a/", Tag.ADDED)),
        ("F+ http://a/  ", JournalLine("http://a/", Tag.ADDED)),
        ("F+ http://a/ LE", JournalLine("http://a/", Tag.ADDED, "LE")),
        ("F+ http://a/ http://v/", JournalLine("http://a/", Tag.ADDED, "", "http://v/")),
        ("Fs http://a/ L http://v/", JournalLine("http://a/", Tag.SUCCEEDED, "L", "http://v/")),
        ("Fe http://a/", JournalLine("http://a/", Tag.EMITTED)),
        ("Fi http://a/", JournalLine("http://a/", Tag.INCLUDED)),
        ("Fr http://a/", JournalLine("http://a/", Tag.RESCHEDULED)),
        ("Fx http://a/", None),
        ("T 20261120151100", None),
        ("# comment", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_lines(line: str, parsed: JournalLine | None) -> None:
    assert parse_line(line) == parsed


@pytest.mark.parametrize(("path", "via"), [("", ""), ("LLE", "http://v/"), ("", "http://v/")])
def test_what_is_written_is_read(path: str, via: str) -> None:
    for tag in (Tag.ADDED, Tag.SUCCEEDED, Tag.FAILED, Tag.DISREGARDED):
        written = line_of(tag, "http://a/", path, via)
        assert parse_line(written) == JournalLine("http://a/", tag, path, via)
