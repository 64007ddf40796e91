import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.xml_scan import (
    End,
    Stylesheet,
    XmlStart,
    attributes,
    date_text,
    root_name,
    scan,
    strip,
    unescape_xml,
)


def test_elements_text_and_cdata():
    source = "<A:r x='1'>t<b/><!-- <no> -->u<c>1 &lt;<![CDATA[ <2> ]]>3</c></A:r>"
    assert list(scan(source)) == [
        XmlStart("r", " x='1'", "", source.index("t<b/>")),
        XmlStart("b", "/", "t", source.index("<!--")),
        End("b", "", source.index("<!--")),
        XmlStart("c", "", "u", source.index("1 &lt;")),
        End("c", "1 < <2> 3", source.index("</c>")),
        End("r", "", source.index("</A:r>")),
    ]


def test_a_document_type_is_passed_over():
    source = """<?xml version="1.0"?><!DOCTYPE r PUBLIC "x>y" "http://a.test/dtd" [
      <!ENTITY a "<b>">]]><!ENTITY c SYSTEM 'file:///etc/passwd'> <!-- ]> don't -->
    ]><r>&a;&c;</r>"""
    start, end = list(scan(source))[-2:]
    assert isinstance(start, XmlStart)
    assert isinstance(end, End)
    assert (end.name, end.text) == ("r", "&a;&c;")


def test_an_entity_bomb_expands_to_nothing():
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(20))
    end = list(scan(f"<!DOCTYPE r [<!ENTITY e0 'x'>{entities}]><r>&e20;</r>"))[-1]
    assert isinstance(end, End)
    assert end.text == "&e20;"


def test_stylesheet_instruction():
    (sheet,) = scan("<?xml-stylesheet type='text/xsl' href=\"a.xsl\"?>")
    assert isinstance(sheet, Stylesheet)
    assert attributes(sheet.attributes)["href"] == "a.xsl"


def test_attributes():
    raw = " a='1' x:Href = \"b&amp;c\" href='2' xmlns:src='n' d e=f"
    assert attributes(raw) == {"a": "1", "href": "b&c"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("&amp;lt;&#65;&#x42;&quot;&apos;", "&lt;AB\"'"),
        ("&#xD800;&#0;&#9999999;", "\ufffd\ufffd\ufffd"),
        ("?a=1&copy=2&test;", "?a=1&copy=2&test;"),
    ],
)
def test_unescape(text, plain):
    assert unescape_xml(text) == plain


def test_strip_and_dates():
    assert strip("\xa0\u2000\u200b a\u200b \ufeff") == "a"
    assert date_text("2024\n-01" + "x" * 100) == "2024 -01" + "x" * 56


def test_root_name():
    assert root_name("junk <!-- <a> --><?x b?><x:Root/>") == "root"
    assert root_name("no element") == ""


_PIECES = ["<", ">", "<a ", "</", "/>", '"', "'", "=", "<!--", "-->", "-", "<![CDATA[", "]]>", "]"]
_PIECES += ["<!DOCTYPE a [", "<?", "<?xml-stylesheet ", "?>", "&", "&#", "a:", " ", "<!ENTITY", "x"]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_no_nonsense_raises(source):
    for event in scan(source):
        assert event.attributes is not None if not isinstance(event, End) else event.name
        if not isinstance(event, End):
            attributes(event.attributes)


@pytest.mark.parametrize("piece", [*_PIECES, "<a b='", '<a b="<', "<a><b>", "a ='", "<![CDATA[]"])
def test_large_hostile_documents_are_read_in_linear_time(piece):
    source = "<first/>" + piece * (400_000 // len(piece))
    assert next(iter(scan(source))) == XmlStart("first", "/", "", 8)
    assert sum(1 for _ in scan(source)) >= 2
    attributes(source)
