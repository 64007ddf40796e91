"""Seed lists of any length: streamed, plain or compressed, surveyed without being kept."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.job.seeding.seedfile import seed_lines
from nacre.job.seeding.seeds import read_seeds
from nacre.job.seeding.seedsurvey import KEPT, survey


def test_lines_of_the_settings_of_a_file_and_of_a_compressed_one(tmp_path: Path):
    lines = ["http://a.test/", "# ü", "http://b.test/"]
    (tmp_path / "seeds.txt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "seeds.gz").write_bytes(gzip.compress("\r\n".join(lines).encode()))
    assert list(seed_lines("seeds.txt", tmp_path)) == lines
    assert list(seed_lines("seeds.gz", tmp_path)) == lines
    assert list(seed_lines(str(tmp_path / "seeds.gz"), Path("/"))) == lines
    assert list(seed_lines(("http://a.test/",), tmp_path)) == ["http://a.test/"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("seeds.txt", None, "No such file"),
        ("/dev/zero", None, "no regular file"),
        ("", None, "but a directory"),
        ("seeds.gz", b"http://a.test/\n", "damaged"),
        ("seeds.gz", gzip.compress(b"http://a.test/\n", mtime=0)[:-9], "damaged"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, said: str):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        list(seed_lines(name, tmp_path))


def peak(root: Path, count: int) -> int:
    """Peak of memory, bytes, while a list of so many seeds is surveyed."""
    with gzip.open(root / "seeds.gz", "wt", 1) as file:
        file.writelines(f"http://host{number}.example/\n" for number in range(count))
        file.write("+http://(test,\nhttp://\nhttp://10.0.0.1/\nhttp://x.test/\n")
    tracemalloc.start()
    found = survey(read_seeds(seed_lines("seeds.gz", root)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.count, found.bad_count) == (count + 2, 1)
    assert (len(found.first), len(found.public)) == (KEPT, KEPT)
    assert found.directives == ["+http://(test,"]
    assert list(found.addresses) == ["10.0.0.1"]
    assert list(found.names)[-1] == "x.test"
    return most


def test_a_survey_takes_no_more_memory_for_a_longer_list(tmp_path: Path):
    # 11 to 14 MB are caches of 16,384 hosts and their parts; so many hosts kept as text are 6 more.
    assert peak(tmp_path, 60_000) < 17 * 1_000_000
