"""A catalogue whose builder is killed is resumed, and loses nothing."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.catalogue.build import read_state, update_catalogue
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.query import CatalogueQuery, count_facets, iterate_items
from tests.catalogue.given_job import add_index, line

pytestmark = pytest.mark.kill
ROWS, KILLS = 6000, 8
_BUILD = """
import sys
from nacre.catalogue import build
build.BATCH = 250
real = build._Builder._store
def store(self, *arguments):
    row = real(self, *arguments)
    print(row.position, flush=True)
    return row
build._Builder._store = store
build.main()
"""


def test_a_killed_builder_is_resumed(tmp_path: Path):
    for name in ("a", "b"):
        warc = f"{name}.warc.gz"
        lines = [line(f"http://h.test/{name}/{n}", offset=n, warc=warc) for n in range(ROWS // 2)]
        add_index(tmp_path, lines, warc=warc)
    chance = random.Random(7)
    holding = open_holding([tmp_path])
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", _BUILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(chance.randint(1, 4)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        state = read_state(tmp_path / "state")
        assert state.captures <= ROWS
        counts = count_facets(holding, CatalogueQuery())
        items = list(iterate_items(holding, CatalogueQuery(order="oldest")))
        assert counts.total == len(items) == len({item.capture.id for item in items})
    assert update_catalogue(holding.members[0]).captures == ROWS
    items = list(iterate_items(holding, CatalogueQuery(order="url")))
    assert len({item.capture.id for item in items}) == ROWS
