import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.charset import HEAD, PRESCAN, decode, detect

META = b'<meta charset="koi8-r">'


@pytest.mark.parametrize(
    ("head", "header", "answer"),
    [
        (b"\xef\xbb\xbf" + META, "gbk", ("utf-8", "bom")),
        (b"\xfe\xff\0a", None, ("utf-16-be", "bom")),
        (b"\xff\xfea\0", None, ("utf-16-le", "bom")),
        (META, "GB2312", ("gbk", "header")),
        (META, '"utf-8"', ("utf-8", "header")),
        (META, "no-such", ("koi8-r", "meta")),
        (META, "", ("koi8-r", "meta")),
        (b"<?xml version='1.0' encoding='windows-1251'?><a/>", None, ("cp1251", "xml")),
        (b"<?xml encoding='nope'?><a/>", None, ("cp1252", "default")),
        (b'<?xml encoding="utf-8"?>' + META, None, ("koi8-r", "meta")),
        (b"<\0?\0x\0m\0l\0", None, ("utf-16-le", "xml")),
        (b"", None, ("cp1252", "default")),
        (b"plain", None, ("cp1252", "default")),
        ("é".encode(), None, ("utf-8", "detected")),
        (b"<?xml version='1.0'encoding='gbk'?><a/>", None, ("gbk", "xml")),
        (b" " * 5000 + "é".encode(), None, ("utf-8", "detected")),
        ("aé".encode() * 9 + b"\xe4\xb8", None, ("utf-8", "detected")),
        (b"\xe9t\xe9", None, ("cp1252", "detected")),
    ],
)
def test_the_order_of_the_sources(head, header, answer):
    assert detect(head, header) == answer


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"<META CHARSET=Big5>", "big5hkscs"),
        (b"<meta/charset=big5 />", "big5hkscs"),
        (b"<meta name=x content='charset=big5'>", None),
        (b"<meta http-equiv=Content-Type content='text/html; charset=big5'>", "big5hkscs"),
        (b"<meta content='x; CHARSET = \"big5\"' http-equiv=content-type>", "big5hkscs"),
        (b"<meta http-equiv=content-type content='charset charset=big5;q'>", "big5hkscs"),
        (b"<meta charset=nope><meta charset=big5>", "big5hkscs"),
        (b"<meta charset=nope charset=big5>", None),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", "big5hkscs"),
        (b"<!--><meta charset=big5>", "big5hkscs"),
        (b"<a title='<meta charset=gbk>'><meta charset=big5>", "big5hkscs"),
        (b'<a title="x>" \'><meta charset=big5>', "big5hkscs"),
        (b"</a b='<meta charset=gbk>'><meta charset=big5>", "big5hkscs"),
        (b"<!x <meta charset=gbk>", None),
        (b"<metax charset=gbk>", None),
        (b"<meta charset=gbk", None),
        (b"<meta charset='gbk>", None),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "cp1252"),
        (b" " * 2000 + b"<meta charset=gbk>", "gbk"),
        (b" " * (PRESCAN - 9) + b"<meta charset=gbk>", "gbk"),
        (b" " * PRESCAN + b"<meta charset=gbk>", "gbk"),
        (b" " * HEAD + b"<meta charset=gbk>", None),
        (b"<meta/a='><meta charset=gbk>", None),
        (b"<meta http-equiv=content-type content='charset=;charset=gbk'>", None),
        (b"<meta http-equiv=content-type content='charset=\"gbk;charset=gbk'>", None),
    ],
)
def test_prescan(head, codec):
    assert detect(head, None) == ((codec, "meta") if codec else ("cp1252", "default"))


@pytest.mark.parametrize(
    "head",
    [
        *(b"<!--" * 1024, b"<meta " * 700, b"<a b=" * 800, b"<a '" * 1024, b"<" * 4096),
        *(b"<meta charset=" + b"'" * 4000, b"<?xml encoding" * 300, b"<meta " + b"a=b " * 1000),
    ],
)
def test_hostile_heads_end_quickly(head):
    assert detect(b"charset" + head, None)[1] in ("default", "meta")


@given(st.binary(max_size=60), st.one_of(st.none(), st.text(max_size=12)))
def test_any_bytes_have_an_encoding_and_become_text(data, header):
    codec, _ = detect(b"<meta charset=" + data, header)
    assert isinstance(decode(data, codec), str)


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"\xef\xbb\xbfa", "utf-8", "a"),
        (b"\xff\xfea\0", "utf-16-le", "a"),
        (b"\xff\xfea", "utf-16-le", "\ufffd"),
        (b"a\xff", "UTF8", "a\ufffd"),
        (b"\x94\x39\xda\x33", "gbk", "💩"),
        (b"\x80", "iso-8859-1", "€"),
        (b"\x81\x8d", "iso-8859-1", "\x81\x8d"),
        (b"\x80\xa6\xd9\xfeY\xa8\xbc\xa3\xa0", "gbk", "€\ufe10\u9fb4ḿ\u3000"),
        (b"\x815\xf47", "gb18030", "\ue7c7"),
        (b"\xae\xbe", "koi8-u", "ўЎ"),
        (b"\xa2\xb6\xff", "x-mac-cyrillic", "Ґґ€"),
        (b"\xca", "windows-1255", "\u05ba"),
        (b"\xa1\xc1\xa1\xdd\xad\xa1\xfc\xf1", "euc-jp", "\uff5e\uff0d①\u2170"),
        (b"\x8f\xa2\xc3\x8e\xb1", "euc-jp", "¦\uff71"),
        (b"\x1b$B!A-!\x1b(Ba\x0e\x1b(J\\", "iso-2022-jp", "\uff5e①a\ufffd¥"),
        (b"\xa1\x45\xa3\xe1\x87\xa3", "big5", "\u2027€\u7afc"),
        (b"\xa0\xfd", "shift_jis", "\ufffd\ufffd"),
        (b"a", "no-such", "a"),
        (b"a", "hex", "a"),
        (b"a", "undefined", "a"),
        (b"a", "\x00", "a"),
        (b"", "", ""),
    ],
)
def test_decoding_never_fails(data, charset, text):
    assert decode(data, charset) == text


def test_what_was_learned_of_one_beginning_is_no_answer_for_another():
    latin = b"<!doctype html><meta charset=latin1>"
    assert detect(latin + b"<p>", None) == ("cp1252", "meta")
    assert detect(latin + b"<meta charset=gbk>", None) == ("cp1252", "meta")
    assert detect(b"<!--" + latin + b"--><meta charset=gbk>", None) == ("gbk", "meta")
    for number in range(40):
        assert detect(b"<!--%d-->" % number + latin, None) == ("cp1252", "meta")
    assert detect(latin, None) == ("cp1252", "meta")


def test_the_japanese_encodings_have_one_table():
    """All of JIS X 0208 with the rows of NEC and IBM: Python's table of Shift_JIS has them too."""
    for row, cell in itertools.product(range(94), repeat=2):
        lead, trail = divmod(row * 94 + cell, 188)
        shifted = (lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41))
        char = bytes(shifted).decode("cp932", "replace")
        if char.startswith("\ufffd") or "\ue000" <= char <= "\uf8ff":
            continue
        assert decode(bytes((row + 0xA1, cell + 0xA1)), "euc-jp") == char
        assert decode(b"\x1b$B%c%c" % (row + 0x21, cell + 0x21), "iso-2022-jp") == char
