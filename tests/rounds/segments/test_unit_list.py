"""The list of a unit as it is read from its files."""

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.crawldb.hosts import host_schema
from nacre.errors import DamageError
from nacre.frontier.policy import Backoff
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.segments.unit_list import ParquetList
from nacre.rounds.storage.local import LocalStorage
from tests.rounds.lists import SEGMENT, row, write_list


def test_a_host_has_the_origins_of_its_urls_and_what_was_learned_of_it(tmp_path: Path):
    storage = LocalStorage(tmp_path)
    urls = ["http://a.test/", "https://a.test/x", "https://a.test/y", "http://b.test:81/"]
    write_list(storage, "u0001", [row(url) for url in urls])
    place = UnitPlace(storage, SEGMENT, "u0001")
    assert ParquetList(place).known_hosts() == ()
    rows = [{"host": "a.test", "backoff": 2.0, "latency": 30.0}, {"host": "b.test"}]
    written = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, host_schema()), written)
    storage.put(place.hosts, written.getvalue())
    slow, other = ParquetList(place).known_hosts()
    assert (slow.backoff, other.backoff) == (Backoff(2.0, 30.0), Backoff())
    assert sorted(slow.origins) == ["http://a.test", "https://a.test"]
    assert sorted(other.origins) == ["http://b.test:81"]


@pytest.mark.parametrize("size", [0, 3, 200])
def test_a_damaged_list_is_named_with_what_helps(tmp_path: Path, size: int):
    storage = LocalStorage(tmp_path)
    write_list(storage, "u0001", [row("http://a.test/")])
    place = UnitPlace(storage, SEGMENT, "u0001")
    file = tmp_path / place.list
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(DamageError, match=r"u0001\.parquet is damaged: .*segments drop"):
        ParquetList(place)
