"""Content codings: what is right, what is broken, and bombs."""

import gzip
import zlib

import brotli  # type: ignore[import-untyped]  # ships no types
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.coding import decode_content

TEXT = b"".join(b"<p>line %d of a page</p>\n" % n for n in range(2000))
LIMIT = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


CODERS = {
    b"gzip": gzip.compress,
    b"x-gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"Deflate": raw_deflate,
    b"br": brotli.compress,
    b"zstd": zstandard.compress,
    b"identity": bytes,
}


@pytest.mark.parametrize("name", CODERS)
def test_each_coding(name):
    assert decode_content(CODERS[name](TEXT), name, LIMIT) == (TEXT, True, ())


@given(
    st.binary(max_size=300) | st.binary(max_size=30).map(lambda b: b * 1000),
    st.lists(st.sampled_from(sorted(CODERS)), max_size=5),
    st.integers(1, 5000),
)
def test_stacked_codings_in_pieces(data, names, size):
    coded = data
    for name in names:
        coded = CODERS[name](coded)
    pieces = [coded[i : i + size] for i in range(0, len(coded), size)]
    assert decode_content(iter(pieces), names, LIMIT).data == data


@given(st.binary(max_size=500), st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"gzip,br"]))
def test_junk_never_raises(data, name):
    decoded = decode_content(data, name, 1000)
    assert len(decoded.data) <= 1000


@given(
    st.sampled_from([b"gzip", b"deflate", b"br", b"zstd"]),
    st.integers(0, 2**32),
    st.binary(min_size=1, max_size=4),
    st.integers(1, 5000),
)
def test_damage_never_raises_and_the_limit_holds(name, place, damage, limit):
    coded = bytearray(CODERS[name](TEXT))
    place %= len(coded)
    coded[place : place + len(damage)] = damage
    assert len(decode_content(bytes(coded), name, limit).data) <= limit


@pytest.mark.parametrize("name", [b"gzip", b"deflate", b"Deflate", b"br", b"zstd"])
def test_a_stream_cut_short_gives_what_came(name):
    block = bytes(n * n % 251 for n in range(400_000))  # several blocks, for zstd
    coded = CODERS[name](block)
    decoded = decode_content(coded[:-9], name, LIMIT)
    assert decoded.data
    assert block.startswith(decoded.data)
    assert not decoded.complete
    assert decoded.annotations == (f"contentEncodingCut:{name.decode().lower()}",)


@pytest.mark.parametrize("name", [b"gzip", b"deflate", b"Deflate", b"br", b"zstd"])
def test_junk_after_the_end_costs_nothing(name):
    decoded = decode_content(CODERS[name](TEXT) + b"junk after", name, LIMIT)
    label = name.decode().lower()
    assert decoded == (TEXT, True, (f"contentTrailingJunk:{label}",))


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_fault_in_the_middle_keeps_what_precedes_it(name):
    block = bytes(n * n * n % 247 for n in range(200_000)) + TEXT
    coded = CODERS[name.encode()](block)
    for place in range(len(coded) // 2, len(coded) - 200, len(coded) // 9):
        damaged = coded[:place] + bytes(range(255, 155, -1)) + coded[place + 100 :]
        decoded = decode_content(damaged, name.encode(), LIMIT)
        sound = decode_content(coded[:place], name.encode(), LIMIT).data
        assert decoded.data[: len(sound)] == sound == block[: len(sound)]
        assert decoded.complete or decoded.annotations[0].startswith("contentEncoding")


def test_a_fault_loses_nothing_that_precedes_it():
    coder = zlib.compressobj(wbits=31)
    coded = coder.compress(TEXT) + coder.flush(zlib.Z_SYNC_FLUSH)
    no_such_block = b"\x07"
    decoded = decode_content(coded + no_such_block * 9, b"gzip", LIMIT)
    assert decoded == (TEXT, False, ("contentEncodingBroken:gzip",))


@pytest.mark.parametrize("name", [b"gzip", b"deflate", b"zstd"])
def test_a_wrong_checksum_is_only_noted(name):
    if name == b"zstd":
        coded = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(TEXT))
        coded[-1] ^= 1
    else:
        at = -8 if name == b"gzip" else -4
        coded = bytearray(CODERS[name](TEXT))
        coded[at] ^= 1
    decoded = decode_content(bytes(coded), name, LIMIT)
    assert decoded == (TEXT, True, (f"contentChecksum:{name.decode()}",))


@pytest.mark.parametrize("piece", [1, 7, 100_000])
@pytest.mark.parametrize("name", [b"gzip", b"zstd"])
def test_several_members_and_padding(name, piece):
    coded = CODERS[name](b"one ") + CODERS[name](b"") + CODERS[name](TEXT)
    coded += b"\0" * 3 if name == b"gzip" else b""
    pieces = [coded[i : i + piece] for i in range(0, len(coded), piece)]
    assert decode_content(pieces, name, LIMIT) == (b"one " + TEXT, True, ())


