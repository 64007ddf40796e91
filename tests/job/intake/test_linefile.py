import gzip
from pathlib import Path

import pytest

from nacre.job.intake.intake import LONGEST
from nacre.job.intake.linefile import DamagedError, LineFile

DATA = b"one\n\xff\xfe\n" + b"x" * (LONGEST * 2 + 7) + b"\nfour\nlast without end"


@pytest.mark.parametrize("packed", [False, True])
def test_read_in_portions_from_any_place_on(tmp_path: Path, packed: bool):
    path = tmp_path / ("lines.gz" if packed else "lines")
    path.write_bytes(gzip.compress(DATA) if packed else DATA)
    found, position, number = [], 0, 0
    while True:
        with LineFile(path, position, number) as file:
            file.go()
            lines = file.portion(2)
            position, number = file.position, file.number
        if not lines:
            break
        found += lines
    assert found == [(1, "one\n"), (2, None), (3, None), (4, "four\n"), (5, "last without end")]
    assert position == len(DATA)


def test_what_can_be_read_of_a_damaged_file_is_read(tmp_path: Path):
    path = tmp_path / "lines.gz"
    packed = gzip.compress(b"".join(b"line %d\n" % n for n in range(20_000)))
    path.write_bytes(packed[: len(packed) // 2])
    with LineFile(path) as file:
        file.go()
        with pytest.raises(DamagedError):
            _exhaust(file)
        assert 1000 < file.number < 20_000


def _exhaust(file: LineFile) -> None:
    while file.portion(300):
        pass
