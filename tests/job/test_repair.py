"""What is forgotten of captures whose WARC is lost."""

import asyncio
from unittest.mock import AsyncMock, Mock

import msgspec
import pytest

from nacre.core.history import Base, HistoryRecord, Original
from nacre.history.dedup import Digests, History
from nacre.job import repair
from nacre.job.repair import MissingWarc
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

LOST, KEPT = 1, 2


def test_a_difference_is_lost_with_its_base_though_another_page_has_its_payload(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(repair, "drop_index", AsyncMock())
    store = Store(MemoryEngine())
    digests = Digests(store)
    for name, base_file in (("a", LOST), ("b", KEPT)):
        url, base = f"http://{name}.test/", f"base-{name}"
        digests.put(f"sha1:{base}", "", Original(url, 1, base, base_file, 0))
        # Of the same payload: the second row takes the place of the first.
        digests.put("sha1:SAME", "", Original(url, 2, f"delta-{name}", KEPT, 9, base=base))
        told = Base(base, 1, f"sha1:{base}")
        row = HistoryRecord(url, 200, 2, 2, "sha1:SAME", "", f"delta-{name}", base=told)
        History(store).put(row)
    history = History(store)
    missing = [MissingWarc(LOST, "archive/x.warc.gz", 0)]
    store.put("meta", b"accepted-loss", msgspec.msgpack.encode(missing))
    commit = Mock(flush=AsyncMock())
    parts = Mock(store=store, archive=Mock(history=history), commit=commit)

    asyncio.run(repair.requeue_lost(parts, Mock()))

    lost, kept = history.get("http://a.test/"), history.get("http://b.test/")
    assert lost is not None
    assert kept is not None
    assert (lost.date, lost.record_id, lost.base) == (0, "", None)
    assert (kept.date, kept.record_id) == (2, "delta-b")