def test_members_without_end_are_limited():
    coded = gzip.compress(b"x") * 20_000
    decoded = decode_content(coded, b"gzip", LIMIT)
    assert decoded.data == b"x" * 4096
    assert decoded.annotations == ("contentTrailingJunk:gzip",)
    assert decode_content(zstandard.compress(b"x") * 9000, b"zstd", LIMIT).data == b"x" * 4096


def test_a_member_at_the_edge_of_a_window():
    filler = zlib.compressobj(0, zlib.DEFLATED, 31)
    for extra in range(65536 - 60, 65536 + 3):
        first = gzip.compress(b"", 0)
        body = b"a" * (extra - 23 - len(first))
        filler = zlib.compressobj(0, zlib.DEFLATED, 31)
        coded = first + filler.compress(body) + filler.flush() + gzip.compress(b"end")
        assert decode_content(coded, b"gzip", LIMIT) == (body + b"end", True, ())


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize(
    "text", [b"<!DOCTYPE html><html><head>", b"x", TEXT, b'{"a": 1}', b"\xe4\xb8\xad"]
)
def test_plain_text_with_a_label_is_kept(name, text):
    decoded = decode_content(text, name.encode(), LIMIT)
    assert decoded.data == text
    if len(text) > 4:
        assert decoded == (text, True, (f"contentEncodingMismatch:{name}",))


def test_binary_with_a_label_is_kept():
    image = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    for name in (b"gzip", b"deflate", b"zstd"):
        assert decode_content(image, name, LIMIT).data == image


def test_unknown_codings():
    coded = gzip.compress(b"page")
    assert decode_content(coded, b"gzip, X-Odd", LIMIT) == (
        coded,
        True,
        ("unsatisfiableContentEncoding:x-odd",),
    )
    assert decode_content(coded, [b"x-odd", b"gzip"], LIMIT) == (
        b"page",
        True,
        ("unsatisfiableContentEncoding:x-odd",),
    )
    hostile = decode_content(b"page", b"a b\r\nc\x00\xff" + b"z" * 100, LIMIT)
    assert hostile.annotations == ("unsatisfiableContentEncoding:a_b__c__" + "z" * 32,)


def test_labelled_twice_but_coded_once():
    decoded = decode_content(gzip.compress(TEXT), b"gzip, gzip", LIMIT)
    assert decoded == (TEXT, True, ("contentEncodingMismatch:gzip",))


def test_too_many_codings_are_left():
    coded = b"page"
    for _ in range(6):
        coded = gzip.compress(coded)
    decoded = decode_content(coded, [b"gzip"] * 6, LIMIT)
    assert decoded == (coded, True, ("unsatisfiableContentEncoding:6-codings",))
    assert decode_content(coded[:], b"gzip," * 5 + b",identity", LIMIT).data == gzip.compress(
        b"page"
    )


@pytest.mark.parametrize("name", [b"gzip", b"br", b"zstd", b"deflate", b"", b"x-odd"])
def test_no_body_at_all(name):
    decoded = decode_content(b"", name, LIMIT)
    assert decoded == (b"", True, ())


@pytest.mark.parametrize("name", [b"gzip", b"deflate", b"Deflate", b"br", b"zstd", b"identity"])
def test_the_limit_is_exact(name):
    coded = CODERS[name](TEXT)
    assert decode_content(coded, name, len(TEXT)) == (TEXT, True, ())
    assert decode_content(coded, name, len(TEXT) - 1) == (TEXT[:-1], False, ())
    assert decode_content(coded, name, 0) == (b"", False, ())


@pytest.mark.parametrize("name", [b"gzip", b"deflate", b"br", b"zstd"])
def test_a_bomb_is_cut(name):
    zeros = b"\0" * 50_000_000
    bomb = brotli.compress(zeros, quality=1) if name == b"br" else CODERS[name](zeros)
    decoded = decode_content(bomb, name, 100_000)
    assert decoded == (b"\0" * 100_000, False, ())


def test_a_bomb_in_layers_is_cut():
    bomb = b"\0" * 30_000_000
    for _ in range(5):
        bomb = gzip.compress(bomb)
    decoded = decode_content(bomb, b"gzip, gzip, gzip, gzip, gzip", 100_000)
    assert decoded == (b"\0" * 100_000, False, ())


def test_a_zstd_window_that_needs_too_much_memory_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    coded = compressor.compress(TEXT) + compressor.flush()
    decoded = decode_content(coded, b"zstd", LIMIT)
    assert decoded == (coded, False, ("contentEncodingBroken:zstd",))


def test_no_more_is_taken_than_needed():
    taken = []

    def pieces():
        for number in range(1000):
            taken.append(number)
            yield b"x" * 1000

    assert decode_content(pieces(), b"", 2500) == (b"x" * 2500, False, ())
    assert len(taken) == 3
