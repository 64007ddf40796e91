"""Surveys of seed lists of any length, of which only the survey is kept."""

import gzip
import pickle
import tracemalloc
from pathlib import Path

import pytest

from nacre.config.seed_file import seed_lines
from nacre.engine.seeding.survey import KEPT, survey
from nacre.scope.seeds import read_seeds


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


def kept(count: int) -> int:
    """Bytes of a survey of so many seeds, and of as many hosts."""
    seeds = (f"http://host{number}.example/" for number in range(count))
    found = survey(read_seeds(seeds))
    assert found.count == count
    return len(pickle.dumps(found))


def test_a_survey_of_a_longer_list_is_no_larger():
    small = kept(KEPT)
    assert 0 <= kept(4 * KEPT) - small < 100
    assert small > KEPT * len("http://host1.example/"), "what is kept counts"


@pytest.mark.slow
def test_a_survey_takes_no_more_memory_for_a_longer_list(tmp_path: Path):
    # 11 to 14 MB are caches of 16,384 hosts and their parts; so many hosts kept as text are 6 more.
    assert peak(tmp_path, 60_000) < 17 * 1_000_000
