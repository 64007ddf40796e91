import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.image_size import read_image_size

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (640, 480)),
        (PNG[:20], None),
        (b"GIF89a\x80\x02\xe0\x01\xf7", (640, 480)),
        (b"GIF87a\0\0\xe0\x01", None),
        (JPEG, (640, 480)),
        (JPEG[:12], None),
        (b"\xff\xd8\xff" + b"\xe0\0\0" * 9, None),
        (b"\xff\xd8\xff" + b"\xff" * 5000, None),
        (b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0", (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01", (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\x00", (640, 480)),
        (b"RIFF\0\0\0\0WEBP", None),
        (b"<svg width='640'>", None),
        (b"", None),
    ],
)
def test_sizes(data, size):
    assert read_image_size(data) == size


@given(st.sampled_from([PNG, JPEG, b"RIFF\0\0\0\0WEBPVP8X", b"GIF89a"]), st.binary(max_size=40))
def test_damage_is_no_error(start, data):
    for damaged in (start[: len(start) // 2] + data, start + data):
        assert min(read_image_size(damaged) or (1, 1)) > 0
