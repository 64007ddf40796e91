import pytest

from nacre.config.component import parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("5", 5),
        ("1 kB", 1000),
        ("1KiB", 1024),
        ("500 MB", 500_000_000),
        ("1.5g", 1_500_000_000),
        (7, 7),
    ],
)
def test_sizes(text: object, size: int):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("250ms", 0.25), ("10m", 600), ("1 h", 3600), ("7d", 604800), (2.5, 2.5)],
)
def test_durations(text: object, seconds: float):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "lots", "1 parsec", "-1", "1 2"])
def test_what_is_neither(text: str):
    with pytest.raises(ValueError, match="not a size"):
        parse_size(text)
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
