import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.patch import LONGEST, PatchError, apply_patch, make_patch


@given(st.binary(), st.binary())
def test_any_two_blocks_make_the_round_trip(base: bytes, block: bytes):
    assert apply_patch(base, make_patch(base, block), len(block)) == block


@given(st.binary(min_size=1, max_size=300), st.integers(0, 300), st.binary(max_size=20))
def test_an_edit_makes_the_round_trip(base: bytes, at: int, by: bytes):
    block = base[:at] + by + base[at + 7 :]
    assert apply_patch(base, make_patch(base, block), len(block)) == block


def test_an_edit_of_a_long_page_costs_little():
    base = b"".join(b"line %d says %d\n" % (n, n * n * 7919 % 10007) for n in range(40_000))
    block = base[:300_000] + b"something else" + base[300_100:]
    patch = make_patch(base, block)
    assert len(patch) < 200
    assert apply_patch(base, patch, len(block)) == block


@given(st.binary(max_size=200))
def test_what_is_no_difference_is_refused(patch: bytes):
    with pytest.raises(PatchError):
        apply_patch(b"base", patch, 10)


def test_another_base_gives_no_wrong_block():
    base = bytes(range(256)) * 4
    patch = make_patch(base, base + b"more")
    with pytest.raises(PatchError):
        apply_patch(base[::-1], patch, len(base) + 4)


@pytest.mark.parametrize("told", [0, 3, 5, LONGEST + 1, -1])
def test_another_length_is_refused(told: int):
    with pytest.raises(PatchError):
        apply_patch(b"", make_patch(b"", b"four"), told)


def test_a_bomb_is_refused_before_it_is_unpacked():
    bomb = zstandard.ZstdCompressor(write_content_size=True).compress(bytes(1 << 22))
    with pytest.raises(PatchError, match="gives 4194304 bytes, not 100"):
        apply_patch(b"base", bomb, 100)


def test_a_frame_that_hides_its_length_is_refused():
    bomb = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    with pytest.raises(PatchError):
        apply_patch(b"base", bomb, 100)


def test_bytes_behind_the_frame_are_refused():
    patch = make_patch(b"base", b"block")
    with pytest.raises(PatchError):
        apply_patch(b"base", patch + patch, 5)
