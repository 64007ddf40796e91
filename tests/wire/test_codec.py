"""The decoders themselves: bounded pieces, members, and how they tell that they ended."""

import gzip
import zlib

import brotli  # type: ignore[import-untyped]  # ships no types
import pytest
import zstandard

from nacre.wire.codec import (
    FAULTS,
    Brotli,
    Zstd,
    gunzip,
    inflate_raw,
    inflate_zlib,
    is_zlib,
    is_zstd,
)

ZEROS = b"\0" * 1_000_000
CASES = [
    (gunzip, gzip.compress(ZEROS)),
    (inflate_zlib, zlib.compress(ZEROS)),
    (inflate_raw, zlib.compress(ZEROS)[2:-4]),
    (Brotli, brotli.compress(ZEROS, quality=1)),
    (Zstd, zstandard.compress(ZEROS)),
]


@pytest.mark.parametrize(("maker", "coded"), CASES)
def test_byte_by_byte(maker, coded):
    codec = maker()
    out = b"".join(codec.feed(coded[i : i + 1], 2_000_000) for i in range(len(coded)))
    assert out == ZEROS
    assert codec.finished
    assert not codec.junk
    codec.feed(b"junk", 100)
    assert codec.junk


@pytest.mark.parametrize(("maker", "coded"), CASES[:3])
def test_a_piece_yields_no_more_than_asked(maker, coded):
    assert len(maker().feed(coded, 1000)) == 1000


@pytest.mark.parametrize(("maker", "coded"), CASES[3:])
def test_a_window_yields_a_bounded_amount(maker, coded):
    codec = maker()
    assert 1000 <= len(codec.feed(coded[: codec.window], 1000)) <= 8 << 20


@pytest.mark.parametrize("maker", [gunzip, inflate_zlib, inflate_raw, Zstd])
def test_faults_are_the_declared_ones(maker):
    with pytest.raises(FAULTS):
        maker().feed(b"\x07no such thing at all", 1000)


def test_marks():
    assert is_zlib(zlib.compress(b""))
    assert is_zlib(zlib.compress(b"x", 9))
    assert not is_zlib(b"x")
    assert not is_zlib(b"<html>")
    assert is_zstd(zstandard.compress(b""))
    assert is_zstd(b"\x5a\x2a\x4d\x18rest")
    assert not is_zstd(b"\x2a\x4d\x18")
    assert not is_zstd(b"")


def test_a_skippable_frame_is_skipped():
    skippable = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    codec = Zstd()
    assert codec.feed(skippable + zstandard.compress(b"page"), 100) == b"page"
    assert codec.finished
