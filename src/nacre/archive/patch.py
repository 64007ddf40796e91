"""A block as what differs from an earlier one: a zstd frame with that one as its dictionary (pure).

This is what `zstd --patch-from` makes; one call holds both blocks in memory. Source: RFC 8878.
"""

import zstandard
from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressionParameters

LONGEST = 64 << 20
"""Longest block that is rebuilt, bytes, whatever a record says."""

_LEVEL = 9
_LONG = 1 << 17
_LEAST_WINDOW = 10


class PatchError(ValueError):
    """A difference that cannot be applied."""


def make_patch(base: bytes, block: bytes) -> bytes:
    """What turns `base` into `block`, as one frame with its length and a checksum.

    Args:
        base: The earlier block; b"" is allowed.
        block: The later one, at most `LONGEST` bytes.
    """
    size = len(base) + len(block)
    params = ZstdCompressionParameters.from_level(
        _LEVEL,
        source_size=len(block),
        dict_size=len(base),
        write_content_size=1,
        write_checksum=1,
        window_log=max(_LEAST_WINDOW, size.bit_length()),
        enable_ldm=size > _LONG,
    )
    compressor = zstandard.ZstdCompressor(dict_data=_dictionary(base), compression_params=params)
    return compressor.compress(block)


def apply_patch(base: bytes, patch: bytes, length: int) -> bytes:
    """The block that a difference was made of. Memory is bounded by `length`.

    Args:
        base: The earlier block.
        patch: The difference.
        length: Bytes that the block must have.

    Raises:
        PatchError: It is no such difference, gives another length, or is damaged.
    """
    if not 0 <= length <= LONGEST:
        raise PatchError(f"a block of {length} bytes; at most {LONGEST} are rebuilt")
    try:
        told = zstandard.get_frame_parameters(patch).content_size
        if told != length:  # the library would allocate what the frame asks for
            raise PatchError(f"the difference gives {told} bytes, not {length}")
        decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary(base))
        block = decompressor.decompress(patch, max_output_size=length, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError) as error:
        raise PatchError(f"the difference cannot be applied: {error}") from error
    if len(block) != length:
        raise PatchError(f"the difference gives {len(block)} bytes, not {length}")
    return block


def _dictionary(base: bytes) -> ZstdCompressionDict | None:
    return ZstdCompressionDict(base, dict_type=DICT_TYPE_RAWCONTENT) if base else None
