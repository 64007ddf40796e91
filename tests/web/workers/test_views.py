from pathlib import Path

import pytest

from nacre.inspect.stored_job import reading_store
from nacre.machine.layout import Layout
from nacre.web.workers.views import (
    FRESH,
    SHARE,
    STALE,
    folder_stamp,
    fresh_for,
    stamp_text,
    store_stamp,
    usable_for,
)
from tests.console.waiting import add_waiting_job


@pytest.mark.parametrize(
    ("cost", "fresh", "usable"),
    [(0.0, FRESH, STALE), (0.1, SHARE * 0.1, STALE), (1.0, SHARE, 2 * SHARE)],
)
def test_a_view_that_is_slow_to_open_is_opened_more_seldom(cost, fresh, usable):
    assert fresh_for(cost) == pytest.approx(fresh)
    assert usable_for(cost) == pytest.approx(usable)


def test_a_stamp_changes_with_what_is_stored_and_not_with_an_opening(tmp_path: Path):
    layout = Layout(add_waiting_job(tmp_path))
    before = store_stamp(layout)
    with reading_store(layout):
        pass
    assert store_stamp(layout) == before != frozenset()
    (layout.store / "000099.log").write_bytes(b"more")
    after = store_stamp(layout)
    assert after != before
    assert stamp_text([after]) != stamp_text([before]) == stamp_text([frozenset(before)])
    assert folder_stamp(tmp_path / "none") == frozenset()
