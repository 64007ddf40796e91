import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.uri.query import encode_query, encoder_of, needs_encoding, query_codec, reader_of
from nacre.wire.guess import codec_of


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        *(("gbk", "gbk"), ("GB2312", "gb2312"), ("utf-8", ""), ("UTF8", ""), ("utf-16-be", "")),
        *(("base64", ""), ("", ""), ("\x00", "")),
        *(("hz", ""), ("iso2022_kr", "")),
    ],
)
def test_codecs(encoding, codec):
    assert query_codec(encoding) == codec


def test_only_queries_beyond_ascii_are_encoded():
    assert needs_encoding("a?é", "cp1252")
    assert needs_encoding("a?b", "iso2022_jp"), "control characters mean something to it"
    assert not needs_encoding("é", "cp1252")
    assert not needs_encoding("a?b", "cp1252")
    assert not needs_encoding("a?é", "")


def test_what_is_escaped():
    assert encode_query("a b'\"<>%41&é=~", "cp1252") == "a%20b%27%22%3C%3E%41&%E9=~"
    assert encode_query("\x0e", "iso2022_jp") == "%26%2365533%3B"
    assert encode_query("中文", "cp1252") == "%26%2320013%3B%26%2325991%3B"


@pytest.mark.parametrize(
    ("codec", "query", "sent"),
    [
        ("cp1252", "\u20ac\x81\x80", "%80%81%26%23128%3B"),
        ("cp1251", "\x98\xa5", "%98%26%23165%3B"),
        ("iso8859-2", "\xa2\x81", "%26%23162%3B%81"),
        ("cp949", "\ub620\x80", "%8Cc%26%23128%3B"),
        (
            "gbk",
            "\u20ac\u4e2d\U00020000\ue5e5\u01f9\u1e3f",
            "%80%D6%D0%26%23131072%3B%26%2358853%3B%A8%BF%A8%BC",
        ),
        ("gb18030", "\ufe10\ue78d\u9fb4\ue7c7", "%A6%D9%A6%D9%FEY%815%F47"),
        ("koi8-u", "\u045e\u255d", "%AE%26%239565%3B"),
        ("cp1255", "\u05ba\x81", "%CA%81"),
        ("big5hkscs", "\u2027\u2400\u20ac\u2022", "%A1E%A3%C0%A3%E1%26%238226%3B"),
        ("gb18030", "\u20ac\U00020000\ue5e5", "%A2%E3%952%826%26%2358853%3B"),
        ("big5hkscs", "\u4e2d\u35ce\xe9\u5341\u2550", "%A4%A4%26%2313774%3B%26%23233%3B%A4Q%F9%F9"),
        ("cp932", "\u2212\uff0d\uff5e\xa5\u203e\uff71\x80", "%81|%81|%81`\\~%B1%80"),
        ("cp932", "\u2170\u7e8a\ue000\xa0", "%FA@%FA\\%26%2357344%3B%26%23160%3B"),
        (
            "euc_jp",
            "\uff5e\u2460\u2170\u4e02\xa5\uff71",
            "%A1%C1%AD%A1%FC%F1%26%2319970%3B\\%8E%B1",
        ),
        ("iso2022_jp", "a\u65e5\uff71\xe9b", "a%1B$BF|%%22%1B(B%26%23233%3Bb"),
        ("iso2022_jp", "\u203ea~\xe9\\", "%1B(J~a%1B(B~%26%23233%3B\\"),
        ("iso2022_jp", "\xa5\xe9\u65e5", "%1B(J\\%26%23233%3B%1B$BF|%1B(B"),
    ],
)
def test_the_bytes_are_those_of_a_browser(codec, query, sent):
    """Encoding Standard 9 to 13, where Python's codecs have more, less or other characters."""
    assert encode_query(query, codec) == sent


_SINGLE = (
    *(f"iso-8859-{part}" for part in (*range(1, 9), *range(10, 17)) if part != 12),
    *(f"windows-{page}" for page in (874, *range(1250, 1259))),
    *("ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic"),
)
_DOUBLE = ("big5", "euc-jp", "euc-kr", "gb18030", "gbk", "shift_jis")


@pytest.mark.parametrize("label", [*_SINGLE, *_DOUBLE])
def test_what_is_written_is_read_as_the_same(label):
    codec = codec_of(label)
    encoder = encoder_of(codec)
    written = {char: encoder(char) for char in map(chr, range(0x80, 0x10000))}
    otherwise = set("\xa5\u203e\u2212") if label in ("euc-jp", "shift_jis") else set()
    otherwise |= set(_PRIVATE) if label.startswith("gb") else set()
    wrong = [
        char
        for char, data in written.items()
        if data is not None and char not in otherwise and data.decode(reader_of(codec)) != char
    ]
    assert not wrong
    assert sum(data is not None for data in written.values()) > (7_000 if label in _DOUBLE else 60)


@pytest.mark.parametrize("label", _SINGLE)
def test_every_byte_that_is_read_is_written_again(label):
    codec = codec_of(label)
    for byte in range(0x80, 0x100):
        char = bytes((byte,)).decode(reader_of(codec))
        assert char == "\ufffd" or encoder_of(codec)(char) == bytes((byte,))


_PRIVATE = (
    "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864"
)
"""What gb18030 had for characters that Unicode did not have yet; they are still written so."""


def test_private_characters_of_old_gb18030_keep_their_bytes():
    encoder = encoder_of("gb18030")
    written = {encoder(char) or b"" for char in _PRIVATE}
    read = {data.decode(reader_of("gb18030")) for data in written}
    assert {len(data) for data in written} == {2}
    assert len(read) == len(_PRIVATE)
    assert not read & set(_PRIVATE)
    assert written == {encoder(char) for char in read}


@given(
    st.text(max_size=30),
    st.sampled_from(["gb18030", "iso2022_jp", "cp1251", "cp949", "gbk", "euc_jp"]),
)
def test_any_text_becomes_plain_ascii(text, codec):
    encoded = encode_query(text, codec)
    assert encoded.isascii()
    assert not set(encoded) & set(" #\"<>'\n\t")
