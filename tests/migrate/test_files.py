"""Configurations in any encoding, whatever they declare."""

import pytest

from nacre.errors import ConfigError
from nacre_migrate.files import open_xml, read_lines

LINE = "国家图书馆互联网信息采集 政府公开信息与通知公告"


@pytest.mark.parametrize(
    ("declared", "saved"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("GBK", "gbk"),
        ("gb2312", "gbk"),
        ("GB18030", "gb18030"),
        ("Big5", "big5"),
        ("UTF-16", "utf-16"),
        ("", "utf-8"),
        ("", "utf-8-sig"),
        # What editors do: another encoding than the one that is declared.
        ("UTF-8", "gbk"),
        ("", "gbk"),
        ("GBK", "utf-8"),
        ("GBK", "utf-8-sig"),
        ("gb2312", "utf-8"),
    ],
)
def test_xml_is_read_as_it_was_saved(tmp_path, declared, saved):
    word = "國家圖書館網站典藏" if saved == "big5" else LINE
    head = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    file = tmp_path / "crawler-beans.cxml"
    file.write_bytes(f"{head}<!-- {word} -->\n<beans><a>{word}</a></beans>".encode(saved))
    root = open_xml(file)
    assert root.text_of("a") == word
    assert root.line == (3 if head else 2)


def test_other_single_byte_encodings_are_as_declared(tmp_path):
    file = tmp_path / "order.xml"
    file.write_bytes('<?xml version="1.0" encoding="ISO-8859-2"?><a>Žluťoučký</a>'.encode("l2"))
    assert open_xml(file).text == "Žluťoučký"


def test_what_is_no_xml_in_any_encoding(tmp_path):
    file = tmp_path / "order.xml"
    file.write_bytes(b"\xef\xbb\xbf<beans><\xff\xfe\xb0\xa1/>")
    with pytest.raises(ConfigError, match=r"order\.xml:1: not well-formed"):
        open_xml(file)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le"])
def test_lines_of_a_text(codec):
    lines, name = read_lines(f"http://a.example/\r\n# {LINE}\r\n".encode(codec))
    assert [line for line in lines if line] == ["http://a.example/", f"# {LINE}"]
    assert bool(name) is not codec.startswith("utf-8")
